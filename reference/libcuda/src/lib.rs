//! `libcuda.so.1`: the C ABI of the CUDA Driver API, over the software driver `allocert-driver` or
//! in front of a genuine driver. It records the calls of all public functions.
//!
//! # Modes
//!
//! `ALLOCERT_MODE` decides who answers:
//!
//! - `simulate`, the default: the software driver.
//! - `forward`: the genuine driver. Every call is passed on to it, except those that the fault plan
//!   answers.
//!
//! # Forward mode
//!
//! - **Which driver**: `ALLOCERT_REAL_DRIVER`, an absolute path, or else the first libcuda.so.1 in
//!   the usual places (`forward::driver_path`). The first call that needs it loads it. If there is
//!   none, one line on stderr says so, and all calls answer `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`.
//! - **Functions with known parameters** are recorded with their arguments before the call and
//!   their results after it.
//! - **All other public functions** are passed on by an untyped jump. Their event (`passed_on`) has
//!   their name and context alone, and is written before the jump. The jump is written for x86-64;
//!   elsewhere these functions answer `CUDA_ERROR_NOT_SUPPORTED` in both modes.
//! - **Look-ups**: `cuGetProcAddress` asks the genuine driver, and answers with this library's
//!   symbol for a public function and with the driver's own address for any other.
//!   `cuGetExportTable` is passed on by an untyped jump; calls through such a table are not seen.
//! - **Kernel parameters**: after a launch that is not being captured, this library asks the driver
//!   for the layout of the kernel's parameters (once a kernel; CUDA 12.4), and for each word of
//!   them that may be an address (`cuPointerGetAttributes`). Only functions that
//!   `cuModuleGetFunction`, `cuLibraryGetKernel` or `cuKernelGetFunction` returned have a known
//!   layout.
//! - **Context** of an event: what the genuine `cuCtxGetCurrent` answers before the call.
//! - **Faults**: those of calls work. Those of kernels and the settings of the simulated machine do
//!   nothing.
//! - **Restart**: `allocert_driver_restart` drops the faults and nothing else, because a genuine
//!   driver cannot start over.
//!
//! # Kernels of the software driver
//!
//! No kernel runs: a launch takes its place in its stream and changes no memory, while copies and
//! fills do. Each launch leaves a record with its stream and dimensions
//! (`allocert_contract::trace::cuda::Launch`), and one event for each word of its parameters that
//! points into live memory. The layout of the parameters is read from PTX and cubins
//! (`allocert_driver::Kernels`). A fat binary is opaque: a launch of its kernels has such events
//! only if it gives its parameters in one buffer.
//!
//! # Settings
//!
//! They are read from the environment at first use: `ALLOCERT_MODE`, `ALLOCERT_REAL_DRIVER`,
//! `ALLOCERT_DEVICES`, `ALLOCERT_MEMORY_BYTES`, `ALLOCERT_DRIVER_VERSION`, `ALLOCERT_PEER_ACCESS`,
//! `ALLOCERT_FAULTS` (see `allocert_driver::Settings`) and `ALLOCERT_TRACE`, the path of a trace
//! (`allocert_recorder`).
#![expect(
    unsafe_code,
    reason = "the C API: exported symbols, the caller's pointers, mapped memory"
)]

mod address_window;
mod api;
mod c_api;
mod callback;
mod control;
mod exports;
mod fork_handlers;
mod forward;
mod host_functions;
mod host_memory;
mod kernel_arguments;
mod lock;
mod mode;
mod program_memory;
mod session;
mod symbol_lookup;
mod trampoline;
