//! Pieces of memory cut out of larger ones.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{Place, Status};

use super::system_memory::{self, Answer};

/// What is taken from the system at a time, unless more is asked for or less is there.
const CHUNK_BYTES: usize = 64 << 20;

/// The chunks of a place, and the ranges of them that are free, by address.
#[derive(Debug, Default)]
struct Chunks {
    chunks: BTreeMap<usize, usize>,
    free: BTreeMap<usize, usize>,
}

static PLACES: Mutex<BTreeMap<(i32, i32), Chunks>> = Mutex::new(BTreeMap::new());

fn with<T>(place: Place, work: impl FnOnce(&mut Chunks) -> T) -> T {
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    work(places.entry((place.kind, place.device)).or_default())
}

/// The first range that is long enough, from a new chunk where there is none.
pub(crate) fn take(place: Place, size_bytes: usize) -> Answer<usize> {
    with(place, |chunks| {
        let found = chunks.free.iter().find(|(_, length)| **length >= size_bytes);
        let (start, length) = match found {
            Some((start, length)) => (*start, *length),
            None => chunks.grow(place, size_bytes)?,
        };
        chunks.free.remove(&start);
        if length > size_bytes {
            chunks.free.insert(start + size_bytes, length - size_bytes);
        }
        Ok(start)
    })
}

pub(crate) fn give(place: Place, address: usize, size_bytes: usize) {
    with(place, |chunks| chunks.join(address, size_bytes));
}

/// Gives chunks that are all free back to the system.
pub(crate) fn trim(place: Place) -> Answer<usize> {
    with(place, |chunks| chunks.trim(place))
}

impl Chunks {
    fn grow(&mut self, place: Place, size_bytes: usize) -> Answer<(usize, usize)> {
        let wanted = size_bytes.max(CHUNK_BYTES);
        let (start, length) = match system_memory::take(place, wanted) {
            Err((Status::OUT_OF_MEMORY, _)) => {
                self.trim(place)?;
                (system_memory::take(place, size_bytes)?, size_bytes)
            }
            answer => (answer?, wanted),
        };
        self.chunks.insert(start, length);
        self.free.insert(start, length);
        Ok((start, length))
    }

    /// Makes one free range of a piece and the free ranges beside it in its chunk.
    fn join(&mut self, address: usize, size_bytes: usize) {
        let (mut start, mut end) = (address, address + size_bytes);
        let before = self.free.range(..start).next_back().map(|(at, length)| (*at, at + length));
        if let Some((at, _)) = before.filter(|(_, to)| *to == start)
            && !self.chunks.contains_key(&start)
        {
            self.free.remove(&at);
            start = at;
        }
        if !self.chunks.contains_key(&end)
            && let Some(length) = self.free.remove(&end)
        {
            end += length;
        }
        self.free.insert(start, end - start);
    }

    fn trim(&mut self, place: Place) -> Answer<usize> {
        let whole: Vec<(usize, usize)> = self
            .chunks
            .iter()
            .filter(|(start, length)| self.free.get(start) == Some(length))
            .map(|(start, length)| (*start, *length))
            .collect();
        let mut given_bytes = 0;
        for (start, length) in whole {
            self.free.remove(&start);
            self.chunks.remove(&start);
            system_memory::give(place, start, length)?;
            given_bytes += length;
        }
        Ok(given_bytes)
    }
}
