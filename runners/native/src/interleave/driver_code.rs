//! Lets a call of the driver run without single steps.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

/// The addresses of the driver's instructions. Empty where no driver is loaded.
#[derive(Debug, Default)]
pub(super) struct DriverCode {
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl DriverCode {
    pub(super) fn find() -> Self {
        // SAFETY: looks a name up in what is loaded; the name ends with a NUL.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"cuInit".as_ptr()) };
        let mut search = Search { function: function as u64, found: Self::default() };
        // SAFETY: `visit` takes a `Search`, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        search.found
    }
}

struct Search {
    function: u64,
    found: DriverCode,
}

/// Keeps the segment with the function.
unsafe extern "C" fn visit(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes an object.
    let object = unsafe { &*object };
    // SAFETY: `find` passes a search, which nothing else uses.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the object has so many headers.
    let segments = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    for segment in segments {
        let begin = object.dlpi_addr.wrapping_add(segment.p_vaddr);
        let end = begin.wrapping_add(segment.p_memsz);
        if segment.p_type == libc::PT_LOAD && (begin..end).contains(&search.function) {
            search.found = DriverCode { begin, end };
            return 1;
        }
    }
    0
}

/// Where the caller of the driver goes on. One thread executes single steps at a time.
static RETURN_TO: AtomicU64 = AtomicU64::new(0);

/// Makes the function of the driver whose call just began return to single steps.
///
/// # Safety
/// `top` is the top of the stack, with the address to which the function returns.
pub(super) unsafe fn resume_after_driver(top: *mut u64) {
    // SAFETY: the caller's promise.
    RETURN_TO.store(unsafe { top.read() }, Ordering::SeqCst);
    // SAFETY: as above. Nothing else reads the address before the function returns.
    unsafe { top.write(single_steps as *const () as u64) };
}

/// Goes on at [`RETURN_TO`] with the flag for single steps. Keeps what the function returned.
#[unsafe(naked)]
unsafe extern "C" fn single_steps() {
    naked_asm!(
        "push qword ptr [rip + {return_to}]",
        "pushfq",
        "or qword ptr [rsp], 0x100",
        "popfq",
        "ret",
        return_to = sym RETURN_TO,
    )
}
