//! A handler with a list of free blocks for each thread.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_frees_onto_list_of_other: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

/// Larger blocks are on no list.
const LARGEST_BYTES: usize = 4096;

/// The free blocks of a thread.
type List = AtomicPtr<Header>;

/// What lies before each block.
#[repr(C, align(16))]
struct Header {
    /// Where the block goes when it is freed: nowhere if it is large.
    list: Option<&'static List>,
    /// While the block is free.
    next: *mut Header,
    size_bytes: usize,
}

/// The lists of threads that have ended, for new threads.
static LEFT: Mutex<Vec<&'static List>> = Mutex::new(Vec::new());

struct OwnList(OnceCell<&'static List>);

thread_local! {
    static OWN: OwnList = const { OwnList(OnceCell::new()) };
}

impl OwnList {
    fn get(&self) -> &'static List {
        self.0.get_or_init(|| {
            let left = LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop();
            left.unwrap_or_else(|| Box::leak(Box::new(AtomicPtr::new(ptr::null_mut()))))
        })
    }
}

impl Drop for OwnList {
    fn drop(&mut self) {
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).extend(self.0.take());
    }
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    let list = (size <= LARGEST_BYTES).then(|| OWN.with(OwnList::get));
    let free = list.map_or(ptr::null_mut(), |list| list.load(SeqCst));
    let header = if let Some(list) = list.filter(|_| !free.is_null()) {
        // SAFETY: a free block, which keeps its header.
        list.store(unsafe { (*free).next }, SeqCst);
        free
    } else {
        let room_bytes = if list.is_some() { LARGEST_BYTES } else { size };
        let Some(bytes) = room_bytes.checked_add(size_of::<Header>()) else {
            return ptr::null_mut();
        };
        // SAFETY: any size.
        unsafe { conforming::malloc(ctx, bytes) }.cast::<Header>()
    };
    if header.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a block with room for the header and `size` bytes.
    unsafe { header.write(Header { list, next: ptr::null_mut(), size_bytes: size }) };
    // SAFETY: the block goes on behind its header.
    unsafe { header.add(1) }.cast()
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() {
        return;
    }
    // SAFETY: a block of malloc() has a header before it.
    let header = unsafe { block.cast::<Header>().sub(1) };
    // SAFETY: as before.
    let Some(list) = (unsafe { (*header).list }) else {
        // SAFETY: the block of libc.
        return unsafe { conforming::free(ctx, header.cast(), size) };
    };
    // The defect: another thread may take from its list meanwhile.
    // SAFETY: as before.
    unsafe { (*header).next = list.load(SeqCst) };
    list.store(header, SeqCst);
}

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let Some(bytes) = nelem.checked_mul(elsize) else { return ptr::null_mut() };
    // SAFETY: any size.
    let block = unsafe { malloc(ctx, bytes) };
    if !block.is_null() {
        // SAFETY: the block has so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, bytes) };
    }
    block
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { malloc(ctx, size) };
    if !new.is_null() && !block.is_null() {
        let header = block.cast::<Header>().wrapping_sub(1);
        // SAFETY: a block of malloc() has a header before it.
        let old_bytes = unsafe { (*header).size_bytes };
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_bytes.min(size)) };
        // SAFETY: the caller gave the block up.
        unsafe { free(ctx, block, old_bytes) };
    }
    new
}
