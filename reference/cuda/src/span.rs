use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use cudarc::driver::sys;

use crate::error::{DriverError, check};
use crate::memory::host_size;
use crate::stream::Keep;
use crate::{Context, Driver, Stream};

/// A range of memory that a device can reach, and that stays allocated as long as this value or
/// another part of it.
///
/// Nothing on the host refers into it by way of this crate, so that work on it is safe whenever it
/// runs.
#[derive(Clone)]
pub struct Span {
    pointer: u64,
    size_bytes: u64,
    keep: Option<Keep>,
}

/// An allocation of the driver, freed with it.
struct Allocation {
    driver: Driver,
    context: Option<Context>,
    pointer: u64,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // The end of the context freed the memory, and `drop` reports no error.
        let _ = match self.context {
            Some(context) => self.driver.in_context(context, || self.driver.mem_free(self.pointer)),
            None => self.driver.mem_free(self.pointer),
        };
    }
}

impl Span {
    /// Memory that somebody else owns.
    ///
    /// # Safety
    /// `size_bytes` from `pointer` are memory that a device can reach, and stay so as long as
    /// `keep`; without one, as long as the value made here and its parts. No reference to them
    /// exists meanwhile.
    #[must_use]
    pub unsafe fn foreign(pointer: u64, size_bytes: u64, keep: Option<Keep>) -> Self {
        Self { pointer, size_bytes, keep }
    }

    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) fn holds(&self, addresses: &RangeInclusive<u64>) -> bool {
        let from = addresses.start().checked_sub(self.pointer);
        from.is_some_and(|from| {
            from < self.size_bytes && addresses.end() - addresses.start() < self.size_bytes - from
        })
    }

    /// The bytes from one offset to another; `None` if there are not that many.
    #[must_use]
    pub fn part(&self, bytes: Range<u64>) -> Option<Self> {
        let inside = bytes.start <= bytes.end && bytes.end <= self.size_bytes;
        inside.then(|| Self {
            pointer: self.pointer + bytes.start,
            size_bytes: bytes.end - bytes.start,
            keep: self.keep.clone(),
        })
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Span({:#x} + {})", self.pointer, self.size_bytes)
    }
}

/// Work on device memory. Errors are whatever the driver answers; two spans that differ in size are
/// an invalid value.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuMemAlloc` in the current context; the memory is freed with the last span of it.
    pub fn span_alloc(self, size_bytes: u64) -> Result<Span, DriverError> {
        let context = self.ctx_get_current()?;
        let pointer = self.mem_alloc(size_bytes)?;
        let keep: Keep = Arc::new(Allocation { driver: self, context, pointer });
        Ok(Span { pointer, size_bytes, keep: Some(keep) })
    }

    /// `cuMemsetD8Async`.
    pub fn memset_d8_async(self, to: &Span, value: u8, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: the memory and the stream are alive (Span, Stream); the driver keeps the memory
        // until queued work has run.
        let result = unsafe {
            sys::cuMemsetD8Async(to.pointer, value, host_size(to.size_bytes), stream.raw())
        };
        check("cuMemsetD8Async", result)
    }

    /// `cuMemcpyDtoDAsync`.
    pub fn memcpy_dtod_async(
        self,
        to: &Span,
        from: &Span,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        same_size("cuMemcpyDtoDAsync", to, from.size_bytes)?;
        // SAFETY: as for memset_d8_async; both have that many bytes.
        let result = unsafe {
            sys::cuMemcpyDtoDAsync_v2(
                to.pointer,
                from.pointer,
                host_size(to.size_bytes),
                stream.raw(),
            )
        };
        check("cuMemcpyDtoDAsync", result)
    }

    /// `cuMemcpyHtoD` of a whole span.
    pub fn span_write(self, to: &Span, from: &[u8]) -> Result<(), DriverError> {
        same_size("cuMemcpyHtoD", to, from.len() as u64)?;
        // SAFETY: that many bytes of memory are alive, and nobody refers into them (Span).
        unsafe { self.memcpy_htod(to.pointer, from) }
    }

    /// `cuMemcpyDtoH` of a whole span.
    pub fn span_read(self, to: &mut [u8], from: &Span) -> Result<(), DriverError> {
        same_size("cuMemcpyDtoH", from, to.len() as u64)?;
        // SAFETY: that many bytes of memory are alive (Span).
        unsafe { self.memcpy_dtoh(to, from.pointer) }
    }
}

fn same_size(call: &'static str, span: &Span, bytes: u64) -> Result<(), DriverError> {
    match span.size_bytes == bytes {
        true => Ok(()),
        false => Err(DriverError::Call { call, code: DriverError::INVALID_VALUE }),
    }
}
