//! The commands by which the program starts itself as a worker and its helpers.

use std::path::Path;
use std::process::ExitCode;

use allocert_campaign::Failure;

pub(crate) fn native_worker(socket: &Path) -> Result<ExitCode, Failure> {
    done(allocert_native::worker(socket))
}

pub(crate) fn ipc_peer(arguments: &[String]) -> Result<ExitCode, Failure> {
    done(allocert_native::peer(arguments))
}

pub(crate) fn driver_facts() -> Result<ExitCode, Failure> {
    done(allocert_native::driver_facts())
}

fn done(result: Result<(), allocert_native::WorkerError>) -> Result<ExitCode, Failure> {
    result.map(|()| ExitCode::SUCCESS).map_err(Failure::harness)
}
