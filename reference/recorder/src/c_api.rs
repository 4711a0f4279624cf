//! The recorder for workers that are not written in Rust.
//!
//! A function is named `BOUNDARY.NAME`, such as `plugin.memalloc`. A worker asks for its code once,
//! with [`allocert_trace_function`], then encloses each call:
//!
//! ```c
//! uint64_t call = allocert_trace_call_begin(code, inputs, input_count);
//! /* the call */
//! allocert_trace_call_end(call, 0, outputs, output_count);
//! ```

use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char},
    ptr, slice,
    sync::OnceLock,
};

use allocert_contract::trace::{Function, Marker, MarkerKind};

use crate::call::{OpenCall, begin_call, marker};

/// What [`allocert_trace_function`] answers for a name that is none.
pub const UNKNOWN_FUNCTION: u32 = u32::MAX;

/// Writes a marker. `kind`: 1 a step begins, 2 a step ends, 3 the worker's own calls begin, 4 they
/// end, 5 a case begins, 6 code of the host begins that the subject called or inherits, 7 it ends.
/// `step` is the index of the step, and 0 for other kinds. Answers 0, or 1 for a kind that is none.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_trace_marker(kind: u32, step: u64) -> i32 {
    let Some(kind) = MarkerKind::from_repr(kind) else { return 1 };
    marker(Marker::new(kind, step));
    0
}

/// The code of a function, [`UNKNOWN_FUNCTION`] if there is none of that name. Driver functions
/// have none: the driver alone records them.
///
/// # Safety
/// `name` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allocert_trace_function(name: *const c_char) -> u32 {
    if name.is_null() {
        return UNKNOWN_FUNCTION;
    }
    // SAFETY: not null, and the caller promises a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(name) };
    let function = name.to_str().ok().and_then(|name| name.parse::<Function>().ok());
    function
        .filter(|function| function.cuda().is_none())
        .map_or(UNKNOWN_FUNCTION, |function| function.code().into())
}

/// The names of a function's inputs in the order in which a record keeps them, separated by spaces;
/// null if no function has this code. The text lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_trace_inputs(code: u32) -> *const c_char {
    names(code).map_or(ptr::null(), |[inputs, _]| inputs.as_ptr())
}

/// The names of a function's outputs, as [`allocert_trace_inputs`] gives those of its inputs.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_trace_outputs(code: u32) -> *const c_char {
    names(code).map_or(ptr::null(), |[_, outputs]| outputs.as_ptr())
}

/// Writes down that the calling thread calls a function. Inputs beyond the eighth are dropped.
/// Answers what [`allocert_trace_call_end`] takes: 0 if there is no trace or no such function.
///
/// # Safety
/// `inputs` points to `count` numbers, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allocert_trace_call_begin(
    code: u32,
    inputs: *const u64,
    count: usize,
) -> u64 {
    let Some(function) = function(code) else { return 0 };
    // SAFETY: passed on to the caller.
    let inputs = unsafe { words(inputs, count) };
    begin_call(function, inputs).into_token()
}

/// Writes down what a call came to: 0 for success, or a code of its boundary. Outputs beyond the
/// third are dropped. Does nothing for a `call` that is 0.
///
/// # Safety
/// `outputs` points to `count` numbers, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allocert_trace_call_end(
    call: u64,
    result: i32,
    outputs: *const u64,
    count: usize,
) {
    // SAFETY: passed on to the caller.
    let outputs = unsafe { words(outputs, count) };
    if let Some(call) = OpenCall::from_token(call) {
        call.end(result, outputs);
    }
}

/// Writes down that the case made a call fail: it answered `result` and did nothing. Does nothing
/// for a `call` that is 0.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_trace_call_end_injected(call: u64, result: i32) {
    if let Some(call) = OpenCall::from_token(call) {
        call.end_injected(result);
    }
}

fn function(code: u32) -> Option<Function> {
    let function = Function::from_code(u16::try_from(code).ok()?)?;
    function.cuda().is_none().then_some(function)
}

/// # Safety
/// `first` points to `count` numbers that stay as they are while the slice is used, or `count` is
/// 0.
unsafe fn words<'a>(first: *const u64, count: usize) -> &'a [u64] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller promises `count` numbers.
    unsafe { slice::from_raw_parts(first, count) }
}

fn names(code: u32) -> Option<&'static [CString; 2]> {
    static NAMES: OnceLock<HashMap<Function, [CString; 2]>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let list = |names: Vec<&str>| CString::new(names.join(" ")).unwrap_or_default();
        let both = |function: Function| {
            [list(function.inputs().collect()), list(function.outputs().collect())]
        };
        let others = Function::all().filter(|function| function.cuda().is_none());
        others.map(|function| (function, both(function))).collect()
    });
    names.get(&function(code)?)
}
