//! JSON lines over one socket. What arrives was written by untrusted code: it may be garbage,
//! endless or nothing.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::interrupt_flag::Interrupt;
use crate::message::FromWorker;

/// The longest line that a worker may write.
pub(crate) const LONGEST_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How often a wait looks up to see whether somebody wants to stop.
const TICK: Duration = Duration::from_millis(50);
/// A read cannot wait for no time at all.
const SHORTEST_READ: Duration = Duration::from_millis(1);
/// A worker that reads nothing for so long is stuck.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// What a wait on the socket came back with.
#[derive(Debug)]
pub(crate) enum Received {
    Message(Box<FromWorker>),
    /// A line that is no message of the protocol: what is wrong with it, and its beginning.
    Garbage(String),
    /// The time is up.
    Late,
    /// The time of one call is up.
    CallLate,
    /// The other side is gone.
    Closed,
    /// Somebody wants the run to stop.
    Interrupted,
}

#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    buffer: Vec<u8>,
    /// Where the first line begins that was not taken yet. What is before it goes with the next
    /// read: lines come many at a time.
    start: usize,
    searched: usize,
    skipping: bool,
    /// What is sent. One batch is about as long as the next.
    line: Vec<u8>,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(SEND_TIMEOUT))?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: false,
            line: Vec::new(),
        })
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, message)?;
        self.line.push(b'\n');
        self.stream.write_all(&self.line)
    }

    /// The next line, or why there is none by `until`.
    pub(crate) fn receive(&mut self, until: Instant, interrupt: &Interrupt) -> Received {
        loop {
            if let Some(received) = self.take_line() {
                return received;
            }
            if interrupt.is_raised() {
                return Received::Interrupted;
            }
            let left = until.saturating_duration_since(Instant::now());
            if !self.fill(left.clamp(SHORTEST_READ, TICK)) {
                return Received::Closed;
            }
            if left.is_zero() {
                // What has arrived counts, however late this thread gets to read it.
                return self.take_line().unwrap_or(Received::Late);
            }
        }
    }

    /// Reads what is there, waiting at most `timeout`. False when nothing more can ever come.
    fn fill(&mut self, timeout: Duration) -> bool {
        let mut chunk = [0; 64 * 1024];
        if self.stream.set_read_timeout(Some(timeout)).is_err() {
            return false;
        }
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&chunk[..count]);
                true
            }
            Err(error) => matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
            ),
        }
    }

    fn take_line(&mut self) -> Option<Received> {
        let found = self.buffer[self.searched..].iter().position(|&byte| byte == b'\n');
        let Some(end) = found.map(|offset| self.searched + offset) else {
            return self.refuse_overlong();
        };
        let line = &self.buffer[self.start..end];
        (self.start, self.searched) = (end + 1, end + 1);
        if std::mem::take(&mut self.skipping) {
            return rescue(line).map(message).or_else(|| self.take_line());
        }
        Some(understand(line))
    }

    /// Without an end in sight, what was read of an endless line is dropped and the rest of it
    /// skipped.
    fn refuse_overlong(&mut self) -> Option<Received> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.searched = self.buffer.len();
        if self.buffer.len() <= LONGEST_LINE_BYTES {
            return None;
        }
        let garbage =
            garbage(&format!("a line of more than {LONGEST_LINE_BYTES} bytes"), &self.buffer);
        self.buffer.clear();
        self.searched = 0;
        let told_already = std::mem::replace(&mut self.skipping, true);
        (!told_already).then_some(garbage)
    }
}

fn understand(line: &[u8]) -> Received {
    match serde_json::from_slice(line) {
        Ok(understood) => message(understood),
        Err(error) => rescue(line).map_or_else(|| garbage(&error.to_string(), line), message),
    }
}

fn message(message: FromWorker) -> Received {
    Received::Message(Box::new(message))
}

/// A child that dies in the middle of a line leaves it open, and the server's word about that
/// follows on it.
fn rescue(line: &[u8]) -> Option<FromWorker> {
    const ENDED: &[u8] = br#"{"ended""#;
    let start = line.windows(ENDED.len()).rposition(|window| window == ENDED)?;
    serde_json::from_slice(&line[start..]).ok()
}

fn garbage(what: &str, line: &[u8]) -> Received {
    const SHOWN_BYTES: usize = 120;
    let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]);
    Received::Garbage(format!("{what}: {shown:?}"))
}
