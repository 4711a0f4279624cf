//! The interface `nep49`: a NumPy data-allocation handler behind a symbol of a library, called
//! without NumPy and Python.
//!
//! [`handler`] finds the structure and calls its functions, [`case`] performs each operation, and
//! [`block_source`] takes and gives back the blocks of the operations `churn` and `stress`.
//! [`guessed_size`] frees blocks with wrong sizes, [`resized_rounds`] resizes blocks over and over,
//! and [`handed_rounds`] has another thread free them, all by [`rounds`]; [`memory_of_rounds`]
//! measures what they keep.
//! [`counted_rounds`] asks for many gigabytes, one block after another, and [`zeroed_rounds`] for
//! blocks of calloc(). [`leak_rounds`] goes on as long as the process grows, and
//! [`many_rounds`] makes more rounds than the record takes. [`sparse_block`] takes a block of many
//! gigabytes that has no pages.
//! [`symbol`] tells a symbol that is no structure.

mod block_source;
mod case;
mod counted_rounds;
mod guessed_size;
mod handed_rounds;
mod handler;
mod leak_rounds;
mod many_rounds;
mod memory_of_rounds;
mod resized_rounds;
mod rounds;
mod sparse_block;
mod symbol;
mod thread_rounds;
mod zeroed_rounds;

use allocert_cuda::Driver;
use serde_json::Map;

use crate::library;
use crate::protocol::{Refused, SubjectInfo};
use crate::recorder::Recorder;
use crate::subject::{CaseRun, Subject};
use case::HandlerCase;
use handler::LoadedHandler;

/// The symbol of a library that exports one handler.
const SYMBOL: &str = "allocert_nep49_handler";

/// Loads `reference:aligned` or `PATH.so[:symbol]`.
pub(crate) fn load(subject: &str) -> Result<LoadedHandler, Refused> {
    if subject == "reference:aligned" {
        return Ok(LoadedHandler::reference(&allocert_nep49::HANDLER.0));
    }
    let (path, symbol) = library::split(subject, SYMBOL);
    LoadedHandler::open(library::locate(&path)?, symbol)
}

impl Subject for LoadedHandler {
    fn info(&self) -> SubjectInfo {
        SubjectInfo {
            name: self.name(),
            version: None,
            file: self.file(),
            interface_version: self.version().into(),
            host: Map::new(),
        }
    }

    fn capabilities(&self) -> Vec<&'static str> {
        vec!["native"]
    }

    fn begin<'a>(
        &'a self,
        recorder: &'a Recorder,
        _driver: Option<Driver>,
    ) -> Box<dyn CaseRun + 'a> {
        Box::new(HandlerCase::new(self, recorder))
    }
}
