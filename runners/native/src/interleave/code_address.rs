//! Says to which library and function an instruction belongs.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;

/// `libsome.so+0x1234`, and the exported function before it where there is one.
pub(super) fn describe(address: u64) -> String {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: asks what lies at any address; the structure outlives the call.
    let found = unsafe { libc::dladdr(address as *const c_void, info.as_mut_ptr()) };
    // SAFETY: a structure of pointers, for which zeros are valid.
    let info = unsafe { info.assume_init() };
    let Some(path) = text(info.dli_fname).filter(|_| found != 0) else {
        return format!("{address:#x}");
    };
    let file = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    let offset = |base: *mut c_void| address.wrapping_sub(base as u64);
    let place = format!("{file}+{:#x}", offset(info.dli_fbase));
    match text(info.dli_sname) {
        Some(function) => format!("{place} ({function}+{:#x})", offset(info.dli_saddr)),
        None => place,
    }
}

/// A text of the loader's, which stays while the library is loaded.
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: dladdr() gives null or a text with a NUL at its end.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_named_by_its_library_and_function() {
        let named = describe(libc::malloc as *const () as u64 + 1);
        assert!(named.contains(".so") && named.ends_with("malloc+0x1)"), "{named}");
        assert_eq!(describe(16), "0x10");
    }
}
