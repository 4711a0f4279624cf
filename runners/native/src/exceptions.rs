//! Calls of functions that a C++ library may leave by an exception, which Rust cannot catch.
//!
//! The call goes through a few instructions of assembly, whose frame has a *personality*: the
//! function that the unwinder asks what a frame does with an exception. It catches every exception.
//! On processors other than x86-64 nobody catches it, and the process ends.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use libloading::os::unix::Library;

use crate::checked_memory;

/// The functions of libraries take up to four numbers or addresses, and return one at most.
pub(crate) type Arguments = [u64; 4];

/// An exception that left a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// The name of its C++ type, if it has one.
    pub(crate) type_name: Option<String>,
}

/// What the unwinder and C++ call an exception.
type Exception = c_void;

/// Calls a function of a library, and catches what it throws.
///
/// # Safety
/// `function` is a C function of at most four numbers or addresses, which is true to its contract
/// with these.
pub(crate) unsafe fn call(
    library: Option<&Library>,
    function: *const c_void,
    arguments: &Arguments,
) -> Result<u64, Thrown> {
    let mut exception: *mut Exception = ptr::null_mut();
    // SAFETY: the caller's promise; `exception` is valid for a write.
    let returned = unsafe { call_catching(function, arguments, &raw mut exception) };
    match NonNull::new(exception) {
        None => Ok(returned),
        // SAFETY: it was just caught, and nobody else has it.
        Some(exception) => Err(unsafe { end(library, exception) }),
    }
}

/// Calls a function of a library. An exception ends the process, as it ends a program in C.
///
/// # Safety
/// As for [`call`].
pub(crate) unsafe fn call_without_catching(function: *const c_void, arguments: &Arguments) -> u64 {
    type Function = extern "C-unwind" fn(u64, u64, u64, u64) -> u64;
    // Rust ends the process if something unwinds out of an `extern "C"` function.
    extern "C" fn without_unwinding(function: Function, [a, b, c, d]: &Arguments) -> u64 {
        function(*a, *b, *c, *d)
    }
    // SAFETY: the caller's promise; a C function ignores registers that it has no argument for.
    let function = unsafe { std::mem::transmute::<*const c_void, Function>(function) };
    without_unwinding(function, arguments)
}

/// Ends an exception as a `catch` block of C++ does, and says what it was.
///
/// # Safety
/// The exception was caught, and nobody else has it.
unsafe fn end(library: Option<&Library>, exception: NonNull<Exception>) -> Thrown {
    // The first member of an exception: who made it, as eight letters.
    // SAFETY: an exception of the unwinder begins with this number.
    let class = unsafe { exception.cast::<u64>().read() }.to_be_bytes();
    let is_cpp = matches!(&class[..7], b"GNUCC++" | b"CLNGC++");
    let Some(catch) = library.filter(|_| is_cpp).and_then(Catch::of) else {
        // An exception of another language, or of a C++ library that keeps its functions to itself.
        // It stays in memory: to delete one of Rust would end the process.
        return Thrown { type_name: None };
    };
    // SAFETY: C++'s own function, with its exception.
    unsafe { (catch.begin)(exception.as_ptr()) };
    // SAFETY: C++'s own function, inside the catch block that begins above.
    let type_name = unsafe { (catch.current_type)() };
    let type_name = type_name_at(type_name.addr());
    // SAFETY: ends the catch block that begins above, and the exception with it.
    unsafe { (catch.end)() };
    Thrown { type_name: type_name.map(|name| readable(&name)) }
}

/// The functions of C++ that a `catch` block calls.
struct Catch {
    begin: unsafe extern "C" fn(exception: *mut Exception) -> *mut c_void,
    end: unsafe extern "C" fn(),
    current_type: unsafe extern "C" fn() -> *const c_void,
}

impl Catch {
    /// Those that a library and its dependencies use.
    fn of(library: &Library) -> Option<Self> {
        // SAFETY: a function of this name has this type in every C++ library (Itanium C++ ABI).
        let begin = unsafe { library.get(b"__cxa_begin_catch\0") }.ok()?;
        // SAFETY: as above.
        let end = unsafe { library.get(b"__cxa_end_catch\0") }.ok()?;
        // SAFETY: as above.
        let current_type = unsafe { library.get(b"__cxa_current_exception_type\0") }.ok()?;
        Some(Self { begin: *begin, end: *end, current_type: *current_type })
    }
}

/// The name in a `std::type_info`, whose second member it is.
fn type_name_at(address: usize) -> Option<String> {
    const WORD_BYTES: usize = size_of::<usize>();
    let mut name = [0; WORD_BYTES];
    let at = (address != 0).then(|| address.wrapping_add(WORD_BYTES))?;
    let is_read = checked_memory::read(at, &mut name) == WORD_BYTES;
    is_read.then(|| checked_memory::text(usize::from_ne_bytes(name))).flatten()
}

/// The name of a type as C++ code writes it, where it consists of plain names: `std::bad_alloc` for
/// `St9bad_alloc`.
fn readable(mangled: &str) -> String {
    let text = mangled.strip_prefix('*').unwrap_or(mangled);
    let inner = text.strip_prefix('N').and_then(|rest| rest.strip_suffix('E'));
    let (mut rest, mut parts) = (inner.unwrap_or(text), Vec::new());
    if let Some(after) = rest.strip_prefix("St") {
        (rest, parts) = (after, vec!["std"]);
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = rest[..digits].parse::<usize>().ok();
        let Some((part, after)) = length.and_then(|length| rest[digits..].split_at_checked(length))
        else {
            return text.to_owned();
        };
        parts.push(part);
        rest = after;
    }
    parts.join("::")
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn call_catching(
    function: *const c_void,
    arguments: &Arguments,
    _exception: *mut *mut Exception,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { call_without_catching(function, arguments) }
}

#[cfg(target_arch = "x86_64")]
use x86_64::allocert_call_catching as call_catching;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Arguments, Exception, c_int, c_void};

    /// What the unwinder does, and what a personality answers (Itanium C++ ABI, level I).
    const SEARCH_PHASE: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const FORCE_UNWIND: c_int = 8;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE_UNWIND: c_int = 8;
    /// The unwinder's number of the register rax.
    const RAX: c_int = 0;

    unsafe extern "C" {
        pub(super) fn allocert_call_catching(
            function: *const c_void,
            arguments: &Arguments,
            exception: *mut *mut Exception,
        ) -> u64;
        fn allocert_caught();
        fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
    }

    // The frame keeps rbp and rbx, and is aligned at the call. `allocert_caught` is where the
    // unwinder goes on with an exception in rax; the frame is then as it was at the call.
    std::arch::global_asm!(
        ".hidden allocert_call_catching",
        ".hidden allocert_caught",
        ".globl allocert_call_catching",
        ".globl allocert_caught",
        ".type allocert_call_catching,@function",
        "allocert_call_catching:",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        "push rbx",
        ".cfi_offset rbx, -24",
        "mov rbx, rdx",
        "mov rax, rdi",
        "mov r10, rsi",
        "mov rdi, [r10]",
        "mov rsi, [r10 + 8]",
        "mov rdx, [r10 + 16]",
        "mov rcx, [r10 + 24]",
        "call rax",
        "2:",
        "mov rbx, [rbp - 8]",
        "mov rsp, rbp",
        ".cfi_remember_state",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "allocert_caught:",
        "mov [rbx], rax",
        "xor eax, eax",
        "jmp 2b",
        ".cfi_endproc",
        ".size allocert_call_catching, . - allocert_call_catching",
        personality = sym catch_all,
    );

    /// The personality of the frame: it catches every exception. A thread that is cancelled goes
    /// on to its end.
    unsafe extern "C" fn catch_all(
        _version: c_int,
        actions: c_int,
        _class: u64,
        exception: *mut Exception,
        context: *mut c_void,
    ) -> c_int {
        if actions & FORCE_UNWIND != 0 {
            return CONTINUE_UNWIND;
        }
        if actions & SEARCH_PHASE != 0 {
            return HANDLER_FOUND;
        }
        if actions & HANDLER_FRAME == 0 {
            return CONTINUE_UNWIND;
        }
        // SAFETY: the unwinder's own function, with the context that it passed for this frame.
        unsafe { _Unwind_SetGR(context, RAX, exception.expose_provenance()) };
        // SAFETY: as above; the address is in the code of the frame.
        unsafe { _Unwind_SetIP(context, allocert_caught as *const () as usize) };
        INSTALL_CONTEXT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn sum(a: u64, b: u64, c: u64, d: u64) -> u64 {
        a + 10 * b + 100 * c + 1000 * d
    }

    extern "C-unwind" fn panics() {
        std::panic::panic_any(7);
    }

    #[test]
    fn a_function_gets_its_arguments_and_returns() {
        let function = sum as *const () as *const c_void;
        // SAFETY: a function of four numbers.
        let caught = unsafe { call(None, function, &[1, 2, 3, 4]) };
        assert_eq!(caught, Ok(4321));
        // SAFETY: as above.
        assert_eq!(unsafe { call_without_catching(function, &[1, 2, 3, 4]) }, 4321);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn what_a_function_throws_is_caught() {
        for _ in 0..2 {
            // SAFETY: a function without arguments.
            let caught = unsafe { call(None, panics as *const () as *const c_void, &[0; 4]) };
            assert_eq!(caught, Err(Thrown { type_name: None }));
        }
    }

    #[test]
    fn a_plain_name_of_a_type_is_readable() {
        for (mangled, name) in [
            ("St9bad_alloc", "std::bad_alloc"),
            ("N3rmm13out_of_memoryE", "rmm::out_of_memory"),
            ("*7Failure", "Failure"),
            ("i", "i"),
            ("N3rmm8templateIiEE", "N3rmm8templateIiEE"),
        ] {
            assert_eq!(readable(mangled), name);
        }
    }
}
