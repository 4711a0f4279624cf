//! The interface `emm`: memory managers behind a C table, and the built-in references.
//!
//! [`perform`] does each operation of a case; its methods stand in one file a noun. [`subject`] is
//! what a manager can be asked, answered by a C [`table`], whose calls [`table_guard`] checks, or
//! by a [`reference`] manager.

mod bindings;
mod case;
mod churn_and_stress;
mod ipc;
mod managers;
mod memory;
mod perform;
mod reference;
mod subject;
mod table;
mod table_call;
mod table_guard;
mod table_manager;

use allocert_cuda::Driver;
use allocert_emm::Kind;

use crate::library;
use crate::protocol::{Refused, SubjectInfo};
use crate::recorder::Recorder;
use crate::subject::{CaseRun, Subject};
use case::EmmCase;
use reference::Reference;
use subject::EmmSubject;
use table::Table;

const SYMBOL: &str = "allocert_emm_plugin_v1";

/// Loads `reference[:pool|deferred|host-only]` or `PATH.so[:symbol]`.
pub(crate) fn load(subject: &str) -> Result<LoadedEmm, Refused> {
    match subject.strip_prefix("reference") {
        Some("") => Ok(LoadedEmm(Box::new(Reference::new(Kind::Pool)))),
        Some(":pool") => Ok(LoadedEmm(Box::new(Reference::new(Kind::Pool)))),
        Some(":deferred") => Ok(LoadedEmm(Box::new(Reference::new(Kind::Deferred)))),
        Some(":host-only") => Ok(LoadedEmm(Box::new(Reference::new(Kind::HostOnly)))),
        Some(kind) if kind.starts_with(':') => {
            let message = format!(
                "no reference manager `{}`; there are pool, deferred and host-only",
                &kind[1..]
            );
            Err(Refused::new("symbol", message, ""))
        }
        _ => table(subject),
    }
}

fn table(subject: &str) -> Result<LoadedEmm, Refused> {
    let (path, symbol) = library::split(subject, SYMBOL);
    Ok(LoadedEmm(Box::new(Table::open(library::locate(&path)?, symbol)?)))
}

/// A loaded subject of this interface.
pub(crate) struct LoadedEmm(Box<dyn EmmSubject>);

impl Subject for LoadedEmm {
    fn info(&self) -> SubjectInfo {
        self.0.info()
    }

    fn capabilities(&self) -> Vec<&'static str> {
        self.0.capabilities()
    }

    fn begin<'a>(
        &'a self,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Box<dyn CaseRun + 'a> {
        Box::new(EmmCase::new(&*self.0, recorder, driver))
    }
}
