//! The blocks that were freed on a stream, while work that is queued there may still use them.

use std::collections::BTreeMap;

/// The stream that a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamKey {
    /// A stream that runs one piece of work after another, whoever queues it.
    InOrder(u64),
    /// `CU_STREAM_PER_THREAD`: another stream for each thread.
    PerThread,
}

impl StreamKey {
    /// 0 and `CU_STREAM_LEGACY` name the same stream.
    pub(crate) fn new(handle: u64) -> Self {
        match handle {
            1 => Self::InOrder(0),
            2 => Self::PerThread,
            handle => Self::InOrder(handle),
        }
    }
}

/// Numbers of blocks by the stream that they were freed on, and by their room in bytes.
#[derive(Debug, Default)]
pub(crate) struct Streams(BTreeMap<StreamKey, BTreeMap<u64, Vec<u32>>>);

impl Streams {
    pub(crate) fn keep(&mut self, stream: StreamKey, room_bytes: u64, number: u32) {
        self.0.entry(stream).or_default().entry(room_bytes).or_default().push(number);
    }

    /// A block with room for `least_bytes`, but not for more than `most_bytes`, that was freed on
    /// this stream: work that is queued on it later uses the block later.
    pub(crate) fn take(
        &mut self,
        stream: StreamKey,
        least_bytes: u64,
        most_bytes: u64,
    ) -> Option<u32> {
        if stream == StreamKey::PerThread {
            return None;
        }
        let rooms = self.0.get_mut(&stream)?;
        let mut fitting = rooms.range_mut(least_bytes..=most_bytes);
        fitting.find_map(|(_, numbers)| numbers.pop())
    }

    /// Takes out all blocks of all streams.
    pub(crate) fn take_all(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Keeps what [`Streams::take_all`] took out after all.
    pub(crate) fn keep_all(&mut self, others: Self) {
        for (stream, rooms) in others.0 {
            for (room_bytes, numbers) in rooms {
                numbers.into_iter().for_each(|number| self.keep(stream, room_bytes, number));
            }
        }
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.values().flat_map(|rooms| rooms.values().flatten().copied())
    }
}
