//! Whether a symbol is a structure `PyDataMem_Handler`, by what the library's symbol table says.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use allocert_abi::nep49::Handler;

use crate::protocol::Refused;

const EXPECTED: &str = "allocert needs the symbol of the structure PyDataMem_Handler itself";

/// Refuses a symbol that is a function, or that is too small for a handler.
pub(crate) fn check(path: &Path, symbol: &str, address: usize) -> Result<(), Refused> {
    let Some(seen) = entry(address) else { return Ok(()) };
    let wrong = match (seen.kind, seen.size_bytes) {
        (FUNCTION | INDIRECT_FUNCTION, _) => format!(
            "is a function. {EXPECTED}; where a function makes the structure, export a variable \
             that holds it"
        ),
        (OBJECT, POINTER_BYTES) => format!(
            "has {POINTER_BYTES} bytes, so it seems to be a pointer. {EXPECTED}, which has {} \
             bytes, and not of a pointer to it",
            size_of::<Handler>()
        ),
        (OBJECT, size_bytes @ 1..HANDLER_BYTES) => {
            format!("has {size_bytes} bytes. {EXPECTED}, which has {} bytes", size_of::<Handler>())
        }
        _ => return Ok(()),
    };
    Err(Refused::new("symbol", format!("{}: `{symbol}` {wrong}", path.display()), ""))
}

/// `STT_OBJECT`, `STT_FUNC` and `STT_GNU_IFUNC` of ELF.
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;
const INDIRECT_FUNCTION: u8 = 10;
const POINTER_BYTES: u64 = size_of::<*const c_void>() as u64;
const HANDLER_BYTES: u64 = size_of::<Handler>() as u64;

/// What the symbol table says of a symbol.
struct Entry {
    kind: u8,
    size_bytes: u64,
}

/// The entry of the symbol at an address; nothing where the loader finds none that begins there.
#[cfg(target_env = "gnu")]
fn entry(address: usize) -> Option<Entry> {
    /// `RTLD_DL_SYMENT` of `dlfcn.h`.
    const SYMBOL_ENTRY: libc::c_int = 1;
    let mut symbol: *const libc::Elf64_Sym = ptr::null();
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let extra = (&raw mut symbol).cast::<*mut c_void>();
    // SAFETY: takes any address; both results are written to variables that outlive the call.
    let found =
        unsafe { libc::dladdr1(address as *const c_void, &raw mut info, extra, SYMBOL_ENTRY) };
    if found == 0 || symbol.is_null() || info.dli_saddr.addr() != address {
        return None;
    }
    // SAFETY: an entry of the symbol table of a library that is loaded, and stays so.
    let symbol = unsafe { &*symbol };
    Some(Entry { kind: symbol.st_info & 0xf, size_bytes: symbol.st_size })
}

#[cfg(not(target_env = "gnu"))]
fn entry(_address: usize) -> Option<Entry> {
    None
}
