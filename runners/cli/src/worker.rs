//! The processes that `allocert run` starts of its own program.

use std::path::Path;
use std::process::ExitCode;

use allocert_suite::exit::Exit;

use crate::failure::Failure;

pub(crate) fn native(socket: &Path) -> Result<ExitCode, Failure> {
    done(allocert_native::worker(socket))
}

pub(crate) fn peer(arguments: &[String]) -> Result<ExitCode, Failure> {
    done(allocert_native::peer(arguments))
}

pub(crate) fn facts() -> Result<ExitCode, Failure> {
    done(allocert_native::driver_facts())
}

fn done(result: Result<(), allocert_native::WorkerError>) -> Result<ExitCode, Failure> {
    result.map(|()| ExitCode::SUCCESS).map_err(|error| Failure::new(Exit::Harness, error))
}
