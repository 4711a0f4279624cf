//! Requests and frees in the order of a stream.
//!
//! Memory that is freed on a stream serves requests on this stream at once, cut and joined as it is
//! needed. For all others it is not idle before the device has done all its work: that is waited
//! for when memory runs short, and at release(). No event is recorded, and no stream is named to
//! the driver, so a stream may end at any time.

use std::sync::atomic::Ordering::Relaxed;

use super::{ADDRESS_SPACE_BYTES, Given, Pool};
use crate::{Cache, Error, StreamKey, System};

impl<S: System> Pool<S> {
    /// A block for work that is queued on this stream from now on.
    ///
    /// # Errors
    /// As for [`Pool::alloc`].
    pub fn alloc_on(
        &self,
        stream: StreamKey,
        cache: Option<&Cache>,
        size_bytes: u64,
    ) -> Result<Given, Error<S::Error>> {
        match self.take_from_stream(stream, size_bytes) {
            Some(given) => Ok(given),
            None => self.alloc(cache, size_bytes),
        }
    }

    /// Takes a block back that work queued on this stream may still use.
    ///
    /// # Errors
    /// As for [`Pool::free`].
    pub fn free_on(&self, stream: StreamKey, address: u64) -> Result<(), Error<S::Error>> {
        let mut engine = self.engine();
        let number = self.map.find(address, &self.blocks).ok_or(Error::NoBlock(address))?;
        let block = self.blocks.get(number);
        self.end(block, address)?;
        self.used_bytes.fetch_sub(block.size_bytes() as i64, Relaxed);
        let engine = &mut *engine;
        let owner = engine.streams.owner(stream, &mut engine.fit);
        self.give(engine, owner, number);
        Ok(())
    }

    fn take_from_stream(&self, stream: StreamKey, size_bytes: u64) -> Option<Given> {
        let need_bytes = Self::need_bytes(size_bytes);
        if need_bytes > ADDRESS_SPACE_BYTES || self.closed.load(Relaxed) {
            return None;
        }
        let class = self.classes.of(need_bytes);
        let room_bytes = self.room_bytes(class, need_bytes);
        let mut engine = self.engine();
        let owner = engine.streams.serving(stream)?;
        self.take_shared(&mut engine, owner, class, room_bytes, size_bytes)
    }

    /// Waits for the device if streams have memory, which is idle then. The lock `growing` is held.
    pub(super) fn drain_streams(&self) {
        let taken = {
            let engine = &mut *self.engine();
            engine.streams.take_all(&engine.fit)
        };
        if taken.is_empty() {
            return;
        }
        let waited = self.system.wait_for_work();
        let engine = &mut *self.engine();
        match waited {
            Ok(()) => engine.streams.end(taken, &mut engine.fit),
            // Nobody knows what still runs.
            Err(_) => engine.streams.put_back(taken, &mut engine.fit),
        }
    }
}
