//! A handler of NumPy's data allocation (NEP 49) whose blocks are page-locked by the CUDA driver:
//! `cuMemHostAlloc` with the flag for all contexts. Copies between such memory and a GPU need no
//! copy in between.
//!
//! The blocks belong to the primary context of one device, which the handler keeps alive. If
//! somebody resets that context, or the driver ends before the process, the memory is gone: then
//! nobody may use the blocks, but free() of them does no harm at any time. So nothing about a block
//! stands in the block itself.
//!
//! A child of `fork` can use CUDA only if its driver allows that after the parent used it.
//! Otherwise every request there answers null.

#![expect(unsafe_code, reason = "hands out raw memory as C functions")]

mod ledger;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use allocert_abi::nep49::{Allocator, Handler};
use allocert_cuda::{Context, Driver, DriverError, HostAllocFlags};
use allocert_nep49::Statistics;

use ledger::{Ledger, Request};

/// The handler of one device. It lives as long as the process.
#[derive(Debug)]
pub struct Pinned {
    handler: Handler,
    driver: Driver,
    ordinal: i32,
    /// The primary context of the device.
    context: Mutex<Context>,
    ledger: Mutex<Ledger>,
}

// SAFETY: `handler` is only read after `Pinned::open`, and its functions may be called from every
// thread: locks guard the rest.
unsafe impl Sync for Pinned {}

/// By the ordinal of the device.
static OPENED: Mutex<BTreeMap<i32, &'static Pinned>> = Mutex::new(BTreeMap::new());

impl Pinned {
    /// The handler for the device with this ordinal, the same one at every call. Initialises the
    /// driver and keeps the primary context of the device.
    ///
    /// # Errors
    /// [`DriverError::Missing`] without a driver, and whatever the driver answers, for example
    /// where there is no such device.
    pub fn open(ordinal: i32) -> Result<&'static Self, DriverError> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pinned) = opened.get(&ordinal) {
            return Ok(pinned);
        }
        let driver = Driver::load()?;
        driver.init()?;
        let context = driver.primary_ctx_retain(ordinal)?;
        let pinned = Self::leaked(driver, ordinal, context);
        opened.insert(ordinal, pinned);
        Ok(pinned)
    }

    fn leaked(driver: Driver, ordinal: i32, context: Context) -> &'static Self {
        let allocator = Allocator {
            ctx: ptr::null_mut(),
            malloc: Some(malloc),
            calloc: Some(calloc),
            realloc: Some(realloc),
            free: Some(free),
        };
        let handler = Handler::new("allocert_pinned", allocator);
        let (context, ledger) = (Mutex::new(context), Mutex::default());
        let pinned = Box::into_raw(Box::new(Self { handler, driver, ordinal, context, ledger }));
        // SAFETY: the box was just made, and nobody else knows of it yet.
        unsafe { (*pinned).handler.allocator.ctx = pinned.cast() };
        // SAFETY: nobody frees the box, and from here on only what has a lock changes.
        unsafe { &*pinned }
    }

    /// The `PyDataMem_Handler`.
    #[must_use]
    pub fn handler(&self) -> &Handler {
        &self.handler
    }

    /// The opened handler that lies at this address.
    #[must_use]
    pub fn at(address: *const Handler) -> Option<&'static Self> {
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.values().copied().find(|pinned| ptr::eq(&raw const pinned.handler, address))
    }

    /// What the handler did so far. All numbers are exact.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.with_ledger(|ledger| ledger.statistics)
    }

    fn with_ledger<R>(&self, call: impl FnOnce(&mut Ledger) -> R) -> R {
        call(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A block of at least `size_bytes`, or null.
    fn take(&self, request: Request, size_bytes: usize) -> *mut c_void {
        let Ok(address) = self.allocate(size_bytes) else {
            self.with_ledger(|ledger| ledger.statistics.failed_calls += 1);
            return ptr::null_mut();
        };
        if self.with_ledger(|ledger| ledger.given(request, address, size_bytes)) {
            return ptr::with_exposed_provenance_mut(address);
        }
        self.release(address);
        ptr::null_mut()
    }

    /// Memory of the primary context, whichever context is current: it then lives as long as the
    /// handler. If somebody reset the context, or this is a child of `fork`, it is kept alive anew.
    fn allocate(&self, size_bytes: usize) -> Result<usize, DriverError> {
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        match self.allocate_in(*context, size_bytes) {
            Err(error) if !error.is_out_of_memory() => {
                self.driver.init()?;
                *context = self.driver.primary_ctx_retain(self.ordinal)?;
                self.allocate_in(*context, size_bytes)
            }
            result => result,
        }
    }

    fn allocate_in(&self, context: Context, size_bytes: usize) -> Result<usize, DriverError> {
        let flags = HostAllocFlags { portable: true, ..HostAllocFlags::default() };
        self.driver.ctx_push_current(context)?;
        let allocated = self.driver.mem_host_alloc(size_bytes.max(1) as u64, flags);
        // A context that was just pushed can be popped.
        let _ = self.driver.ctx_pop_current();
        allocated
    }

    /// Gives memory back. The driver refuses it if the memory is gone already; nothing is left to
    /// do then.
    fn release(&self, address: usize) {
        let _ = self.driver.mem_free_host(address);
    }

    /// Another block with the bytes of an old one, or null; then the old one stays.
    ///
    /// # Safety
    /// `block` is an address that this handler gave.
    unsafe fn resize(&self, block: *mut c_void, size_bytes: usize) -> *mut c_void {
        let Some(old_bytes) = self.with_ledger(|ledger| ledger.size_bytes(block.addr())) else {
            self.refuse(block, "realloc");
            return ptr::null_mut();
        };
        let new = self.take(Request::Realloc, size_bytes);
        if !new.is_null() {
            let kept = old_bytes.min(size_bytes);
            // SAFETY: two blocks with so many bytes, which are apart.
            unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), kept) };
            self.with_ledger(|ledger| ledger.taken(block.addr()));
            self.release(block.expose_provenance());
        }
        new
    }

    fn give(&self, block: *mut c_void) {
        let known = self.with_ledger(|ledger| {
            let known = ledger.taken(block.addr()).is_some();
            ledger.statistics.free_calls += u64::from(known);
            known
        });
        if known {
            self.release(block.expose_provenance());
        } else {
            self.refuse(block, "free");
        }
    }

    #[cold]
    fn refuse(&self, block: *mut c_void, function: &str) {
        self.with_ledger(|ledger| ledger.statistics.refused_calls += 1);
        eprintln!(
            "allocert_pinned: {function}({block:p}): this handler did not give this memory, or it \
             was given back before. It stays as it is; the caller has to be mended."
        );
    }
}

/// # Safety
/// `ctx` is the context of a handler of this crate.
unsafe fn pinned(ctx: *mut c_void) -> &'static Pinned {
    // SAFETY: the caller's promise; a `Pinned` is never freed.
    unsafe { &*ctx.cast::<Pinned>() }
}

/// # Safety
/// As for [`pinned`].
unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { pinned(ctx) }.take(Request::Malloc, size)
}

/// # Safety
/// As for [`pinned`].
unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let pinned = unsafe { pinned(ctx) };
    // No memory has that many bytes.
    let size_bytes = nelem.saturating_mul(elsize);
    let block = pinned.take(Request::Calloc, size_bytes);
    if !block.is_null() {
        // SAFETY: a new block of so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, size_bytes) };
    }
    block
}

/// # Safety
/// As for [`pinned`]; `block` is null, or an address that this handler gave.
unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let pinned = unsafe { pinned(ctx) };
    if block.is_null() {
        return pinned.take(Request::Malloc, size);
    }
    // SAFETY: the caller's promise.
    unsafe { pinned.resize(block, size) }
}

/// # Safety
/// As for [`realloc`].
unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, _size: usize) {
    if !block.is_null() {
        // SAFETY: the caller's promise.
        unsafe { pinned(ctx) }.give(block);
    }
}
