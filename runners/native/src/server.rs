//! The process that the harness starts: loads the subject once and forks a child for each batch.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use allocert_cuda::Driver;
use rustix::fd::OwnedFd;
use rustix::process::{
    Resource, Rlimit, Signal, getpid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setrlimit,
};

use crate::checked_memory;
use crate::error::WorkerError;
use crate::forked_batch;
use crate::interface::load;
use crate::protocol::{Line, Load, Loaded, Refused, Request};
use crate::recorder::Recorder;
use crate::reload;
use crate::worker_state::WorkerState;

/// One above the highest descriptor that a socket may be moved to.
const HIGHEST_DESCRIPTOR: u64 = 16_384;

/// Serves one harness.
struct Server(WorkerState);

/// Serves the harness that listens on `socket` until it says `quit` or goes away.
///
/// # Errors
/// [`WorkerError`] where the socket or the recording driver fails; never because of a subject.
pub fn worker(socket: &Path) -> Result<(), WorkerError> {
    let recorder = Recorder::load()?;
    checked_memory::available()
        .map_err(WorkerError::io("the kernel lets no process copy its own memory"))?;
    let (socket, loaded_in_child) = match reload::resumed()? {
        Some((socket, load)) => (socket, Some(load)),
        None => {
            let connect = WorkerError::io("connect to the harness");
            (move_to_high_descriptor(UnixStream::connect(socket).map_err(connect)?)?, None)
        }
    };
    // Whatever a batch leaves behind comes here, where the harness finds and ends it. Without this
    // it lives on.
    let _ = set_child_subreaper(Some(getpid()));
    // Looked up before the first fork, so that each child finds it done. Makes no driver call.
    let driver = Driver::load().ok();
    let state = WorkerState {
        socket,
        recorder,
        driver,
        subject: None,
        loaded_in_child,
        keeps_driver: false,
    };
    Server(state).serve()
}

impl Server {
    fn serve(&mut self) -> Result<(), WorkerError> {
        let socket = move_to_high_descriptor(
            self.0.socket.try_clone().map_err(WorkerError::io("duplicate the socket"))?,
        )?;
        let mut requests = BufReader::new(socket);
        let mut text = Vec::new();
        loop {
            text.clear();
            if requests
                .read_until(b'\n', &mut text)
                .map_err(WorkerError::io("read from the harness"))?
                == 0
            {
                return Ok(());
            }
            match serde_json::from_slice(&text).map_err(|source| WorkerError::Line { source })? {
                Request::Load(order) => self.load(order)?,
                Request::Run(run) => match self.0.has_subject() {
                    true => {
                        // Read before a child performs them: a wrong one is no subject's fault.
                        let run = run.read().map_err(|source| WorkerError::Line { source })?;
                        let ended = forked_batch::run(&mut self.0, &run)?;
                        self.send(&Line::Ended(ended))?;
                    }
                    false => {
                        let message =
                            format!("batch {} asked for before a subject was loaded", run.batch);
                        self.send(&Line::Refused(Refused::new("host", message, "")))?;
                    }
                },
                Request::Quit {} => return Ok(()),
            }
        }
    }

    /// Loads a subject, and starts the server anew if the subject started threads or initialized
    /// the driver.
    fn load(&mut self, order: Load) -> Result<(), WorkerError> {
        self.0.loaded_in_child = None;
        let (threads, server) = (reload::threads(), getpid());
        // While the subject is loaded nobody reads the socket, which tells that the harness ended.
        // Later that would be wrong: the system asks for the thread of the parent, and the other
        // threads of the harness use this process too.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        let found = load(&order.interface, &order.subject);
        let _ = set_parent_process_death_signal(None);
        if getpid() != server {
            // A child that the library forked while it was loaded; the server goes on by itself.
            std::process::exit(0);
        }
        let subject = match found {
            Ok(subject) => subject,
            Err(refused) => return self.send(&Line::Refused(refused)),
        };
        let (capabilities, info) = (subject.capabilities(), subject.info());
        self.0.subject = Some(subject);
        let loaded_again = if !reload::threads().is_subset(&threads) {
            Some("threads")
        } else {
            forked_batch::has_initialized_driver(&self.0)?.then_some("driver")
        };
        let loaded = Loaded { flavor: "native", capabilities, subject: info, loaded_again };
        self.send(&Line::Loaded(loaded))?;
        if loaded_again.is_some() && forked_batch::forks() {
            return Err(reload::execute_anew(&self.0.socket, order));
        }
        Ok(())
    }

    fn send(&mut self, line: &Line<'_>) -> Result<(), WorkerError> {
        let mut text = serde_json::to_vec(line).map_err(|source| WorkerError::Line { source })?;
        text.push(b'\n');
        self.0.socket.write_all(&text).map_err(WorkerError::io("write to the harness"))
    }
}

/// Moves the socket to a high descriptor that nobody can know in advance. The limit on descriptors
/// is raised for that moment only: an open descriptor stays usable beyond it.
fn move_to_high_descriptor(socket: UnixStream) -> Result<UnixStream, WorkerError> {
    let limit = getrlimit(Resource::Nofile);
    let highest = limit.maximum.unwrap_or(u64::MAX).min(HIGHEST_DESCRIPTOR);
    let wide = Rlimit { current: Some(highest), maximum: limit.maximum };
    setrlimit(Resource::Nofile, wide).map_err(WorkerError::os("raise the limit on descriptors"))?;
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(WorkerError::os("get random bytes"))?;
    // The upper half: programs take the lowest descriptors that are free.
    let half = u32::try_from(highest / 2).unwrap_or(u32::MAX).max(1);
    let number = half + u32::from_ne_bytes(random) % half;
    let moved: Result<OwnedFd, _> = rustix::io::fcntl_dupfd_cloexec(&socket, number.cast_signed());
    let moved = moved.map_err(WorkerError::os("move the socket"));
    setrlimit(Resource::Nofile, limit)
        .map_err(WorkerError::os("restore the limit on descriptors"))?;
    Ok(UnixStream::from(moved?))
}
