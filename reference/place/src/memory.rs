//! Alloc, Free and Used of Paddle's text, for any place.
//!
//! ```text
//! let block = memory::alloc(CudaPlace(2), 4 << 10)?;
//! assert_eq!(memory::used(CudaPlace(2))?, 4 << 10);
//! memory::free(CudaPlace(2), block)?;
//! ```

use std::ffi::c_void;
use std::ptr;

use allocert_pool::{Given, Settings, StreamKey};

use crate::pools::{self, thread};
use crate::{Error, Place};

/// The settings of all places that are used later. `false` if there are some already: then nothing
/// changes. Without this call the environment gives them at the first use:
/// `ALLOCERT_PLACE_INITIAL_POOL_BYTES` and `ALLOCERT_PLACE_MAX_POOL_BYTES`.
pub fn configure(settings: Settings) -> bool {
    pools::configure(settings)
}

/// At least `size_bytes` of memory at the place, aligned to 64 bytes, or to 256 on a device. Null
/// for 0 bytes.
///
/// # Errors
/// `OutOfMemory`; `NoPlace`; `Driver` if the driver fails or is missing; `Forked` in a child whose
/// parent used the driver.
#[inline]
pub fn alloc(place: impl Into<Place>, size_bytes: usize) -> Result<*mut c_void, Error> {
    let size_bytes = size_bytes as u64;
    let given = match place.into() {
        Place::Cpu if size_bytes != 0 => {
            let pool = pools::cpu();
            pool.alloc(thread::cache(thread::CPU, pool), size_bytes)
        }
        Place::Cuda(device) if size_bytes != 0 => {
            let pool = pools::cuda(device)?;
            pool.alloc(thread::cache(thread::CUDA + device as usize, pool), size_bytes)
        }
        Place::CudaPinned if size_bytes != 0 => {
            let pool = pools::pinned()?;
            pool.alloc(thread::cache(thread::PINNED, pool), size_bytes)
        }
        Place::Cpu => return Ok(ptr::null_mut()),
        Place::Cuda(device) => return pools::cuda(device).map(|_| ptr::null_mut()),
        Place::CudaPinned => return pools::pinned().map(|_| ptr::null_mut()),
    };
    Ok(pointer(given?))
}

/// Gives a block back that [`alloc`] gave at the same place. Null is ignored.
///
/// # Errors
/// `FreedBefore` and `NoBlock` for addresses of no block; `Corrupted` if somebody wrote behind a
/// block of the host; `NoPlace`.
#[inline]
pub fn free(place: impl Into<Place>, block: *mut c_void) -> Result<(), Error> {
    let address = block.expose_provenance() as u64;
    let unknown = || if address == 0 { Ok(()) } else { Err(Error::NoBlock(address)) };
    match place.into() {
        Place::Cpu if address != 0 => {
            let pool = pools::cpu();
            pool.free(thread::cache(thread::CPU, pool), address)?;
        }
        Place::Cuda(device) => match pools::cuda_if_made(device)? {
            Some(pool) if address != 0 => {
                pool.free(thread::cache(thread::CUDA + device as usize, pool), address)?;
            }
            _ => unknown()?,
        },
        Place::CudaPinned => match pools::pinned_if_made()? {
            Some(pool) if address != 0 => {
                pool.free(thread::cache(thread::PINNED, pool), address)?;
            }
            _ => unknown()?,
        },
        Place::Cpu => {}
    }
    Ok(())
}

/// How many bytes of the place callers have, as they asked for them.
///
/// # Errors
/// `NoPlace`.
pub fn used(place: impl Into<Place>) -> Result<usize, Error> {
    let bytes = match place.into() {
        Place::Cpu => pools::cpu().used_bytes(),
        Place::Cuda(device) => pools::cuda_if_made(device)?.map_or(0, |pool| pool.used_bytes()),
        Place::CudaPinned => pools::pinned_if_made()?.map_or(0, |pool| pool.used_bytes()),
    };
    Ok(bytes as usize)
}

/// Gives all chunks of the place from which no caller has a block back to the system. How many
/// bytes that were.
///
/// # Errors
/// `NoPlace`.
pub fn release(place: impl Into<Place>) -> Result<usize, Error> {
    let bytes = match place.into() {
        Place::Cpu => pools::cpu().release(),
        Place::Cuda(device) => pools::cuda_if_made(device)?.map_or(0, |pool| pool.release()),
        Place::CudaPinned => pools::pinned_if_made()?.map_or(0, |pool| pool.release()),
    };
    Ok(bytes as usize)
}

/// As [`alloc`] for a device, for work that is queued from now on to the stream with this handle.
///
/// # Errors
/// As for [`alloc`].
pub fn alloc_on_stream(device: i32, stream: u64, size_bytes: usize) -> Result<*mut c_void, Error> {
    let pool = pools::cuda(device)?;
    if size_bytes == 0 {
        return Ok(ptr::null_mut());
    }
    let cache = thread::cache(thread::CUDA + device as usize, pool);
    Ok(pointer(pool.alloc_on(StreamKey::new(stream), cache, size_bytes as u64)?))
}

/// As [`free`] for a device. Work that was queued to the stream with this handle may still use the
/// block: it is given out at once for the same stream only, and for others after the device has
/// done its work.
///
/// # Errors
/// As for [`free`].
pub fn free_on_stream(device: i32, stream: u64, block: *mut c_void) -> Result<(), Error> {
    free_after(device, StreamKey::new(stream), block)
}

/// As [`free_on_stream`] for work that was queued to any stream of the device: the block is given
/// out again after the device has done its work.
///
/// # Errors
/// As for [`free`].
pub fn free_on_any_stream(device: i32, block: *mut c_void) -> Result<(), Error> {
    free_after(device, StreamKey::Any, block)
}

fn free_after(device: i32, stream: StreamKey, block: *mut c_void) -> Result<(), Error> {
    match (pools::cuda_if_made(device)?, block.expose_provenance() as u64) {
        (_, 0) => Ok(()),
        (Some(pool), address) => Ok(pool.free_on(stream, address)?),
        (None, address) => Err(Error::NoBlock(address)),
    }
}

fn pointer(given: Given) -> *mut c_void {
    ptr::with_exposed_provenance_mut(given.address as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuPlace, CudaPlace};

    /// The example of Paddle's text, on the host. No other test of this program uses the place.
    #[test]
    fn used_follows_alloc_and_free() {
        assert_eq!(used(CpuPlace), Ok(0));
        let block = alloc(CpuPlace, 4 << 10).expect("memory");
        assert!(block.addr().is_multiple_of(64) && used(CpuPlace) == Ok(4 << 10));
        assert!(!configure(Settings::default()), "a place has its settings already");
        assert_eq!([free(CpuPlace, block), free(CpuPlace, ptr::null_mut())], [Ok(()); 2]);
        assert!(free(CpuPlace, block).is_err());
        assert_eq!(used(CpuPlace), Ok(0));
        assert!(release(CpuPlace).is_ok_and(|bytes| bytes >= 32 << 20));
        assert_eq!(alloc(CpuPlace, 0), Ok(ptr::null_mut()));
        assert_eq!(used(CudaPlace(-1)), Err(Error::NoPlace(Place::Cuda(-1))));
    }
}
