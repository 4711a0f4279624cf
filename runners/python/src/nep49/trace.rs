//! Writes calls of a handler into the trace, by the C functions of the recording driver.

use std::ffi::{CStr, c_char, c_int, c_void};

/// The functions of a handler in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Malloc,
    Calloc,
    Realloc,
    Free,
}

impl Function {
    pub(crate) const ALL: [Self; 4] = [Self::Malloc, Self::Calloc, Self::Realloc, Self::Free];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Calloc => "calloc",
            Self::Realloc => "realloc",
            Self::Free => "free",
        }
    }

    fn in_trace(self) -> &'static CStr {
        match self {
            Self::Malloc => c"handler.malloc",
            Self::Calloc => c"handler.calloc",
            Self::Realloc => c"handler.realloc",
            Self::Free => c"handler.free",
        }
    }
}

type Look = unsafe extern "C" fn(name: *const c_char) -> u32;
type Begin = unsafe extern "C" fn(code: u32, inputs: *const u64, count: usize) -> u64;
type End = unsafe extern "C" fn(call: u64, result: c_int, outputs: *const u64, count: usize);
type EndInjected = unsafe extern "C" fn(call: u64, result: c_int);

/// The trace of this process.
#[derive(Debug)]
pub(crate) struct Trace {
    codes: [u32; 4],
    begin: Begin,
    end: End,
    end_injected: EndInjected,
}

impl Trace {
    /// The trace of the driver that is loaded; `None` where none is, or one that does not record.
    pub(crate) fn find() -> Option<Self> {
        // SAFETY: the name is NUL-terminated; the flag asks only for a library that is there
        // already.
        let library =
            unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        if library.is_null() {
            return None;
        }
        let look = symbol(library, c"allocert_trace_function")?;
        let begin = symbol(library, c"allocert_trace_call_begin")?;
        let end = symbol(library, c"allocert_trace_call_end")?;
        let end_injected = symbol(library, c"allocert_trace_call_end_injected")?;
        // SAFETY: the driver's function of that name has this type.
        let look = unsafe { std::mem::transmute::<*mut c_void, Look>(look) };
        let codes = Function::ALL.map(|function| {
            // SAFETY: the name is NUL-terminated and static.
            unsafe { look(function.in_trace().as_ptr()) }
        });
        Some(Self {
            codes,
            // SAFETY: the driver's function of that name has this type.
            begin: unsafe { std::mem::transmute::<*mut c_void, Begin>(begin) },
            // SAFETY: as above.
            end: unsafe { std::mem::transmute::<*mut c_void, End>(end) },
            // SAFETY: as above.
            end_injected: unsafe { std::mem::transmute::<*mut c_void, EndInjected>(end_injected) },
        })
    }

    /// Writes down that a function is called. The answer is for [`Trace::end`].
    pub(crate) fn begin(&self, function: Function, inputs: &[u64]) -> u64 {
        // SAFETY: the function reads `inputs.len()` numbers, and takes any code.
        unsafe { (self.begin)(self.codes[function as usize], inputs.as_ptr(), inputs.len()) }
    }

    pub(crate) fn end(&self, call: u64, outputs: &[u64]) {
        // SAFETY: `call` comes from `begin`; the function reads `outputs.len()` numbers.
        unsafe { (self.end)(call, 0, outputs.as_ptr(), outputs.len()) }
    }

    /// Writes down that the case made the call answer null.
    pub(crate) fn end_injected(&self, call: u64) {
        // SAFETY: `call` comes from `begin`.
        unsafe { (self.end_injected)(call, 0) }
    }
}

/// The address of a symbol. The library stays loaded: nobody closes it.
fn symbol(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is open and the name NUL-terminated.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}
