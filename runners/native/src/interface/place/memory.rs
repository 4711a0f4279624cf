//! Bytes of blocks, wherever they lie. The driver calls are the worker's own.

use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{CUDA, Place};
use allocert_cuda::{Context, Driver, DriverError, Span, Stream};
use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::Block;
use crate::contexts::Contexts;
use crate::device_bytes::{fill_device, is_filled_device};
use crate::host_bytes;
use crate::recorder::Recorder;
use crate::step_result::driver_error;

/// When the worker makes a device current for a call of the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenCurrent {
    Always,
    /// Where the thread has no current context.
    IfNone,
}

/// What the worker reaches memory with.
pub(crate) struct Memory<'a> {
    recorder: &'a Recorder,
    driver: Option<Driver>,
    contexts: Mutex<Contexts>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorder: &'a Recorder, driver: Option<Driver>) -> Self {
        Self { recorder, driver, contexts: Mutex::default() }
    }

    /// Makes a context of the worker current on this thread, or none.
    pub(crate) fn set_current(&self, device: Option<u32>) -> Result<(), Raised> {
        let driver = self.driver()?;
        let switch = || {
            let context = device.map(|device| self.context(driver, device)).transpose()?;
            driver.ctx_set_current(context)
        };
        self.recorder.as_harness(switch).map_err(driver_error)
    }

    /// Does something of the subject's while the primary context of the place's device is current,
    /// and leaves the context current that was. Also says whether the subject did so: nothing for
    /// memory of the host.
    pub(crate) fn with_device_current<T>(
        &self,
        place: Place,
        when: WhenCurrent,
        work: impl FnOnce() -> T,
    ) -> Result<(T, Option<bool>), Raised> {
        let Some(device) = device(place) else { return Ok((work(), None)) };
        let driver = self.driver()?;
        let begin = || {
            let context = self.context(driver, device)?;
            let found = driver.ctx_get_current()?;
            if when == WhenCurrent::Always || found.is_none() {
                driver.ctx_set_current(Some(context))?;
            }
            Ok((found, driver.ctx_get_current()?))
        };
        let (found, given) = self.recorder.as_harness(begin).map_err(driver_error)?;
        let result = work();
        let end = || {
            let left = driver.ctx_get_current()?;
            driver.ctx_set_current(found)?;
            Ok(left == given)
        };
        let is_kept = self.recorder.as_harness(end).map_err(driver_error)?;
        Ok((result, Some(is_kept)))
    }

    /// The device on which the driver says that an address lies.
    pub(crate) fn device_of(&self, place: Place, address: u64) -> Option<i32> {
        if place.kind != CUDA || address == 0 {
            return None;
        }
        let driver = self.driver?;
        self.recorder.as_harness(|| driver.pointer_get_device(address)).ok().flatten()
    }

    /// Whether an address lies in the primary context of its place's device, or in another one.
    /// Nothing where the driver names no context.
    pub(crate) fn context_of(
        &self,
        place: Place,
        address: u64,
    ) -> Result<Option<&'static str>, Raised> {
        let Some(device) = device(place) else { return Ok(None) };
        let driver = self.driver()?;
        let ask = || {
            let primary = self.context(driver, device)?;
            let context = driver.pointer_get_context(address)?;
            Ok(context.map(|context| if context == primary { "primary" } else { "other" }))
        };
        self.recorder.as_harness(ask).map_err(driver_error)
    }

    /// Takes memory of a device for the worker itself.
    pub(crate) fn occupy(&self, device: u32, size_bytes: u64) -> Result<u64, Raised> {
        self.in_context(device, |driver| driver.mem_alloc(size_bytes))
    }

    /// Makes a stream on a device.
    pub(crate) fn new_stream(&self, device: u32) -> Result<Stream, Raised> {
        self.in_context(device, Driver::stream_create)
    }

    /// Destroys a stream.
    pub(crate) fn end_stream(&self, stream: Stream) {
        self.recorder.as_harness(|| drop(stream));
    }

    pub(crate) fn queue_fill(
        &self,
        place: Place,
        block: Block,
        byte: u8,
        stream: &Stream,
    ) -> Result<(), Raised> {
        let Block { address, size_bytes } = block;
        let device = device(place).unwrap_or(0);
        self.in_context(device, |driver| {
            // SAFETY: an address that the library gave out as device memory, to which nothing on
            // the host refers; the driver refuses one that is not memory of this process.
            let span = unsafe { Span::foreign(address, size_bytes, None) };
            driver.memset_d8_async(&span, byte, stream)
        })
    }

    pub(crate) fn synchronize(&self, stream: &Stream) -> Result<(), Raised> {
        let driver = self.driver()?;
        self.recorder.as_harness(|| driver.stream_synchronize(stream)).map_err(driver_error)
    }

    /// Gives such memory back.
    pub(crate) fn vacate(&self, device: u32, address: u64) -> Result<(), Raised> {
        self.in_context(device, |driver| driver.mem_free(address))
    }

    pub(crate) fn fill(&self, place: Place, block: Block, byte: u8) -> Result<(), Raised> {
        let Block { address, size_bytes } = block;
        match device(place) {
            Some(device) => {
                self.in_context(device, |driver| fill_device(driver, address, byte, size_bytes))
            }
            None => host_bytes::fill(address as usize, size_bytes, byte),
        }
    }

    pub(crate) fn read(&self, place: Place, block: Block) -> Result<Facts, Raised> {
        let Block { address, size_bytes } = block;
        host_bytes::read_uniform(size_bytes, |at, target| match device(place) {
            Some(device) => self.in_context(device, |driver| {
                // SAFETY: an address that the library gave out as device memory; the driver
                // refuses one that is not memory of this process.
                unsafe { driver.memcpy_dtoh(target, address.wrapping_add(at as u64)) }
            }),
            None => host_bytes::read_chunk((address as usize).wrapping_add(at), target, size_bytes),
        })
    }

    pub(crate) fn is_filled(&self, place: Place, block: Block, byte: u8) -> bool {
        let Block { address, size_bytes } = block;
        match device(place) {
            Some(device) => self
                .in_context(device, |driver| is_filled_device(driver, address, byte, size_bytes))
                .unwrap_or(false),
            None => {
                let read = self.read(place, block);
                read.is_ok_and(|facts| facts.get("uniform") == Some(&json!(byte)))
            }
        }
    }

    /// Does something in the primary context of a device, and leaves the context current that was.
    fn in_context<T>(
        &self,
        device: u32,
        mut work: impl FnMut(Driver) -> Result<T, DriverError>,
    ) -> Result<T, Raised> {
        let driver = self.driver()?;
        let work = || {
            driver.ctx_push_current(self.context(driver, device)?)?;
            let result = work(driver);
            driver.ctx_pop_current()?;
            result
        };
        self.recorder.as_harness(work).map_err(driver_error)
    }

    fn context(&self, driver: Driver, device: u32) -> Result<Context, DriverError> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner).of(driver, device)
    }

    fn driver(&self) -> Result<Driver, Raised> {
        self.driver.ok_or_else(|| driver_error(DriverError::Missing))
    }
}

/// The device of a place whose memory the driver alone reaches.
fn device(place: Place) -> Option<u32> {
    (place.kind == CUDA).then(|| u32::try_from(place.device).unwrap_or(0))
}
