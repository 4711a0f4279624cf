//! Subjects that start threads or initialize the driver while they are loaded.
//!
//! A fork has only the thread that forks, and cannot use a driver that its parent initialized. So
//! such a subject cannot be loaded before the fork. A library cannot be unloaded either. The server
//! therefore executes its program anew, keeps the socket, and has each child load the subject.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use crate::error::WorkerError;
use crate::protocol::Load;

/// What a server that executes its program anew tells itself.
const RESUMES: &str = "ALLOCERT_WORKER_RESUMES";

/// A server that goes on where it was.
#[derive(Debug, Serialize, Deserialize)]
struct Resumed {
    socket: i32,
    load: Load,
}

/// The threads of this process; none where the system does not say.
pub(crate) fn threads() -> BTreeSet<OsString> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect()
}

/// Executes the program anew. Returns only if that fails.
pub(crate) fn execute_anew(socket: &UnixStream, load: Load) -> WorkerError {
    if let Err(errno) = fcntl_setfd(socket, FdFlags::empty()) {
        return WorkerError::os("keep the socket")(errno);
    }
    let resumed = Resumed { socket: socket.as_raw_fd(), load };
    let resumed = match serde_json::to_string(&resumed) {
        Ok(text) => text,
        Err(source) => return WorkerError::Line { source },
    };
    let mut arguments = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    command.arg0(arguments.next().unwrap_or_default()).args(arguments).env(RESUMES, resumed);
    WorkerError::io("execute the worker anew")(command.exec())
}

/// The socket and the subject of a server that was executed anew. To be called before the process
/// has a second thread.
pub(crate) fn resumed() -> Result<Option<(UnixStream, Load)>, WorkerError> {
    let Some(text) = std::env::var_os(RESUMES) else { return Ok(None) };
    // SAFETY: no other thread runs that could read the environment.
    unsafe { std::env::remove_var(RESUMES) };
    let text = text.into_string().map_err(|_| {
        WorkerError::io("go on after it was executed anew")(io::ErrorKind::InvalidData.into())
    })?;
    let Resumed { socket, load } =
        serde_json::from_str(&text).map_err(|source| WorkerError::Line { source })?;
    // SAFETY: the descriptor that this process kept when it executed its program anew. Nothing else
    // owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    fcntl_setfd(&socket, FdFlags::CLOEXEC).map_err(WorkerError::os("take the socket over"))?;
    Ok(Some((UnixStream::from(socket), load)))
}
