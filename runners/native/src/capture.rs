//! What came through a pipe: all of it drained and counted, its two ends kept.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use crate::protocol::CapturedOutput;

/// So many first and so many last bytes are kept.
const KEEP_BYTES: usize = 8 * 1024;
/// What is still read once the child is gone: more than a pipe holds, less than a flood.
const REST_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Capture {
    pipe: OwnedFd,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    pub(crate) open: bool,
}

impl Capture {
    /// `pipe` must not block.
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self { pipe, head: Vec::new(), tail: VecDeque::new(), bytes: 0, open: true }
    }

    pub(crate) fn pipe(&self) -> &OwnedFd {
        &self.pipe
    }

    /// Reads once; whether there may be more right now.
    pub(crate) fn drain(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        match rustix::io::read(&self.pipe, &mut chunk) {
            Ok(0) => self.open = false,
            Ok(count) => {
                self.add(&chunk[..count]);
                return true;
            }
            Err(rustix::io::Errno::INTR) => return true,
            Err(rustix::io::Errno::AGAIN) => {}
            Err(_) => self.open = false,
        }
        false
    }

    /// Takes what the child left behind. A process that outlived it may go on writing; it is not
    /// waited for.
    pub(crate) fn finish(mut self) -> CapturedOutput {
        let limit = self.bytes + REST_BYTES;
        while self.open && self.bytes < limit && self.drain() {}
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let left_out = self.bytes - (self.head.len() + self.tail.len()) as u64;
        if left_out > 0 {
            text.push_str(&format!("\n[... {left_out} bytes left out ...]\n"));
        }
        text.push_str(&String::from_utf8_lossy(self.tail.make_contiguous()));
        CapturedOutput { text, bytes: self.bytes }
    }

    fn add(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        let kept = (KEEP_BYTES - self.head.len()).min(chunk.len());
        let (head, rest) = chunk.split_at(kept);
        self.head.extend_from_slice(head);
        self.tail.extend(&rest[rest.len().saturating_sub(KEEP_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(KEEP_BYTES);
        self.tail.drain(..surplus);
    }
}
