//! `libcuda.so.1` in software: the CUDA Driver API's C ABI over `allocert-driver`, recording every call.
//!
//! Settings are read from the environment at first use: `ALLOCERT_DEVICES`, `ALLOCERT_MEMORY_BYTES`, `ALLOCERT_DRIVER_VERSION`,
//! `ALLOCERT_FAULTS` (see `allocert_driver::Settings`) and `ALLOCERT_TRACE`, the path of a trace ring file.
#![expect(unsafe_code, reason = "the C border: exported symbols, the caller's pointers, mapped memory")]

mod api;
mod border;
mod control;
mod exports;
mod fork;
mod hostmemory;
mod lock;
mod lookup;
mod process;
mod recorder;
mod window;
