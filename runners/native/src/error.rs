use std::io;

/// Why a worker or a peer could not do its work. Nothing here speaks about the subject.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("worker: {what}: {source}")]
    Io { what: &'static str, source: io::Error },
    #[error("worker: the harness sent a line that is not of protocol version 1: {source}")]
    Line { source: serde_json::Error },
    #[error(
        "worker: libcuda.so.1 cannot be opened ({source}); the harness must put the recording \
         driver's folder first in LD_LIBRARY_PATH"
    )]
    Driver { source: libloading::Error },
    #[error(
        "worker: the libcuda.so.1 that was found has no `{symbol}`, so it is not the recording \
         driver; the harness must put the recording driver's folder first in LD_LIBRARY_PATH"
    )]
    NotRecording { symbol: &'static str },
    #[error("worker: the recording driver does not take the case's settings: it answered {code}")]
    Restart { code: i32 },
    #[error("the driver does not begin: {source}")]
    Begin { source: allocert_cuda::DriverError },
    #[error("ipc-peer: {0}")]
    Peer(String),
}

impl WorkerError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    pub(crate) fn os(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::Io { what, source: errno.into() }
    }
}
