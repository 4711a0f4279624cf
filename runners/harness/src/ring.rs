//! The trace ring of one worker: made before it starts, read while it runs and after it died.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use allocert_contract::trace::ring::{Batch, HEADER_BYTES, Header, ReadError, read_records};
use allocert_contract::trace::{Boundary, Event, What};
use tempfile::{Builder, TempPath};

use crate::error::Error;
use crate::run_dir::RunDir;

/// 16 MiB of address space; only what is written takes memory.
const CAPACITY_RECORDS: u64 = 1 << 17;
const SHARED_MEMORY: &str = "/dev/shm";

#[derive(Debug)]
pub(crate) struct Ring {
    file: File,
    path: TempPath,
    cursor: u64,
}

/// Driver calls and marks in order. Where their numbers jump, records are missing.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// The number of the first one, read or missing.
    pub(crate) begin: u64,
    pub(crate) events: Vec<Event>,
    /// The number after the last one that was read or is missing.
    pub(crate) end: u64,
}

impl Ring {
    /// Makes a sparse file: in the folder of a run that is kept, or else in memory if there is
    /// room for it.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn for_run(run: &RunDir) -> Result<Self, Error> {
        let mut ring =
            Self::create(run.path(), run.is_kept()).map_err(|source| match source.kind() {
                io::ErrorKind::StorageFull => run.unwritable(source),
                _ => Error::io("make the trace ring", source),
            })?;
        ring.path.disable_cleanup(run.is_kept());
        Ok(ring)
    }

    fn create(run: &Path, kept: bool) -> io::Result<Self> {
        let header = Header::new(CAPACITY_RECORDS).expect("a power of two");
        let shared = Path::new(SHARED_MEMORY);
        let in_memory = !kept && has_room(shared, header.file_bytes());
        let folder = if in_memory { shared } else { run };
        if !in_memory && !has_room(run, header.file_bytes()) {
            // A subject that writes where there is no room is ended by a signal.
            let mib = (2 * header.file_bytes()) >> 20;
            let words = format!("the trace of a worker needs {mib} MiB that are free");
            return Err(io::Error::new(io::ErrorKind::StorageFull, words));
        }
        let mut file = Builder::new().prefix("allocert-").suffix(".trace").tempfile_in(folder)?;
        file.write_all(&header.encode())?;
        file.as_file().set_len(header.file_bytes())?;
        let (file, path) = file.into_parts();
        Ok(Self { file, path, cursor: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the next process of the worker would find the file that was made for it.
    pub(crate) fn is_intact(&self) -> bool {
        let identity = |found: io::Result<Metadata>| {
            found.ok().map(|found| (found.dev(), found.ino(), found.len()))
        };
        let mut header = [0; HEADER_BYTES];
        let header = self
            .file
            .read_exact_at(&mut header, 0)
            .ok()
            .and_then(|()| Header::decode(&header).ok());
        let there = identity(fs::symlink_metadata(&self.path));
        let file_bytes = there.map(|(_, _, size_bytes)| size_bytes);
        there == identity(self.file.metadata())
            && header.map(|header| header.file_bytes()) == file_bytes
    }

    /// Everything since the last read. The writer must be gone: calls that have not returned never
    /// will.
    pub(crate) fn rest(&mut self) -> Slice {
        self.read(false)
    }

    /// What has settled since the last read. A call that has not returned, a record that is being
    /// written, and all behind them, stay for the next read.
    pub(crate) fn settled(&mut self) -> Slice {
        self.read(true)
    }

    /// How many records were written so far, if that can be told.
    pub(crate) fn records(&self) -> Option<u64> {
        let mut header = [0; HEADER_BYTES];
        self.file.read_exact_at(&mut header, 0).ok()?;
        Header::decode(&header).ok().map(|header| header.next)
    }

    /// Whether a call that was recorded since the last read has not returned.
    pub(crate) fn has_open_call(&self) -> bool {
        self.unread().is_ok_and(|batch| batch.events.iter().any(is_open))
    }

    /// The number of the last call of a function of `boundary` since the last read.
    pub(crate) fn last_call(&self, boundary: Boundary) -> Option<u64> {
        let is_of = |event: &&Event| match &event.what {
            What::Call(call) => call.function.boundary() == boundary,
            _ => false,
        };
        self.unread().ok()?.events.iter().rfind(is_of).map(|event| event.seq)
    }

    /// What was recorded since the last read.
    fn unread(&self) -> Result<Batch, ReadError<io::Error>> {
        read_records(|offset, into| self.file.read_exact_at(into, offset), self.cursor)
    }

    fn read(&mut self, settled: bool) -> Slice {
        let batch = self.unread();
        let begin = self.cursor;
        // Only a subject that destroyed the ring makes it unreadable; `is_intact` tells.
        let Ok(mut batch) = batch else { return Slice { begin, events: Vec::new(), end: begin } };
        if settled && let Some(open) = first_open(&batch.events, self.cursor..batch.next) {
            batch.events.retain(|event| event.seq < open);
            batch.next = open;
        }
        self.cursor = batch.next;
        Slice { begin, events: batch.events, end: batch.next }
    }
}

/// The number of the first record of which more may come: a call that has not returned, or a recent
/// number without a record. Further back a missing record stays missing.
fn first_open(events: &[Event], read: Range<u64>) -> Option<u64> {
    const RECENT_RECORDS: u64 = 1024;
    let mut due = read.end.saturating_sub(RECENT_RECORDS).max(read.start);
    for event in events {
        if event.seq > due {
            return Some(due);
        }
        if is_open(event) {
            return Some(event.seq);
        }
        due = due.max(event.seq + 1);
    }
    (due < read.end).then_some(due)
}

/// Whether a call has not returned.
pub(crate) fn is_open(event: &Event) -> bool {
    matches!(&event.what, What::Call(call) if call.result.is_none())
}

fn has_room(folder: &Path, size_bytes: u64) -> bool {
    let Ok(space) = rustix::fs::statvfs(folder) else { return false };
    // Half of what is free: other workers and other programs want room too.
    space.f_bavail.saturating_mul(space.f_frsize) / 2 >= size_bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use allocert_contract::trace::record::{self, RETURNED, Record};
    use allocert_contract::trace::ring::NEXT_OFFSET;

    /// An empty ring.
    pub(crate) fn ring() -> Ring {
        Ring::create(Path::new("/tmp"), false).expect("a ring")
    }

    pub(crate) fn write(ring: &Ring, seq: u64, state: u32) -> io::Result<()> {
        let file = File::options().write(true).open(ring.path())?;
        let header = Header::new(CAPACITY_RECORDS).expect("a power of two");
        let record = Record { seq, state, ..Record::default() };
        file.write_all_at(&record.encode(), header.record_offset(seq))?;
        file.write_all_at(&(seq + 1).to_le_bytes(), NEXT_OFFSET as u64)
    }

    #[test]
    fn an_open_call_waits_for_the_next_read() {
        let mut ring = ring();
        write(&ring, 0, RETURNED).expect("writable");
        write(&ring, 1, record::ENTERED).expect("writable");
        write(&ring, 2, RETURNED).expect("writable");
        assert_eq!(ring.settled().events.len(), 1);
        let rest = ring.rest();
        assert_eq!((rest.events.len(), rest.end), (2, 3));
        assert!(is_open(&rest.events[0]));
        assert!(ring.rest().events.is_empty());
    }

    #[test]
    fn a_record_that_is_being_written_waits_for_the_next_read() {
        let mut ring = ring();
        write(&ring, 0, RETURNED).expect("writable");
        write(&ring, 2, RETURNED).expect("writable");
        let settled = ring.settled();
        assert_eq!((settled.events.len(), settled.end), (1, 1));
        write(&ring, 1, RETURNED).expect("writable");
        write(&ring, 2, RETURNED).expect("writable");
        assert_eq!(ring.settled().events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
        write(&ring, 3, RETURNED).expect("writable");
        assert_eq!(ring.settled().events.iter().map(|event| event.seq).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_destroyed_ring_reads_as_nothing() {
        let mut ring = ring();
        write(&ring, 0, RETURNED).expect("writable");
        File::create(ring.path()).expect("truncated");
        assert!(ring.rest().events.is_empty() && !ring.is_intact());
    }

    #[test]
    fn a_ring_that_is_not_where_it_was_made_is_not_intact() {
        let ring = ring();
        assert!(ring.is_intact());
        std::fs::remove_file(ring.path()).expect("removable");
        assert!(!ring.is_intact());
        std::fs::write(ring.path(), "another file").expect("writable");
        assert!(!ring.is_intact());
    }
}
