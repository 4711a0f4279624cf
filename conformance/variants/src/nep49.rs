//! Variants of NumPy's data-allocation handlers (NEP 49). Each is a `PyDataMem_Handler` under a
//! symbol, which conforms in its own way.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use allocert_abi::nep49::{Allocator, Handler, StaticHandler};

/// What lies before a block of these handlers: its size and the address that libc gave.
#[repr(C)]
struct Header {
    size_bytes: usize,
    base: *mut c_void,
}

/// How a handler lays its blocks out.
trait Layout {
    /// Blocks of so many bytes begin at a multiple of this power of two.
    fn alignment_bytes(size_bytes: usize) -> usize;
    /// What malloc() leaves in a block.
    const CONTENT: Option<u8> = None;
    /// Whether a block that has room stays where it is.
    const IN_PLACE: bool = false;
    /// Whether blocks are kept when they are freed.
    const KEEPS: bool = false;
    /// How much of what is freed goes out to nobody, the newest first.
    const HOLDS_BACK_BYTES: usize = 0;
    /// How much the live blocks may have together.
    const MOST_BYTES: usize = usize::MAX;
    /// Whether a request of no bytes is answered with null.
    const NOTHING_IS_NULL: bool = false;
}

/// The functions of a handler with this layout.
const fn functions<L: Layout>(ctx: *mut c_void) -> Allocator {
    Allocator {
        ctx,
        malloc: Some(malloc::<L>),
        calloc: Some(calloc::<L>),
        realloc: Some(realloc::<L>),
        free: Some(free::<L>),
    }
}

#[unsafe(no_mangle)]
static variant_nep49_page_aligned: StaticHandler =
    StaticHandler(Handler::new("page aligned", functions::<Pages>(ptr::null_mut())));

struct Pages;

impl Layout for Pages {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        4096
    }
}

#[unsafe(no_mangle)]
static variant_nep49_aligned_to_size: StaticHandler =
    StaticHandler(Handler::new("", functions::<Tight>(ptr::null_mut())));

/// Eight bytes, and no more, for a block of eight bytes: never at a multiple of 16.
struct Tight;

impl Layout for Tight {
    fn alignment_bytes(size_bytes: usize) -> usize {
        1 << size_bytes.clamp(1, 16).ilog2()
    }
}

#[unsafe(no_mangle)]
static variant_nep49_grows_in_place: StaticHandler =
    StaticHandler(Handler::new(NAME_OF_126_BYTES, functions::<InPlace>(ptr::null_mut())));

const NAME_OF_126_BYTES: &str = "123456789 123456789 123456789 123456789 123456789 123456789 \
     123456789 123456789 123456789 123456789 123456789 123456789 123456";
const _: () = assert!(NAME_OF_126_BYTES.len() == 126);

/// A quarter more than was asked for, for the next realloc().
struct InPlace;

impl Layout for InPlace {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        16
    }
    const IN_PLACE: bool = true;
}

#[unsafe(no_mangle)]
static variant_nep49_fills_new_blocks: StaticHandler =
    StaticHandler(Handler::new("fills", functions::<Filled>(ptr::null_mut())));

struct Filled;

impl Layout for Filled {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        32
    }
    const CONTENT: Option<u8> = Some(0xaa);
}

#[unsafe(no_mangle)]
static variant_nep49_keeps_freed_blocks: StaticHandler = StaticHandler(Handler::new(
    "keeps",
    // The functions keep their blocks elsewhere: a context may be any address.
    functions::<Kept>((&raw const CONTEXT).cast_mut().cast()),
));

static CONTEXT: u8 = 0;

struct Kept;

impl Layout for Kept {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        64
    }
    const KEEPS: bool = true;
}

#[unsafe(no_mangle)]
static variant_nep49_holds_freed_blocks_back: StaticHandler =
    StaticHandler(Handler::new("holds back", functions::<HeldBack>(ptr::null_mut())));

/// As much as the freedom allows.
struct HeldBack;

impl Layout for HeldBack {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        16
    }
    const IN_PLACE: bool = true;
    const HOLDS_BACK_BYTES: usize = 512 << 20;
}

#[unsafe(no_mangle)]
static variant_nep49_has_512_mib: StaticHandler =
    StaticHandler(Handler::new("512 MiB", functions::<Limited>(ptr::null_mut())));

/// As little as the freedom allows.
struct Limited;

impl Layout for Limited {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        16
    }
    const MOST_BYTES: usize = 512 << 20;
}

/// The bytes of the live blocks of a handler that may have only so many.
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
static variant_nep49_nothing_is_null: StaticHandler =
    StaticHandler(Handler::new("null", functions::<NoEmptyBlocks>(ptr::null_mut())));

struct NoEmptyBlocks;

impl Layout for NoEmptyBlocks {
    fn alignment_bytes(_size_bytes: usize) -> usize {
        16
    }
    const NOTHING_IS_NULL: bool = true;
}

/// What is freed and goes out to nobody yet, the oldest first: what libc gave, and its size.
static HELD_BACK: Mutex<HeldBlocks> =
    Mutex::new(HeldBlocks { blocks: VecDeque::new(), all_bytes: 0 });

struct HeldBlocks {
    blocks: VecDeque<(usize, usize)>,
    all_bytes: usize,
}

/// Freed blocks by size, as addresses. The newest one of a size goes out first.
static FREED: Mutex<BTreeMap<usize, Vec<usize>>> = Mutex::new(BTreeMap::new());

thread_local! {
    static LAST: Last = const { Last(RefCell::new(None)) };
}

/// One freed block of a thread: its address and size. Other threads have it when the thread ends.
struct Last(RefCell<Option<(usize, usize)>>);

impl Drop for Last {
    fn drop(&mut self) {
        let _blocked = SignalsBlocked::new();
        self.0.take().into_iter().for_each(keep_for_all);
    }
}

unsafe extern "C" fn malloc<L: Layout>(_ctx: *mut c_void, size: usize) -> *mut c_void {
    if L::NOTHING_IS_NULL && size == 0 {
        return ptr::null_mut();
    }
    let kept = if L::KEEPS { kept(size) } else { None };
    let block = kept.unwrap_or_else(|| take_within_limit::<L>(size));
    if let Some(byte) = L::CONTENT
        && !block.is_null()
    {
        // SAFETY: a new block of so many bytes.
        unsafe { block.cast::<u8>().write_bytes(byte, size) };
    }
    block
}

unsafe extern "C" fn calloc<L: Layout>(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    let Some(size) = nelem.checked_mul(elsize) else { return ptr::null_mut() };
    // SAFETY: any size.
    let block = unsafe { malloc::<L>(ctx, size) };
    if !block.is_null() {
        // SAFETY: a new block of so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, size) };
    }
    block
}

unsafe extern "C" fn realloc<L: Layout>(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size.
        return unsafe { malloc::<L>(ctx, size) };
    }
    // SAFETY: the header of a live block of this handler.
    let old = unsafe { header(block).read_unaligned() }.size_bytes;
    if L::IN_PLACE && size <= old + old / 4 && size >= old / 2 {
        // The room that the block has stays what it is; the next request counts from its first
        // size.
        return block;
    }
    // SAFETY: any size.
    let new = unsafe { malloc::<L>(ctx, size) };
    if L::NOTHING_IS_NULL && size == 0 {
        // SAFETY: a live block, which the caller gave up.
        unsafe { free::<L>(ctx, block, old) };
    }
    if !new.is_null() {
        // SAFETY: both blocks have so many bytes, and they are apart.
        unsafe {
            ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), size.min(room::<L>(old)))
        };
        // SAFETY: a live block, which nobody uses any more.
        unsafe { free::<L>(ctx, block, old) };
    }
    new
}

unsafe extern "C" fn free<L: Layout>(_ctx: *mut c_void, block: *mut c_void, _size: usize) {
    if block.is_null() {
        return;
    }
    // SAFETY: a live block of this handler.
    let Header { size_bytes, base } = unsafe { header(block).read_unaligned() };
    if L::MOST_BYTES < usize::MAX {
        LIVE_BYTES.fetch_sub(size_bytes, Relaxed);
    }
    if L::KEEPS {
        keep(block, size_bytes);
    } else if L::HOLDS_BACK_BYTES > 0 {
        hold_back(base, size_bytes, L::HOLDS_BACK_BYTES);
    } else {
        // SAFETY: what libc gave for this block.
        unsafe { libc::free(base) };
    }
}

/// The bytes of a block for which so many were asked.
fn room<L: Layout>(size_bytes: usize) -> usize {
    if L::IN_PLACE { size_bytes + size_bytes / 4 } else { size_bytes }
}

/// Null where the live blocks would have too many bytes.
fn take_within_limit<L: Layout>(size: usize) -> *mut c_void {
    if L::MOST_BYTES == usize::MAX {
        return take::<L>(size);
    }
    let with = |live: usize| live.checked_add(size).filter(|live| *live <= L::MOST_BYTES);
    if LIVE_BYTES.fetch_update(Relaxed, Relaxed, with).is_err() {
        return ptr::null_mut();
    }
    let block = take::<L>(size);
    if block.is_null() {
        LIVE_BYTES.fetch_sub(size, Relaxed);
    }
    block
}

fn take<L: Layout>(size: usize) -> *mut c_void {
    let alignment = L::alignment_bytes(size);
    let overhead = size_of::<Header>() + 2 * alignment.max(16);
    let Some(total) = size.checked_add(size / 4).and_then(|size| size.checked_add(overhead)) else {
        return ptr::null_mut();
    };
    // SAFETY: takes any size.
    let base = unsafe { libc::malloc(total) };
    if base.is_null() {
        return base;
    }
    let first = (base.addr() + size_of::<Header>()).next_multiple_of(alignment);
    // A small block lies at an odd multiple of its alignment, as if its neighbour came before it.
    let address = if alignment < 16 && first.is_multiple_of(2 * alignment) {
        first + alignment
    } else {
        first
    };
    let block = base.with_addr(address);
    // SAFETY: the room before the block.
    unsafe { header(block).write_unaligned(Header { size_bytes: size, base }) };
    block
}

/// Where the header of a block lies.
fn header(block: *mut c_void) -> *mut Header {
    block.wrapping_byte_sub(size_of::<Header>()).cast()
}

/// No signal interrupts the thread while this lives: the functions may be called from a handler of
/// a signal, which would wait for a lock of its own thread.
struct SignalsBlocked {
    before: libc::sigset_t,
}

impl SignalsBlocked {
    fn new() -> Self {
        // SAFETY: a set is numbers, for which zeros are valid.
        let mut all: libc::sigset_t = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut before = all;
        // SAFETY: writes the set.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: both sets outlive the call.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        Self { before }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        let before = &raw const self.before;
        // SAFETY: puts back the mask of this thread.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
    }
}

fn keep(block: *mut c_void, size_bytes: usize) {
    let _blocked = SignalsBlocked::new();
    let block = block.expose_provenance();
    // A thread that ends may free blocks after its last one went to all.
    let earlier = LAST.try_with(|last| last.0.replace(Some((block, size_bytes))));
    if let Some(freed) = earlier.unwrap_or(Some((block, size_bytes))) {
        keep_for_all(freed);
    }
}

fn keep_for_all((block, size_bytes): (usize, usize)) {
    let mut freed = FREED.lock().expect("no panic while it is held");
    freed.entry(size_bytes).or_default().push(block);
}

fn hold_back(base: *mut c_void, size_bytes: usize, most_bytes: usize) {
    let _blocked = SignalsBlocked::new();
    let mut held_back = HELD_BACK.lock().expect("no panic while it is held");
    held_back.blocks.push_back((base.expose_provenance(), size_bytes));
    held_back.all_bytes += size_bytes;
    while held_back.all_bytes > most_bytes
        && let Some((oldest, size_bytes)) = held_back.blocks.pop_front()
    {
        held_back.all_bytes -= size_bytes;
        // SAFETY: what libc gave for a block that was freed.
        unsafe { libc::free(ptr::with_exposed_provenance_mut(oldest)) };
    }
}

fn kept(size_bytes: usize) -> Option<*mut c_void> {
    let _blocked = SignalsBlocked::new();
    let own = LAST.try_with(|last| last.0.borrow_mut().take_if(|(_, size)| *size == size_bytes));
    let block = own.ok().flatten().map(|(block, _)| block).or_else(|| {
        let mut freed = FREED.lock().expect("no panic while it is held");
        freed.get_mut(&size_bytes)?.pop()
    });
    block.map(ptr::with_exposed_provenance_mut)
}
