//! Answers `cuGetProcAddress` as the genuine driver does, with this library's symbols in place of
//! the driver's public functions.

use std::{
    ffi::{CStr, c_char, c_void},
    mem,
    sync::OnceLock,
};

use allocert_contract::trace::cuda::Function;

use super::genuine::{self, Genuine};
use crate::symbol_lookup::{self, Entry, Found};

type LookUp = unsafe extern "C" fn(*const c_char, *mut *const c_void, i32, u64) -> i32;
type LookUpV2 = unsafe extern "C" fn(*const c_char, *mut *const c_void, i32, u64, *mut u32) -> i32;

const PER_THREAD: u64 = 2;

/// # Safety
/// As `cuGetProcAddress`: a string, and null or a place for an address.
pub(super) unsafe extern "C" fn look_up(
    name: *const c_char,
    found: *mut *const c_void,
    version: i32,
    flags: u64,
) -> i32 {
    let Some(genuine) = genuine::loaded() else { return super::NO_DRIVER.code() };
    let target = genuine.export(Function::cuGetProcAddress, false);
    // SAFETY: the driver's function of this name has this prototype.
    let target = unsafe { mem::transmute::<*const c_void, LookUp>(target) };
    // SAFETY: the caller's own arguments.
    let result = unsafe { target(name, found, version, flags) };
    // SAFETY: the caller's own arguments, which the driver just accepted.
    unsafe { replace(genuine, result, name, found, version, flags) };
    result
}

/// # Safety
/// As `cuGetProcAddress_v2`: a string, and null or places for an address and a status.
pub(super) unsafe extern "C" fn look_up_v2(
    name: *const c_char,
    found: *mut *const c_void,
    version: i32,
    flags: u64,
    status: *mut u32,
) -> i32 {
    let Some(genuine) = genuine::loaded() else { return super::NO_DRIVER.code() };
    let target = genuine.export(Function::cuGetProcAddress_v2, false);
    if target.is_null() {
        return super::NO_SYMBOL.code();
    }
    // SAFETY: the driver's function of this name has this prototype.
    let target = unsafe { mem::transmute::<*const c_void, LookUpV2>(target) };
    // SAFETY: the caller's own arguments.
    let result = unsafe { target(name, found, version, flags, status) };
    // SAFETY: the caller's own arguments, which the driver just accepted.
    unsafe { replace(genuine, result, name, found, version, flags) };
    result
}

/// # Safety
/// If `result` is 0, `name` is null or a string, and `found` is null or holds the driver's answer.
unsafe fn replace(
    genuine: &Genuine,
    result: i32,
    name: *const c_char,
    found: *mut *const c_void,
    version: i32,
    flags: u64,
) {
    if result != 0 || name.is_null() || found.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: promised by the caller.
    let address = unsafe { found.read_unaligned() };
    let Ok(name) = name.to_str() else { return };
    if address.is_null() {
        return;
    }
    if let Some(ours) = ours(genuine, name, address, version, flags & PER_THREAD != 0) {
        // SAFETY: promised by the caller.
        unsafe { found.write_unaligned(ours.address) };
    }
}

/// This library's symbol for the public function that the driver answered with.
fn ours(
    genuine: &Genuine,
    name: &str,
    address: *const c_void,
    version: i32,
    per_thread: bool,
) -> Option<Entry> {
    let expected = match symbol_lookup::find(name, version, genuine.version, per_thread) {
        Found::Symbol(entry) => Some(entry),
        Found::Unknown | Found::TooNew => None,
    };
    let export = |entry: &Entry| genuine.export(entry.function, entry.per_thread);
    let same = |entry: &Entry| export(entry) == address;
    expected
        .filter(same)
        .or_else(|| {
            symbol_lookup::versions(name).iter().flat_map(|symbol| symbol.entries()).find(same)
        })
        .or_else(
            // A driver may answer with another entrance to a public function than the one it
            // exports. Name and version then say which it is, unless it is newer than this
            // library's table.
            || expected.filter(|entry| version <= newest() && !export(entry).is_null()),
        )
}

/// The newest CUDA version that this library's table knows.
fn newest() -> i32 {
    static NEWEST: OnceLock<i32> = OnceLock::new();
    *NEWEST.get_or_init(|| Function::all().map(Function::introduced).max().unwrap_or_default())
}
