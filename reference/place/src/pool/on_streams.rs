//! Requests and frees in the order of a stream.
//!
//! A block that is freed on a stream serves requests on this stream at once. For all others it is
//! not idle memory before the device has done all its work: that is waited for when memory runs
//! short, and at release(). No event is recorded, and no stream is named to the driver, so a stream
//! may end at any time.

use std::sync::atomic::Ordering::Relaxed;

use super::{ADDRESS_SPACE_BYTES, Pool, lock};
use crate::Error;
use crate::cache::Cache;
use crate::streams::StreamKey;
use crate::system::System;

impl<S: System> Pool<S> {
    /// A block for work that is queued on this stream from now on.
    pub(crate) fn alloc_on(
        &self,
        stream: StreamKey,
        cache: Option<&Cache>,
        size_bytes: u64,
    ) -> Result<u64, Error> {
        match self.take_from_stream(stream, size_bytes) {
            Some(address) => Ok(address),
            None => self.alloc(cache, size_bytes),
        }
    }

    /// Takes a block back that work queued on this stream may still use.
    pub(crate) fn free_on(&self, stream: StreamKey, address: u64) -> Result<(), Error> {
        let mut streams = lock(&self.streams);
        let engine = self.engine();
        let number = self.map.find(address, &self.blocks).ok_or(Error::NoBlock(address))?;
        let size_bytes = self.end(number, address)?;
        self.used_bytes.fetch_sub(size_bytes as i64, Relaxed);
        let room_bytes = match self.blocks.get(number).class() {
            Some(class) => self.classes.room_bytes(class),
            None => engine.fit.size_bytes(allocert_fit::BlockId(number)),
        };
        streams.keep(stream, room_bytes, number);
        Ok(())
    }

    fn take_from_stream(&self, stream: StreamKey, size_bytes: u64) -> Option<u64> {
        let need_bytes = size_bytes.saturating_add(Self::GUARD);
        if need_bytes > ADDRESS_SPACE_BYTES || self.closed.load(Relaxed) {
            return None;
        }
        let class = self.classes.of(need_bytes);
        let least_bytes = self.room_bytes(class, need_bytes);
        // A block without a class may be a little longer than needed.
        let most_bytes = if class.is_some() { least_bytes } else { least_bytes / 8 * 9 };
        let mut streams = lock(&self.streams);
        let number = streams.take(stream, least_bytes, most_bytes)?;
        self.used_bytes.fetch_add(size_bytes as i64, Relaxed);
        Some(self.begin(number, size_bytes))
    }

    /// Waits for the device if streams have blocks, which are idle memory then. The lock `growing`
    /// is held.
    pub(super) fn drain_streams(&self) {
        let taken = lock(&self.streams).take_all();
        if taken.numbers().next().is_none() {
            return;
        }
        if self.system.wait_for_work().is_err() {
            // Nobody knows what still runs.
            return lock(&self.streams).keep_all(taken);
        }
        let mut engine = self.engine();
        taken.numbers().for_each(|number| self.give(&mut engine, number));
    }
}
