//! Public functions whose parameters are not known here. A call is recorded by name, then passed on
//! with registers and stack unchanged.

use allocert_contract::trace::cuda::Function;
use allocert_driver::CudaError;

use crate::{c_api, forward, mode};

/// Where the trampoline goes on; null to return `answer` instead.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Destination {
    address: usize,
    answer: i32,
}

/// Decides for the function whose number is in the low 16 bits of `code`; bit 16 tells its
/// per-thread variant.
pub(crate) extern "C" fn destination(code: u32) -> Destination {
    let mut address = 0;
    let answer = c_api::guard(|| {
        let Some(function) = Function::from_index(code as u16) else {
            return CudaError::UNKNOWN.code();
        };
        let per_thread = code >> 16 != 0;
        if !mode::forwards() {
            return c_api::unsupported(function, per_thread);
        }
        match forward::untyped(function, per_thread) {
            Ok(target) => {
                address = target.expose_provenance();
                0
            }
            Err(error) => error.code(),
        }
    });
    Destination { address, answer }
}

/// Asks [`destination`] with the number in r11d and goes there as if the caller had called it: all
/// argument registers of the System V ABI (rdi, rsi, rdx, rcx, r8, r9, rax for variadic calls, r10,
/// xmm0-7) and the stack are as they were.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn pass() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 192",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "mov [rsp + 48], rax",
        "mov [rsp + 56], r10",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "mov edi, r11d",
        "call {destination}",
        "test rax, rax",
        "jz 2f",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "mov rax, [rsp + 48]",
        "mov r10, [rsp + 56]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "movaps xmm2, [rsp + 96]",
        "movaps xmm3, [rsp + 112]",
        "movaps xmm4, [rsp + 128]",
        "movaps xmm5, [rsp + 144]",
        "movaps xmm6, [rsp + 160]",
        "movaps xmm7, [rsp + 176]",
        "leave",
        "jmp r11",
        "2:",
        "mov eax, edx",
        "leave",
        "ret",
        destination = sym destination,
    )
}

/// Exports `$symbol` with the number `$code`.
#[cfg(target_arch = "x86_64")]
macro_rules! define {
    ($symbol:ident, $code:expr) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol() -> i32 {
            std::arch::naked_asm!(
                "mov r11d, {code}",
                "jmp {pass}",
                code = const $code,
                pass = sym trampoline::pass,
            )
        }
    };
}

/// Exports `$symbol`, which cannot be passed on here: it answers as the software driver does, in
/// both modes.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! define {
    ($symbol:ident, $code:expr) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol() -> i32 {
            trampoline::refuse($code)
        }
    };
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn refuse(code: u32) -> i32 {
    let Destination { address, answer } = destination(code);
    if address == 0 { answer } else { CudaError::NOT_SUPPORTED.code() }
}

pub(crate) use define;
