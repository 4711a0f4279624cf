//! Small blocks of a device in a list without a lock. Each change of the list raises a count beside
//! its head, so no thread takes a head that came back for one that stayed.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::place::{Allocator, Place, Status};

use super::allocator::{self, Answer, Style};
use super::system_memory;

/// The memory behind the list.
struct Behind;

impl Style for Behind {}

/// The size of all blocks of the list.
const LISTED_BYTES: usize = 256;
/// How many blocks the list knows at most.
const LISTED: usize = 4096;

/// Numbers begin at 1, 0 is none.
type Number = u32;

static NEXT: [AtomicU32; LISTED] = [const { AtomicU32::new(0) }; LISTED];
static ADDRESSES: [AtomicUsize; LISTED] = [const { AtomicUsize::new(0) }; LISTED];
static IS_LIVE: [AtomicBool; LISTED] = [const { AtomicBool::new(false) }; LISTED];
/// The count in the upper half, the number of the first free block in the lower one.
static HEAD: AtomicU64 = AtomicU64::new(0);
static IDLE: AtomicUsize = AtomicUsize::new(0);
static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { by_address: BTreeMap::new(), given: 0 });

struct Numbers {
    by_address: BTreeMap<usize, Number>,
    /// How many numbers were given out.
    given: Number,
}

fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of<T>(all: &'static [T; LISTED], number: Number) -> &'static T {
    &all[number as usize - 1]
}

/// Replaces the first free block, and raises the count.
fn change(change: impl Fn(Number) -> Option<Number>) -> Option<Number> {
    let mut head = HEAD.load(Ordering::SeqCst);
    loop {
        let first = head as Number;
        let new = change(first)?;
        let new = (head >> 32).wrapping_add(1) << 32 | u64::from(new);
        match HEAD.compare_exchange(head, new, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return Some(first),
            Err(now) => head = now,
        }
    }
}

fn pop() -> Option<Number> {
    let next = |first| (first != 0).then(|| of(&NEXT, first).load(Ordering::SeqCst));
    let number = change(next)?;
    IDLE.fetch_sub(1, Ordering::SeqCst);
    Some(number)
}

fn push(number: Number) {
    IDLE.fetch_add(1, Ordering::SeqCst);
    change(|first| {
        of(&NEXT, number).store(first, Ordering::SeqCst);
        Some(number)
    });
}

fn is_listed(place: Place) -> bool {
    place == Place { kind: allocert_abi::place::CUDA, device: 0 }
}

fn alloc(place: Place, size_bytes: usize) -> Answer<usize> {
    system_memory::check(place)?;
    let is_small = is_listed(place) && (1..=LISTED_BYTES).contains(&size_bytes);
    if let Some(number) = is_small.then(pop).flatten() {
        of(&IS_LIVE, number).store(true, Ordering::SeqCst);
        return Ok(of(&ADDRESSES, number).load(Ordering::SeqCst));
    }
    let taken_bytes = if is_small { LISTED_BYTES } else { size_bytes };
    let address = match allocator::alloc::<Behind>(place, taken_bytes) {
        Err((Status::OUT_OF_MEMORY, _)) if release(place)? > 0 => {
            allocator::alloc::<Behind>(place, taken_bytes)?
        }
        answer => answer?,
    };
    let mut numbers = numbers();
    if is_small && (numbers.given as usize) < LISTED {
        numbers.given += 1;
        let number = numbers.given;
        of(&ADDRESSES, number).store(address, Ordering::SeqCst);
        of(&IS_LIVE, number).store(true, Ordering::SeqCst);
        numbers.by_address.insert(address, number);
    }
    Ok(address)
}

fn free(place: Place, address: usize) -> Answer {
    system_memory::check(place)?;
    let number = numbers().by_address.get(&address).copied().filter(|_| is_listed(place));
    let Some(number) = number else { return allocator::free::<Behind>(place, address) };
    if !of(&IS_LIVE, number).swap(false, Ordering::SeqCst) {
        return Err(system_memory::UNKNOWN_ADDRESS);
    }
    push(number);
    Ok(())
}

fn used(place: Place) -> Answer<usize> {
    let bytes = allocator::used::<Behind>(place)?;
    let idle_bytes = if is_listed(place) { IDLE.load(Ordering::SeqCst) * LISTED_BYTES } else { 0 };
    Ok(bytes.saturating_sub(idle_bytes))
}

/// Empties the list.
fn release(place: Place) -> Answer<usize> {
    system_memory::check(place)?;
    let mut given_bytes = 0;
    while let Some(number) = is_listed(place).then(pop).flatten() {
        let address = of(&ADDRESSES, number).load(Ordering::SeqCst);
        numbers().by_address.remove(&address);
        allocator::free::<Behind>(place, address)?;
        given_bytes += LISTED_BYTES;
    }
    Ok(given_bytes)
}

/// The functions of the table that differ.
pub(crate) const fn table(others: Allocator) -> Allocator {
    Allocator {
        alloc: Some(exported_alloc),
        free: Some(exported_free),
        used: Some(exported_used),
        release: Some(exported_release),
        ..others
    }
}

unsafe extern "C" fn exported_alloc(
    place: Place,
    size_bytes: usize,
    out: *mut *mut c_void,
) -> Status {
    allocator::answer(alloc(place, size_bytes), |address| {
        // SAFETY: the host passes a place for the result (header, alloc).
        unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) }
    })
}

unsafe extern "C" fn exported_free(place: Place, pointer: *mut c_void) -> Status {
    allocator::answer(free(place, pointer.addr()), |()| ())
}

unsafe extern "C" fn exported_used(place: Place, out_bytes: *mut usize) -> Status {
    allocator::answer(used(place), |bytes| {
        // SAFETY: the host passes a place for the result (header, used).
        unsafe { out_bytes.write(bytes) }
    })
}

unsafe extern "C" fn exported_release(place: Place, out_bytes: *mut usize) -> Status {
    allocator::answer(release(place), |bytes| {
        // SAFETY: the host passes a place for the result (header, release).
        unsafe { out_bytes.write(bytes) }
    })
}
