//! The interface `place`: an allocator of memory by place, behind the C table of
//! `allocert_place.h` or behind two functions of another ABI.
//!
//! [`table`] finds the table and describes it, [`functions`] finds the functions, [`calls`] makes
//! the calls of both, [`case`] performs each operation, [`block_source`] takes and gives back the
//! blocks of the operations `churn` and `stress`, [`unrecorded`] those of `interleave`, and
//! [`memory`] writes and reads blocks, wherever they lie.

mod block_source;
mod calls;
mod case;
mod exported;
mod functions;
mod memory;
mod table;
mod unrecorded;

use std::path::Path;

use allocert_cuda::Driver;
use allocert_suite::interface::place::{FunctionAbi, FunctionNames};
use serde_json::Map;

use crate::checked_memory;
use crate::library;
use crate::protocol::{Refused, SubjectInfo};
use crate::recorder::Recorder;
use crate::subject::{CaseRun, Subject};
use case::PlaceCase;
use exported::Exported;
use functions::Functions;
use table::Table;

/// Loads `reference:pool`, `PATH.so[:symbol]`, or functions: `reference:torch(MALLOC,FREE)`,
/// `PATH.so:torch(MALLOC,FREE)`.
pub(crate) fn load(subject: &str) -> Result<Exported, Refused> {
    if subject == "reference:pool" {
        return Table::reference().map(Exported::Table);
    }
    let (path, symbol) = library::split(subject, table::symbol());
    match symbol.parse::<FunctionNames>() {
        Ok(names) if path == Path::new("reference") => {
            Functions::reference(names).map(Exported::Functions)
        }
        Ok(names) => Functions::open(library::locate(&path)?, names).map(Exported::Functions),
        Err(_) => Table::open(library::locate(&path)?, symbol).map(Exported::Table),
    }
}

impl Subject for Exported {
    fn info(&self) -> SubjectInfo {
        match self {
            Self::Table(table) => {
                let allocator = table.allocator();
                SubjectInfo {
                    name: checked_memory::text(allocator.name.addr()),
                    version: checked_memory::text(allocator.version.addr()),
                    file: table.file(),
                    interface_version: allocator.interface_version,
                    host: Map::new(),
                }
            }
            Self::Functions(functions) => SubjectInfo {
                name: Some(functions.names().to_string()),
                version: None,
                file: functions.file(),
                interface_version: 0,
                host: Map::new(),
            },
        }
    }

    fn capabilities(&self) -> Vec<&'static str> {
        match self {
            Self::Table(table) if table.allocator().release.is_none() => {
                vec!["native", "table", "used"]
            }
            Self::Table(_) => vec!["native", "table", "used", "release"],
            Self::Functions(functions) => match functions.names().abi {
                FunctionAbi::Torch => vec!["native", "device_memory", "streams"],
                FunctionAbi::Cupy => vec!["native", "device_memory"],
                FunctionAbi::Malloc => vec!["native", "host_memory"],
            },
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
