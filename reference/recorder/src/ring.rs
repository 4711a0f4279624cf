//! The mapped ring: a file that the harness and every process that it starts have in common.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::Path,
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use allocert_contract::trace::{
    Function, Marker,
    cuda::Misuse,
    record::{self, RECORD_BYTES, Record, RecordKind},
    ring::{HEADER_BYTES, Header, NEXT_OFFSET},
};

use crate::ids;

/// The writing end of a trace.
#[derive(Debug)]
pub struct Ring {
    next: &'static AtomicU64,
    records: *mut [u8; RECORD_BYTES],
    mask: u64,
}

// SAFETY: `records` is mapped for the life of the process, and each record is written by the thread
// that reserved its number.
unsafe impl Send for Ring {}
// SAFETY: as above; numbers are reserved atomically.
unsafe impl Sync for Ring {}

/// A record begins with its number.
const NUMBER_BYTES: usize = 8;
const VARIABLE: &str = "ALLOCERT_TRACE";

/// The trace that `ALLOCERT_TRACE` names, opened at the first call. Says once on stderr if it names
/// something else.
#[inline]
pub fn ring() -> Option<&'static Ring> {
    static RING: OnceLock<Option<Ring>> = OnceLock::new();
    RING.get_or_init(open_named).as_ref()
}

#[cold]
fn open_named() -> Option<Ring> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
    match Ring::open(Path::new(&path)) {
        Ok(ring) => Some(ring),
        Err(error) => {
            let path = path.display();
            // Nobody is told if stderr is closed.
            writeln!(
                io::stderr(),
                "allocert: {VARIABLE}={path}: {error}; going on without a trace"
            )
            .ok();
            None
        }
    }
}

/// An allocation: where it begins, and its size in bytes.
pub type Range = (u64, u64);

/// Who makes a call, and how.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The function that is called.
    pub function: Function,
    /// The calling thread: [`thread_id`](crate::thread_id).
    pub thread: u32,
    /// Its current CUDA context; 0 for none.
    pub context: u64,
    /// Whether the call came through a `_ptsz` or `_ptds` symbol.
    pub per_thread: bool,
}

impl Origin {
    #[inline]
    fn record(self, kind: RecordKind, state: u32, args: [u64; 8]) -> Record {
        Record {
            seq: 0,
            state,
            kind: kind as u16,
            function: self.function.code(),
            thread: self.thread,
            process: ids::process_id(),
            result: 0,
            flags: if self.per_thread { record::PER_THREAD } else { 0 },
            context: self.context,
            args,
            out: [0; 3],
        }
    }
}

/// The record of a call that has not returned yet.
#[derive(Debug)]
pub struct Entry {
    seq: u64,
    record: *mut u8,
    flags: u32,
}

impl Ring {
    /// Maps the ring in this file, for the life of the process.
    fn open(path: &Path) -> Result<Self, String> {
        ids::watch_forks();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| error.to_string())?;
        let mut page = [0; HEADER_BYTES];
        file.read_exact_at(&mut page, 0)
            .map_err(|error| format!("cannot read its header: {error}"))?;
        let header = Header::decode(&page).map_err(|error| error.to_string())?;
        let bytes = header.file_bytes();
        if file.metadata().map_err(|error| error.to_string())?.len() < bytes {
            return Err(format!("shorter than the {bytes} bytes that its header promises"));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file of sufficient size; it is never unmapped.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes as usize,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(format!("cannot map it: {}", io::Error::last_os_error()));
        }
        let base = mapped.cast::<u8>();
        // SAFETY: inside the mapping, 8-byte aligned, and only ever accessed atomically.
        let next = unsafe { AtomicU64::from_ptr(base.wrapping_add(NEXT_OFFSET).cast()) };
        Ok(Self {
            next,
            records: base.wrapping_add(HEADER_BYTES).cast(),
            mask: header.capacity - 1,
        })
    }

    #[inline]
    fn slot(&self, seq: u64) -> *mut [u8; RECORD_BYTES] {
        self.records.wrapping_add((seq & self.mask) as usize)
    }

    #[inline]
    fn append(&self, mut record: Record) -> Entry {
        record.seq = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = self.slot(record.seq);
        let bytes = record.encode();
        let (number, body) = bytes.split_at(NUMBER_BYTES);
        let behind = slot.cast::<u8>().wrapping_add(NUMBER_BYTES);
        // SAFETY: masked into the mapping; this thread alone reserved the number. The rest of the
        // slot, behind the record's number.
        unsafe { behind.copy_from_nonoverlapping(body.as_ptr(), body.len()) };
        // Last, so that nobody who reads along takes what an earlier lap left in the slot for this
        // record.
        number_at(slot).store(
            u64::from_ne_bytes(std::array::from_fn(|index| number[index])),
            Ordering::Release,
        );
        Entry { seq: record.seq, record: slot.cast(), flags: record.flags }
    }

    /// Writes down that a call came in.
    #[inline]
    pub fn enter(&self, origin: Origin, args: [u64; 8]) -> Entry {
        self.append(origin.record(RecordKind::Call, record::ENTERED, args))
    }

    /// Writes down what the call answered, and whether a fault plan answered in its place.
    #[inline]
    pub fn leave(&self, entry: &Entry, result: i32, injected: bool, out: [u64; 3]) {
        let flags = entry.flags | if injected { record::INJECTED } else { 0 };
        entry.put(Record::RESULT_OFFSET, result.to_le_bytes());
        entry.put(Record::FLAGS_OFFSET, flags.to_le_bytes());
        for (index, word) in out.into_iter().enumerate() {
            entry.put(Record::OUT_OFFSET + 8 * index, word.to_le_bytes());
        }
        entry.put(Record::STATE_OFFSET, record::RETURNED.to_le_bytes());
    }

    /// The entry with this number, unless the ring has gone round since.
    pub(crate) fn reopen(&self, seq: u64) -> Option<Entry> {
        let slot = self.slot(seq);
        let there = u64::from_le_bytes(number_at(slot).load(Ordering::Acquire).to_ne_bytes());
        (there == seq + 1).then_some(Entry { seq, record: slot.cast(), flags: 0 })
    }

    /// Writes a marker of a worker.
    pub fn marker(&self, marker: Marker, thread: u32, context: u64) {
        self.append(Record {
            state: record::RETURNED,
            kind: RecordKind::Marker as u16,
            thread,
            process: ids::process_id(),
            context,
            args: [marker.kind() as u64, marker.step().unwrap_or(0), 0, 0, 0, 0, 0, 0],
            ..Record::default()
        });
    }

    /// The driver noticed a misuse inside a function.
    pub fn misuse(&self, origin: Origin, misuse: Misuse, values: [u64; 2]) {
        let args = [misuse as u64, values[0], values[1], 0, 0, 0, 0, 0];
        self.append(origin.record(RecordKind::Misuse, record::RETURNED, args));
    }

    /// A function was called that the software driver does not implement.
    pub fn unsupported(&self, origin: Origin) {
        self.append(origin.record(RecordKind::Unsupported, record::RETURNED, [0; 8]));
    }

    /// A function was called that is passed on without knowing its parameters.
    pub fn passed_on(&self, origin: Origin) {
        self.append(origin.record(RecordKind::PassedOn, record::RETURNED, [0; 8]));
    }

    /// Word `position` of the parameters of the launch `seq` points into an allocation.
    pub fn argument(
        &self,
        origin: Origin,
        seq: u64,
        stream: u64,
        position: u32,
        value: u64,
        (base, size_bytes): Range,
    ) {
        let args = [seq, stream, position.into(), value, base, size_bytes, 0, 0];
        self.append(origin.record(RecordKind::Argument, record::RETURNED, args));
    }
}

impl Entry {
    /// The number of the record.
    #[must_use]
    #[inline]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    #[inline]
    fn put<const N: usize>(&self, offset: usize, value: [u8; N]) {
        // SAFETY: offsets of `Record` fields lie inside the record, which this thread reserved.
        unsafe { self.record.wrapping_add(offset).cast::<[u8; N]>().write(value) };
    }
}

/// The number that a slot begins with.
#[inline]
fn number_at<'a>(slot: *mut [u8; RECORD_BYTES]) -> &'a AtomicU64 {
    // SAFETY: only called with slots of a ring, which stays mapped. They are 8-byte aligned and
    // begin with their number, which is only ever accessed atomically.
    unsafe { AtomicU64::from_ptr(slot.cast()) }
}
