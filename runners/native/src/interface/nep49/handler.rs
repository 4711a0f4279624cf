//! A `PyDataMem_Handler` at an address, and calls of its functions.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use allocert_abi::nep49::{Allocator, Handler, NAME_BYTES};
use allocert_contract::trace::{Function as AnyFunction, handler::Function};
use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::checked_memory;
use crate::host_bytes;
use crate::interface::nep49::symbol;
use crate::interleave::{CallNames, InterleavedCalls};
use crate::library;
use crate::protocol::Refused;
use crate::recorder::Recorder;
use crate::step_result::{error_of_worker, facts};

/// A copy of the structure, and where it comes from.
pub(crate) struct LoadedHandler {
    handler: Handler,
    address: usize,
    path: Option<PathBuf>,
}

// SAFETY: the context and the functions are the handler's, which every thread may call (NEP 49,
// "PyDataMem_Handler thread safety and lifetime"); the copy of the structure is only read.
unsafe impl Send for LoadedHandler {}
// SAFETY: as for Send.
unsafe impl Sync for LoadedHandler {}

impl LoadedHandler {
    /// The handler that is part of this program.
    pub(crate) fn reference(handler: &'static Handler) -> Self {
        Self { handler: *handler, address: ptr::from_ref(handler).expose_provenance(), path: None }
    }

    /// Loads the library and copies the structure behind `symbol`. The library is never closed.
    pub(crate) fn open(path: PathBuf, symbol: &str) -> Result<Self, Refused> {
        let library = library::open(&path)?;
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: only the address of the symbol is used; what lies there is read by the kernel.
        let address = unsafe { library.get::<*const Handler>(name.as_bytes_with_nul()) }
            .map_err(|error| library::no_symbol(&path, symbol, &error))?
            .as_raw_ptr()
            .addr();
        symbol::check(&path, symbol, address)?;
        let handler = copy(address).ok_or_else(|| unreadable(&path, symbol, address))?;
        std::mem::forget(library);
        Ok(Self { handler, address, path: Some(path) })
    }

    pub(crate) fn file(&self) -> String {
        self.path.as_deref().map_or_else(String::new, |path| path.display().to_string())
    }

    pub(crate) fn version(&self) -> u8 {
        self.handler.version
    }

    /// The name, if it is UTF-8: all of its bytes where it has no end.
    pub(crate) fn name(&self) -> Option<String> {
        let bytes = self.handler.name.map(|byte| byte as u8);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8(bytes[..end].to_vec()).ok()
    }

    pub(crate) fn describe(&self) -> Facts {
        let Handler { name, version, allocator } = &self.handler;
        let functions = [
            ("malloc", allocator.malloc.is_none()),
            ("calloc", allocator.calloc.is_none()),
            ("realloc", allocator.realloc.is_none()),
            ("free", allocator.free.is_none()),
        ];
        let missing: Vec<_> =
            functions.into_iter().filter(|(_, null)| *null).map(|(name, _)| name).collect();
        facts([
            ("name", json!(self.name())),
            ("name_ends", json!(name[..NAME_BYTES].contains(&0))),
            ("version", json!(version)),
            ("null_functions", json!(missing)),
            ("lost_fields", json!(self.lost_fields())),
        ])
    }

    /// The names of the fields that a host could use when the subject was loaded, and cannot use
    /// now: another version, or a function that is null. All of them if the structure cannot be
    /// read. A handler may replace a function by another one, and change its name and its context.
    fn lost_fields(&self) -> Vec<&'static str> {
        let now = copy(self.address);
        let used = |handler: &Handler| {
            let Allocator { malloc, calloc, realloc, free, .. } = handler.allocator;
            [
                ("version", handler.version == self.handler.version),
                ("malloc", malloc.is_some()),
                ("calloc", calloc.is_some()),
                ("realloc", realloc.is_some()),
                ("free", free.is_some()),
            ]
        };
        let now = now.as_ref().map(used);
        let before = used(&self.handler).into_iter().enumerate();
        before
            .filter(|(index, (_, usable))| *usable && now.is_none_or(|now| !now[*index].1))
            .map(|(_, (name, _))| name)
            .collect()
    }

    pub(crate) fn calls<'a>(&'a self, recorder: &'a Recorder) -> HandlerCalls<'a> {
        HandlerCalls { allocator: &self.handler.allocator, recorder }
    }
}

/// After so many rounds fewer have a record, which would be full otherwise.
const MANY_ROUNDS: u64 = 1 << 18;

/// The functions of a handler; each call is recorded. Addresses are numbers, 0 is null.
#[derive(Clone, Copy)]
pub(crate) struct HandlerCalls<'a> {
    allocator: &'a Allocator,
    recorder: &'a Recorder,
}

// SAFETY: as for LoadedHandler, whose functions these are.
unsafe impl Send for HandlerCalls<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for HandlerCalls<'_> {}

impl HandlerCalls<'_> {
    pub(crate) fn malloc(&self, size: u64) -> Result<usize, Raised> {
        let function = self.allocator.malloc.ok_or_else(|| null_function("malloc"))?;
        let ctx = self.allocator.ctx;
        Ok(self.taking(Function::Malloc, [ctx.addr() as u64, size, 0], || {
            // SAFETY: the handler's own function with its own context; any size is allowed.
            unsafe { function(ctx, size as usize) }
        }))
    }

    pub(crate) fn calloc(&self, nelem: u64, elsize: u64) -> Result<usize, Raised> {
        let function = self.allocator.calloc.ok_or_else(|| null_function("calloc"))?;
        let ctx = self.allocator.ctx;
        Ok(self.taking(Function::Calloc, [ctx.addr() as u64, nelem, elsize], || {
            // SAFETY: as in malloc.
            unsafe { function(ctx, nelem as usize, elsize as usize) }
        }))
    }

    /// `block` is 0, or a live block of this handler.
    pub(crate) fn realloc(&self, block: usize, size: u64) -> Result<usize, Raised> {
        let function = self.allocator.realloc.ok_or_else(|| null_function("realloc"))?;
        let ctx = self.allocator.ctx;
        Ok(self.taking(Function::Realloc, [ctx.addr() as u64, block as u64, size], || {
            // SAFETY: as in malloc; the block is null or the handler's own and not given back yet.
            unsafe { function(ctx, block as *mut c_void, size as usize) }
        }))
    }

    /// `block` is 0, or a live block of this handler.
    pub(crate) fn free(&self, block: usize, size: u64) -> Result<(), Raised> {
        let function = self.allocator.free.ok_or_else(|| null_function("free"))?;
        let ctx = self.allocator.ctx;
        let inputs = [ctx.addr() as u64, block as u64, size];
        self.recorder.call(AnyFunction::Handler(Function::Free), &inputs, || {
            // SAFETY: as in realloc; the size is a guess that a handler may not rely on.
            unsafe { function(ctx, block as *mut c_void, size as usize) };
            ((), [])
        });
        Ok(())
    }

    /// Takes and frees a block with a record before every 256th of rounds that have none, later
    /// before every 4096th. So the harness sees that calls return: the handler is slow and does not
    /// hang. Rounds count from 0.
    pub(crate) fn take_recorded_at(self, round: u64) -> Result<(), Raised> {
        let each = if round < MANY_ROUNDS { 256 } else { 4096 };
        if round.is_multiple_of(each) {
            let block = self.malloc(1)?;
            if block != 0 {
                self.free(block, 1)?;
            }
        }
        Ok(())
    }

    /// All functions, called without a record.
    pub(crate) fn unrecorded(&self) -> Result<UnrecordedCalls, Raised> {
        let Allocator { ctx, malloc, calloc, realloc, free } = *self.allocator;
        Ok(UnrecordedCalls {
            ctx,
            malloc: malloc.ok_or_else(|| null_function("malloc"))?,
            calloc: calloc.ok_or_else(|| null_function("calloc"))?,
            realloc: realloc.ok_or_else(|| null_function("realloc"))?,
            free: free.ok_or_else(|| null_function("free"))?,
        })
    }

    fn taking(
        &self,
        function: Function,
        inputs: [u64; 3],
        call: impl FnOnce() -> *mut c_void,
    ) -> usize {
        self.recorder.call(AnyFunction::Handler(function), &inputs, || {
            let address = call().expose_provenance();
            (address, [address as u64])
        })
    }
}

/// As [`HandlerCalls`], without a record.
#[derive(Clone, Copy)]
pub(crate) struct UnrecordedCalls {
    ctx: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

// SAFETY: as for LoadedHandler, whose functions these are.
unsafe impl Send for UnrecordedCalls {}
// SAFETY: as for Send.
unsafe impl Sync for UnrecordedCalls {}

impl UnrecordedCalls {
    /// The address of a block of zeros, 0 for none.
    pub(crate) fn calloc(self, size_bytes: usize) -> usize {
        // SAFETY: the handler's own function with its own context; any size is allowed.
        unsafe { (self.calloc)(self.ctx, size_bytes, 1) }.expose_provenance()
    }

    /// `block` is 0, or a live block of this handler. It stays where 0 comes back.
    pub(crate) fn realloc(self, block: usize, size_bytes: usize) -> usize {
        // SAFETY: as in calloc; the block is null or the handler's own and not given back yet.
        unsafe { (self.realloc)(self.ctx, block as *mut c_void, size_bytes) }.expose_provenance()
    }
}

impl InterleavedCalls for UnrecordedCalls {
    const NAMES: CallNames = CallNames { take: "malloc", give: "free", resize: "realloc" };

    fn begin_thread(self) {}

    fn take(self, size_bytes: usize) -> usize {
        // SAFETY: the handler's own function with its own context; any size is allowed.
        unsafe { (self.malloc)(self.ctx, size_bytes) }.expose_provenance()
    }

    fn give(self, block: usize, size_bytes: usize) {
        // SAFETY: as in take; the block is null or the handler's own and not given back yet.
        unsafe { (self.free)(self.ctx, block as *mut c_void, size_bytes) };
    }

    fn can_resize(self) -> bool {
        true
    }

    fn resize(self, block: usize, _old_bytes: usize, new_bytes: usize) -> usize {
        self.realloc(block, new_bytes)
    }

    fn fill(self, block: usize, size_bytes: usize, byte: u8) {
        let _ = host_bytes::fill(block, size_bytes as u64, byte);
    }

    fn is_filled(self, block: usize, size_bytes: usize, byte: u8) -> bool {
        host_bytes::holds(block, size_bytes as u64, byte)
    }
}

/// The structure at `address`, as far as the process can read it.
fn copy(address: usize) -> Option<Handler> {
    let mut bytes = [0; size_of::<Handler>()];
    (checked_memory::read(address, &mut bytes) == bytes.len()).then(|| {
        // SAFETY: the bytes are as many as the structure has, and every one of its fields takes any
        // bytes: numbers, pointers that nobody follows, and functions that are null or an address.
        unsafe { bytes.as_ptr().cast::<Handler>().read_unaligned() }
    })
}

fn unreadable(path: &Path, symbol: &str, address: usize) -> Refused {
    let message = format!(
        "{}: `{symbol}` at {address:#x} is no PyDataMem_Handler: its {} bytes cannot be read",
        path.display(),
        size_of::<Handler>()
    );
    Refused::new("table", message, "")
}

fn null_function(name: &str) -> Raised {
    let message = format!("the handler's {name} is null, so nobody can call it");
    error_of_worker("NullFunction", message, None)
}
