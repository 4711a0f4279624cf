//! What a worker printed, drained on a thread and kept within bounds however much it prints.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The first and the last of so many bytes are kept.
const KEEP_BYTES: usize = 8 * 1024;

/// The output of one pipe, growing while its thread drains it.
#[derive(Debug, Clone)]
pub(crate) struct Capture {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total_bytes: u64,
    closed: bool,
}

impl Capture {
    /// Drains `pipe` until it closes. The thread is left behind when a stray process keeps the pipe
    /// open.
    pub(crate) fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let capture = Self { kept: Arc::clone(&kept) };
        thread::spawn(move || {
            let mut chunk = [0; 8192];
            loop {
                match pipe.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => lock(&kept).add(&chunk[..count]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            lock(&kept).closed = true;
        });
        capture
    }

    /// What was printed so far, after waiting at most `timeout` for the pipe to close.
    pub(crate) fn text(&self, timeout: Duration) -> String {
        let until = Instant::now() + timeout;
        while !lock(&self.kept).closed && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        lock(&self.kept).text()
    }
}

fn lock(kept: &Mutex<Kept>) -> std::sync::MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn add(&mut self, chunk: &[u8]) {
        self.total_bytes += chunk.len() as u64;
        let room = KEEP_BYTES - self.head.len();
        let (head, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(KEEP_BYTES);
        self.tail.drain(..surplus);
    }

    fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let left_out = self.total_bytes - (self.head.len() + self.tail.len()) as u64;
        if left_out > 0 {
            text.push_str(&format!("\n[... {left_out} bytes left out ...]\n"));
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_of_a_flood() {
        let mut flood = b"first".to_vec();
        flood.resize(1 << 20, b'.');
        flood.extend_from_slice(b"last");
        let text = Capture::start(std::io::Cursor::new(flood)).text(Duration::from_secs(5));
        assert!(text.starts_with("first") && text.ends_with("last"));
        assert!(text.contains("[... 1032196 bytes left out ...]"), "{}", &text[8192..8240]);
    }
}
