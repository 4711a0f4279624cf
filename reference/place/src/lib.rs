//! The reference allocator of memory by place, after Paddle's "Region-based Heterogeneous Memory
//! Management": [`memory::alloc`], [`memory::free`] and [`memory::used`] for [`CpuPlace`],
//! [`CudaPlace`] and [`CudaPinnedPlace`]. The library `liballocert_place.so` exports the table of
//! `allocert_place.h` as the symbol `allocert_place_allocator_v1`, two functions for PyTorch,
//! [`allocert_place_torch_malloc`] and [`allocert_place_torch_free`], and two for CuPy,
//! [`allocert_place_cupy_malloc`] and [`allocert_place_cupy_free`].
//!
//! # What the text leaves open
//! * 0 bytes are null, and free() ignores null.
//! * Blocks are aligned to 64 bytes, and to 256 on a device.
//! * `used` counts the bytes that callers asked for.
//! * The pool of a place takes its first chunk, 32 MiB, at the first request. Further chunks are a
//!   sixteenth of the pool, from 32 MiB to 1 GiB. A chunk is as long as the request if that is more
//!   than half of it, or if there is not so much memory. [`Settings`] and the environment change
//!   the first chunk, and may limit the pool; without a setting there is no limit.
//! * A request of more than 2 MiB takes just what it needs. A smaller one takes a block of its size
//!   class, which is at most an eighth longer.
//! * Freed memory stays in the pool. release() gives whole chunks back, and so does a request that
//!   finds no memory, before it fails.
//! * The CPU place asks for huge pages (`madvise`): programs that fill their blocks take fewer page
//!   faults. So the first write to a block may take 2 MiB from the system.
//! * A thread keeps up to 16 freed blocks of a size class, and of all classes 64 MiB of the host
//!   and 24 MiB of a device. That memory is idle like all other: release() and a request that finds
//!   no memory take it.
//!
//! # What is found
//! free() refuses what is no live block of the place, by books that lie outside the memory. Blocks
//! of the host are followed by 16 bytes that free() checks: who writes behind a block gets
//! `Corrupted`, and the block stays taken. Memory of a device is never read or written.
//!
//! # Threads, `fork` and the end
//! Any thread calls; blocks may wander between threads. A child of `fork` goes on with the CPU
//! place. If the parent used the driver, the child's places of CUDA give no memory. No pool is
//! freed at the end of the process, and a thread that ends calls no driver.

#![expect(unsafe_code, reason = "hands out raw memory and exports C symbols")]

mod c_api;
mod cupy;
mod device;
mod driver;
mod error;
mod guard;
mod guarded;
mod host;
pub mod memory;
mod place;
mod pools;
mod settings;
mod stderr;
mod torch;

pub use allocert_pool::Settings;

pub use c_api::{ALLOCATOR, allocert_place_allocator_v1};
pub use cupy::{allocert_place_cupy_free, allocert_place_cupy_malloc};
pub use error::Error;
pub use place::{CpuPlace, CudaPinnedPlace, CudaPlace, Place};
pub use torch::{allocert_place_torch_free, allocert_place_torch_malloc};
