//! `libcuda.so.1` in software: the CUDA Driver API's C ABI over `allocert-driver`, recording every
//! call.
//!
//! # Two modes
//!
//! `ALLOCERT_MODE=simulate`, the default, answers from the software driver. `ALLOCERT_MODE=forward`
//! passes every call on to the genuine driver and records it; nothing is answered in its place.
//!
//! - The genuine driver is `ALLOCERT_REAL_DRIVER`, an absolute path, or else the first libcuda.so.1
//!   in the usual places (`genuine`). It is loaded at the first call that needs it. If there is
//!   none, one line on stderr says so and all calls answer `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`.
//! - Functions with known parameters are recorded with arguments before and results after the call.
//!   All other public functions are passed on by an untyped jump, and their event (`passed_on`)
//!   tells their name and context alone; it is written before the jump.
//! - `cuGetProcAddress` asks the genuine driver and gives this library's symbol for a public
//!   function, and whatever is not one as it came. `cuGetExportTable` goes through as any function
//!   of unknown parameters does; what is called through such a table is not seen.
//! - After a launch that is not being captured, the driver is asked for the kernel's parameters
//!   (once a kernel; CUDA 12.4) and for each word of them that may be an address
//!   (`cuPointerGetAttributes`). A function that was not returned by `cuModuleGetFunction`,
//!   `cuLibraryGetKernel` or `cuKernelGetFunction` has no known parameters.
//! - The trace's context is what the genuine `cuCtxGetCurrent` says before each call.
//! - Faults of calls work: such a call is not passed on. Faults of kernels, and the settings of the
//!   simulated machine, do nothing.
//! - `allocert_driver_restart` drops the faults and nothing else: a genuine driver cannot start
//!   over.
//!
//! The untyped jump is written for x86-64; elsewhere those functions answer
//! `CUDA_ERROR_NOT_SUPPORTED` in both modes.
//!
//! # Kernels
//!
//! No kernel runs here: a launch takes its place in its stream and changes no memory, while copies
//! and fills do. Each launch leaves a record with its stream and dimensions
//! (`allocert_contract::trace::cuda::Launch`), and one event for each word of its parameters that points
//! into live memory. Where the parameters lie is read from PTX and cubins
//! (`allocert_driver::Kernels`); a fat binary is opaque, and a launch of its kernels has such
//! events only if it gives its parameters in one buffer.
//!
//! # Settings
//!
//! They are read from the environment at first use: `ALLOCERT_DEVICES`, `ALLOCERT_MEMORY_BYTES`,
//! `ALLOCERT_DRIVER_VERSION`, `ALLOCERT_PEER_ACCESS`, `ALLOCERT_FAULTS` (see
//! `allocert_driver::Settings`) and `ALLOCERT_TRACE`, the path of a trace ring file.
#![expect(
    unsafe_code,
    reason = "the C API: exported symbols, the caller's pointers, mapped memory"
)]

mod api;
mod arguments;
mod c_api;
mod control;
mod exports;
mod foreign;
mod fork;
mod forward;
mod hostmemory;
mod lock;
mod lookup;
mod mode;
mod process;
mod trampoline;
mod window;
