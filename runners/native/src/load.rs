//! From the words on the command line to a loaded subject.

use std::path::{Path, PathBuf};

use allocert_emm::Kind;

use crate::builtin::Builtin;
use crate::protocol::Refused;
use crate::subject::Subject;
use crate::table::Table;

const SYMBOL: &str = "allocert_emm_plugin_v1";

/// Loads `reference[:pool|deferred|host-only]` or `PATH.so[:symbol]`.
pub(crate) fn load(interface: &str, subject: &str) -> Result<Box<dyn Subject>, Refused> {
    if interface != "emm" {
        let message = format!("the native worker knows the interface emm, not {interface}");
        return Err(refused("host", message, ""));
    }
    match subject.strip_prefix("reference") {
        Some("") => Ok(Box::new(Builtin::new(Kind::Pool))),
        Some(":pool") => Ok(Box::new(Builtin::new(Kind::Pool))),
        Some(":deferred") => Ok(Box::new(Builtin::new(Kind::Deferred))),
        Some(":host-only") => Ok(Box::new(Builtin::new(Kind::HostOnly))),
        Some(kind) if kind.starts_with(':') => {
            let message = format!(
                "no reference manager `{}`; there are pool, deferred and host-only",
                &kind[1..]
            );
            Err(refused("symbol", message, ""))
        }
        _ => library(subject),
    }
}

fn library(subject: &str) -> Result<Box<dyn Subject>, Refused> {
    let (path, symbol) = split(subject);
    let path = path.canonicalize().map_err(|error| {
        refused("open", format!("{}: cannot be opened", path.display()), error.to_string())
    })?;
    Ok(Box::new(Table::open(path, symbol)?))
}

/// The part behind the last colon is a symbol, unless the whole is a file.
fn split(subject: &str) -> (PathBuf, &str) {
    match subject.rsplit_once(':') {
        Some((path, symbol)) if !Path::new(subject).exists() => (path.into(), symbol),
        _ => (subject.into(), SYMBOL),
    }
}

pub(crate) fn refused(stage: &'static str, message: String, detail: impl Into<String>) -> Refused {
    Refused { stage, message, detail: detail.into() }
}
