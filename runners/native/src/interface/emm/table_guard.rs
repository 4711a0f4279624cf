//! What a call of the C table of a plugin did besides what it answered: sizes, writes, tokens.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use allocert_abi::emm::{
    IpcHandle, KIND_DEVICE, KIND_MAPPED, KIND_PINNED, Memory, MemoryInfo, Status,
};
use allocert_suite::interface::emm::MAX_EXTRA_BYTES;

use crate::table_guard::TableGuard;

/// What no call has a reason to leave behind, so that it shows what was written.
const POISON: u8 = 0xa5;
/// The largest structure and the bytes behind it.
const BYTES: usize = 512;
/// How long the member `size` is.
const SIZE: usize = size_of::<usize>();
/// How long the shortest member is: so much at a time was written or not.
const PART: usize = size_of::<u32>();

impl TableGuard {
    pub(crate) fn status(&self, call: &'static str, status: Status) {
        if status.name().is_none() {
            self.note(call, "unknown_status", || format!("status {}", status.0));
        }
    }

    /// Looks at a structure that a call was handed.
    pub(crate) fn out<T: Structure>(&self, call: &'static str, out: &Out<T>, status: Status) {
        if out.size() != out.claimed {
            self.note(call, "size_changed", || {
                format!("size was {} and is {}", out.claimed, out.size())
            });
        }
        if let Some(at) = out.written(out.claimed.max(SIZE)..BYTES) {
            self.note(call, "written_beyond_size", || {
                format!("byte {at} of a structure of {}", out.claimed)
            });
        }
        match (status, out.written(SIZE..out.claimed)) {
            (Status::OK, _) => {
                if let Some(at) = out.unwritten() {
                    self.note(call, "wrong_members", || {
                        format!("bytes {at}..{} were not written", at + PART)
                    });
                }
            }
            (_, Some(at)) => {
                self.note(call, "written_on_failure", || {
                    format!("it answered {status:?} and wrote byte {at}")
                });
            }
            (_, None) => {}
        }
    }

    /// Looks at what create() did to its result.
    pub(crate) fn manager(&self, status: Status, before: usize, after: usize) {
        if status != Status::OK && before != after {
            self.note("create", "written_on_failure", || {
                format!("it answered {status:?} and wrote *out")
            });
        }
    }

    /// Looks at memory of this kind that a call gave.
    pub(crate) fn memory(&self, call: &'static str, tokens: &Tokens, memory: &Memory, kind: u32) {
        if memory.token == 0 || !tokens.enter(memory.token) {
            let before =
                if memory.token == 0 { "" } else { ", which this manager has given before" };
            self.note(call, "token_not_new", || format!("token {}{before}", memory.token));
        }
        if let Some(wrong) = wrong(memory, kind) {
            self.note(call, "wrong_members", || wrong);
        }
    }
}

/// The first member that does not fit memory of this kind. Its size and the addresses that it must
/// have are matters of every subject.
fn wrong(memory: &Memory, kind: u32) -> Option<String> {
    let Memory { kind: found, reserved, device_pointer, host_pointer, .. } = *memory;
    let host_pointer = host_pointer.addr();
    match kind {
        _ if found != kind => Some(format!("kind is {found}, and {kind} was asked for")),
        _ if reserved != 0 => Some(format!("reserved is {reserved:#x}")),
        KIND_DEVICE if host_pointer != 0 => {
            Some(format!("host_pointer of device memory is {host_pointer:#x}"))
        }
        KIND_PINNED if device_pointer != 0 => {
            Some(format!("device_pointer of memory that is not mapped is {device_pointer:#x}"))
        }
        KIND_MAPPED if device_pointer == 0 || host_pointer == 0 => Some(format!(
            "addresses of mapped memory are {device_pointer:#x} and {host_pointer:#x}"
        )),
        _ => None,
    }
}

/// The tokens that one manager has given, in parts, so that threads seldom meet here instead of in
/// the subject.
#[derive(Debug, Default)]
pub(crate) struct Tokens([Mutex<HashSet<u64>>; 16]);

impl Tokens {
    /// Whether it is the first time.
    fn enter(&self, token: u64) -> bool {
        let part = &self.0[(token ^ (token >> 8)) as usize % self.0.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner).insert(token)
    }
}

/// A structure of the contract that opens with its size.
///
/// # Safety
/// Every bit pattern is a value of the type, and it has no padding.
pub(crate) unsafe trait Structure: Copy {}

// SAFETY: numbers and a raw pointer, laid out by the header without padding.
unsafe impl Structure for Memory {}
// SAFETY: numbers and bytes, laid out by the header without padding.
unsafe impl Structure for IpcHandle {}
// SAFETY: numbers.
unsafe impl Structure for MemoryInfo {}

/// An `out` structure with more bytes behind it. A plugin that writes too much writes into them,
/// damages nothing else, and is found out.
#[repr(align(16))]
pub(crate) struct Out<T> {
    bytes: [u8; BYTES],
    /// What its size says.
    claimed: usize,
    _type: PhantomData<T>,
}

impl<T: Structure> Out<T> {
    /// One whose size says `extra_bytes` bytes more than it is.
    pub(crate) fn new(extra_bytes: i64) -> Self {
        const {
            assert!(
                size_of::<T>() + MAX_EXTRA_BYTES as usize <= BYTES
                    && align_of::<T>() <= align_of::<Self>()
            )
        };
        let extra_bytes =
            isize::try_from(extra_bytes.clamp(-MAX_EXTRA_BYTES, MAX_EXTRA_BYTES)).unwrap_or(0);
        let claimed = size_of::<T>().saturating_add_signed(extra_bytes);
        let mut bytes = [POISON; BYTES];
        bytes[..SIZE].copy_from_slice(&claimed.to_ne_bytes());
        Self { bytes, claimed, _type: PhantomData }
    }

    pub(crate) fn pointer(&mut self) -> *mut T {
        self.bytes.as_mut_ptr().cast()
    }

    /// What was written; 0 where nothing was.
    pub(crate) fn value(&self) -> T {
        let mut bytes = self.bytes;
        for part in
            bytes[..size_of::<T>()].chunks_exact_mut(PART).filter(|part| **part == [POISON; PART])
        {
            part.fill(0);
        }
        // SAFETY: inside the array, and read wherever it lies; every bit pattern is a value.
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    }

    /// The first part of the structure that nobody has written.
    fn unwritten(&self) -> Option<usize> {
        let end = size_of::<T>().min(self.claimed);
        (SIZE..end).step_by(PART).find(|at| self.bytes[*at..].starts_with(&[POISON; PART]))
    }

    fn size(&self) -> usize {
        usize::from_ne_bytes(std::array::from_fn(|at| self.bytes[at]))
    }

    /// The first byte in this range that is not as it was.
    fn written(&self, range: Range<usize>) -> Option<usize> {
        let (start, bytes) = (range.start, self.bytes.get(range)?);
        bytes.iter().position(|byte| *byte != POISON).map(|at| start + at)
    }
}

#[cfg(test)]
mod tests {
    use crate::table_guard::tests::defects;

    use super::*;

    #[test]
    fn what_is_written_shows_where_it_is_not_to_be() {
        let guard = TableGuard::default();
        let mut out = Out::<Memory>::new(0);
        assert_eq!(out.value().device_pointer, 0);
        guard.out("memalloc", &out, Status::OUT_OF_MEMORY);
        assert_eq!(defects(&guard), Vec::<String>::new());
        out.bytes[0] = 64;
        out.bytes[16..24].copy_from_slice(&7u64.to_ne_bytes());
        out.bytes[48] = 0;
        guard.out("memalloc", &out, Status::OUT_OF_MEMORY);
        let found = [
            "memalloc size_changed: size was 48 and is 64",
            "memalloc written_beyond_size: byte 48 of a structure of 48",
            "memalloc written_on_failure: it answered OUT_OF_MEMORY and wrote byte 16",
        ];
        assert_eq!(defects(&guard), found);
        assert_eq!((out.value().device_pointer, out.value().token), (7, 0));
    }

    #[test]
    fn extra_bytes_belong_to_the_structure_as_far_as_its_size_says() {
        let guard = TableGuard::default();
        let mut larger = Out::<MemoryInfo>::new(8);
        larger.bytes[8..32].fill(0);
        guard.out("get_memory_info", &larger, Status::OK);
        let mut smaller = Out::<MemoryInfo>::new(-8);
        smaller.bytes[12..24].fill(0);
        assert_eq!(defects(&guard), Vec::<String>::new());
        guard.out("get_memory_info", &smaller, Status::OK);
        let found = [
            "get_memory_info written_beyond_size: byte 16 of a structure of 16",
            "get_memory_info wrong_members: bytes 8..12 were not written",
        ];
        assert_eq!(defects(&guard), found);
    }

    #[test]
    fn memory_is_held_against_what_was_asked_for() {
        let (guard, tokens) = (TableGuard::default(), Tokens::default());
        let memory = |token| Memory { device_pointer: 1, token, ..Memory::empty() };
        guard.memory("memalloc", &tokens, &memory(1), KIND_DEVICE);
        assert_eq!(defects(&guard), Vec::<String>::new());
        guard.memory("memalloc", &tokens, &memory(1), KIND_DEVICE);
        guard.memory("mempin", &tokens, &Memory { kind: KIND_PINNED, ..memory(0) }, KIND_PINNED);
        let found = [
            "memalloc token_not_new: token 1, which this manager has given before",
            "mempin token_not_new: token 0",
            "mempin wrong_members: device_pointer of memory that is not mapped is 0x1",
        ];
        assert_eq!(defects(&guard), found);
    }
}
