//! Writes the trace ring: a file mapped by the harness and by every process that it starts. No
//! system call, no lock.

use std::{
    fs::OpenOptions,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::Path,
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use allocert_contract::trace::{
    Function, Misuse,
    ring::{self, HEADER_BYTES, Header, NEXT_OFFSET, RECORD_BYTES, Record, kind},
};

use crate::{arguments::Range, mode};

/// The mapped ring.
#[derive(Debug)]
pub(crate) struct Ring {
    next: &'static AtomicU64,
    records: *mut [u8; RECORD_BYTES],
    mask: u64,
}

// SAFETY: `records` is mapped for the life of the process, and each record is written by the thread
// that reserved its number.
unsafe impl Send for Ring {}
// SAFETY: as above; numbers are reserved atomically.
unsafe impl Sync for Ring {}

static RING: OnceLock<Option<Ring>> = OnceLock::new();
/// A record begins with its number.
const NUMBER_BYTES: usize = 8;
/// This process's number, refreshed after `fork`.
pub(crate) static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The trace, if `ALLOCERT_TRACE` names one and no library in front of this one writes it. Says
/// once on stderr if it names something else.
pub(crate) fn ring() -> Option<&'static Ring> {
    RING.get_or_init(|| {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        let path = std::env::var_os("ALLOCERT_TRACE")
            .filter(|path| !path.is_empty() && !mode::is_subordinate())?;
        Ring::open(Path::new(&path))
            .map_err(|error| {
                eprintln!(
                    "allocert: ALLOCERT_TRACE={}: {error}; going on without a trace",
                    path.display()
                )
            })
            .ok()
    })
    .as_ref()
}

/// Who makes a call, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) function: Function,
    pub(crate) thread: u32,
    pub(crate) context: u64,
    pub(crate) per_thread: bool,
}

impl Origin {
    fn record(self, kind: u16, state: u32, args: [u64; 8]) -> Record {
        Record {
            seq: 0,
            state,
            kind,
            function: self.function.index(),
            thread: self.thread,
            process: PROCESS.load(Ordering::Relaxed),
            result: 0,
            flags: if self.per_thread { ring::PER_THREAD } else { 0 },
            context: self.context,
            args,
            out: [0; 3],
        }
    }
}

/// A call that did not return yet.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    record: *mut u8,
    flags: u32,
}

impl Ring {
    fn open(path: &Path) -> Result<Self, String> {
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
            return Err(format!("cannot map it: {}", std::io::Error::last_os_error()));
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
    fn append(&self, mut record: Record) -> Entry {
        record.seq = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = self.records.wrapping_add((record.seq & self.mask) as usize);
        let bytes = record.encode();
        let (number, body) = bytes.split_at(NUMBER_BYTES);
        let behind = slot.cast::<u8>().wrapping_add(NUMBER_BYTES);
        // SAFETY: masked into the mapping; this thread alone reserved the number. The rest of the
        // slot, behind the record's number.
        unsafe { behind.copy_from_nonoverlapping(body.as_ptr(), body.len()) };
        // SAFETY: records are 8-byte aligned and begin with their number, which is only ever
        // accessed atomically.
        let own = unsafe { AtomicU64::from_ptr(slot.cast()) };
        // Last, so that nobody who reads along takes what an earlier lap left in the slot for this
        // record.
        own.store(
            u64::from_ne_bytes(std::array::from_fn(|index| number[index])),
            Ordering::Release,
        );
        Entry { seq: record.seq, record: slot.cast(), flags: record.flags }
    }

    /// Writes down that a call came in.
    #[inline]
    pub(crate) fn enter(&self, origin: Origin, args: [u64; 8]) -> Entry {
        self.append(origin.record(kind::CALL, ring::ENTERED, args))
    }

    /// Writes down what it answered.
    #[inline]
    pub(crate) fn leave(&self, entry: &Entry, result: i32, injected: bool, out: [u64; 3]) {
        let flags = entry.flags | if injected { ring::INJECTED } else { 0 };
        entry.put(Record::RESULT_OFFSET, result.to_le_bytes());
        entry.put(Record::FLAGS_OFFSET, flags.to_le_bytes());
        for (index, word) in out.into_iter().enumerate() {
            entry.put(Record::OUT_OFFSET + 8 * index, word.to_le_bytes());
        }
        entry.put(Record::STATE_OFFSET, ring::RETURNED.to_le_bytes());
    }

    pub(crate) fn misuse(&self, origin: Origin, misuse: Misuse, values: [u64; 2]) {
        let args = [misuse.code().into(), values[0], values[1], 0, 0, 0, 0, 0];
        self.append(origin.record(kind::MISUSE, ring::RETURNED, args));
    }

    pub(crate) fn unsupported(&self, origin: Origin) {
        self.append(origin.record(kind::UNSUPPORTED, ring::RETURNED, [0; 8]));
    }

    /// A function was called that is passed on without knowing its parameters.
    pub(crate) fn passed_on(&self, origin: Origin) {
        self.append(origin.record(kind::PASSED_ON, ring::RETURNED, [0; 8]));
    }

    /// Word `position` of the parameters of the launch `seq` points into an allocation.
    pub(crate) fn argument(
        &self,
        origin: Origin,
        seq: u64,
        stream: u64,
        position: u32,
        value: u64,
        (base, size_bytes): Range,
    ) {
        let args = [seq, stream, position.into(), value, base, size_bytes, 0, 0];
        self.append(origin.record(kind::ARGUMENT, ring::RETURNED, args));
    }

    pub(crate) fn mark(&self, kind: u16, thread: u32, context: u64, [a, b]: [u64; 2]) {
        let origin = Origin { function: Function::cuInit, thread, context, per_thread: false };
        self.append(origin.record(kind, ring::RETURNED, [a, b, 0, 0, 0, 0, 0, 0]));
    }
}

impl Entry {
    #[inline]
    fn put<const N: usize>(&self, offset: usize, value: [u8; N]) {
        // SAFETY: offsets of `Record` fields lie inside the record, which this thread reserved.
        unsafe { self.record.wrapping_add(offset).cast::<[u8; N]>().write(value) };
    }
}
