//! A list of free blocks without a lock, whose first block may come back unnoticed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use allocert_abi::place::Place;
use allocert_cuda::Driver;

use super::base_allocator::Base;
use super::mutation::Mutation;
use super::system_memory::{self, Answer, GRANULE_BYTES};

/// Asks the driver for the current context first, as an allocator does that makes its device
/// current. So the list is used thousands of instructions behind the beginning of the call.
pub(crate) struct SwappedList;

/// The blocks that were ever in the list, each with the number of the next one. Numbers begin at 1,
/// 0 is none.
static NEXT: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];
static ADDRESSES: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];
/// Looked up once.
static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
static NUMBERS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
/// The number of the first free block.
static HEAD: AtomicUsize = AtomicUsize::new(0);

fn next_of(number: usize) -> &'static AtomicUsize {
    &NEXT[number - 1]
}

/// The number of a block that the list takes.
fn number(base: &Base, place: Place, address: usize) -> Option<usize> {
    let size_bytes = base.with(place, |region| region.live.get(&address).copied());
    if place != Place::cuda(0) || size_bytes != Some(GRANULE_BYTES) {
        return None;
    }
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let next = numbers.len() + 1;
    let number = *numbers.entry(address).or_insert(next);
    ADDRESSES.get(number - 1)?.store(address, Ordering::SeqCst);
    Some(number)
}

/// The address of the first free block, which it takes off the list.
fn pop() -> Option<usize> {
    loop {
        let head = HEAD.load(Ordering::SeqCst);
        let block = head.checked_sub(1)?;
        let next = next_of(head).load(Ordering::SeqCst);
        // The defect: another thread may have taken both blocks by now, and given the first one
        // back.
        if HEAD.compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            return Some(ADDRESSES[block].load(Ordering::SeqCst));
        }
    }
}

impl Mutation for SwappedList {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let driver = DRIVER.get_or_init(|| system_memory::driver().ok());
        let _ = driver.map(|driver| driver.ctx_get_current());
        let is_listed = place == Place::cuda(0) && (1..=GRANULE_BYTES).contains(&size_bytes);
        match is_listed.then(pop).flatten() {
            Some(address) => Ok(address),
            None => base.alloc(place, size_bytes),
        }
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let Some(number) = number(base, place, address) else { return base.free(place, address) };
        let mut head = HEAD.load(Ordering::SeqCst);
        loop {
            next_of(number).store(head, Ordering::SeqCst);
            match HEAD.compare_exchange(head, number, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Ok(()),
                Err(now) => head = now,
            }
        }
    }
}
