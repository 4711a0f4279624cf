//! Whose the memory is that was freed on a stream, while work that is queued there may use it.

use std::collections::BTreeMap;

use allocert_fit::{Fit, Owner};

/// The stream that a handle of the driver names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamKey {
    /// A stream that runs one piece of work after another, whoever queues it.
    InOrder(u64),
    /// Any stream: `CU_STREAM_PER_THREAD` is another one for each thread, and some callers name
    /// none.
    Any,
}

impl StreamKey {
    /// 0 and `CU_STREAM_LEGACY` name the same stream.
    #[must_use]
    pub fn new(handle: u64) -> Self {
        match handle {
            1 => Self::InOrder(0),
            2 => Self::Any,
            handle => Self::InOrder(handle),
        }
    }
}

/// The owners of freed memory, one for each stream.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    owners: BTreeMap<StreamKey, Owner>,
    /// Owners that have nothing, for the next streams.
    vacant: Vec<Owner>,
}

impl Streams {
    /// Who has the memory that was freed on this stream.
    pub(crate) fn owner(&mut self, stream: StreamKey, fit: &mut Fit) -> Owner {
        let vacant = &mut self.vacant;
        let new = || vacant.pop().unwrap_or_else(|| fit.add_owner());
        *self.owners.entry(stream).or_insert_with(new)
    }

    /// Whose memory serves requests on this stream: work that is queued there later uses it later.
    pub(crate) fn serving(&self, stream: StreamKey) -> Option<Owner> {
        let serves = stream != StreamKey::Any;
        serves.then(|| self.owners.get(&stream).copied()).flatten()
    }

    /// Takes out all owners that have something. What is freed later goes to other ones.
    pub(crate) fn take_all(&mut self, fit: &Fit) -> Vec<(StreamKey, Owner)> {
        let (empty, taken) = std::mem::take(&mut self.owners)
            .into_iter()
            .partition(|(_, owner)| fit.has_none(*owner));
        let empty: Vec<(StreamKey, Owner)> = empty;
        self.vacant.extend(empty.into_iter().map(|(_, owner)| owner));
        taken
    }

    /// The memory of the owners that [`Streams::take_all`] took out is idle: nothing uses it.
    pub(crate) fn end(&mut self, taken: Vec<(StreamKey, Owner)>, fit: &mut Fit) {
        for (_, owner) in taken {
            fit.hand_over(owner, Owner::FIRST);
            self.vacant.push(owner);
        }
    }

    /// The memory stays with its streams after all.
    pub(crate) fn put_back(&mut self, taken: Vec<(StreamKey, Owner)>, fit: &mut Fit) {
        for (stream, owner) in taken {
            let newer = self.owners.insert(stream, owner);
            if let Some(newer) = newer {
                fit.hand_over(newer, owner);
                self.vacant.push(newer);
            }
        }
    }
}
