//! The interface `place`: an allocator of memory by place, behind the C table of
//! `allocert_place.h`.
//!
//! [`table`] finds the table and describes it, [`calls`] makes its calls, [`case`] performs each
//! operation, and [`memory`] writes and reads blocks, wherever they lie.

mod calls;
mod case;
mod memory;
mod table;

use allocert_cuda::Driver;
use serde_json::Map;

use crate::checked_memory;
use crate::library;
use crate::protocol::{Refused, SubjectInfo};
use crate::recorder::Recorder;
use crate::subject::{CaseRun, Subject};
use case::PlaceCase;
use table::Table;

/// Loads `reference:pool` or `PATH.so[:symbol]`.
pub(crate) fn load(subject: &str) -> Result<Table, Refused> {
    if subject == "reference:pool" {
        return Table::reference();
    }
    let (path, symbol) = library::split(subject, table::symbol());
    Table::open(library::locate(&path)?, symbol)
}

impl Subject for Table {
    fn info(&self) -> SubjectInfo {
        let allocator = self.allocator();
        SubjectInfo {
            name: checked_memory::text(allocator.name.addr()),
            version: checked_memory::text(allocator.version.addr()),
            file: self.file(),
            interface_version: allocator.interface_version,
            host: Map::new(),
        }
    }

    fn capabilities(&self) -> Vec<&'static str> {
        match self.allocator().release {
            None => vec!["native", "table"],
            Some(_) => vec!["native", "table", "release"],
        }
    }

    fn begin<'a>(
        &'a self,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Box<dyn CaseRun + 'a> {
        Box::new(PlaceCase::new(self, recorder, driver))
    }
}
