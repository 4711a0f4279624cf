//! Values by address range. Ranges do not overlap. A look-up is two binary searches in arrays.

use std::cell::Cell;
use std::vec;

/// A chunk with more entries is split, so that an insertion moves few of them.
const CHUNK_LIMIT: usize = 64;

/// Entries by address, in chunks. No chunk is empty.
#[derive(Debug)]
pub(crate) struct RangeList<T> {
    /// The start of each chunk's first entry.
    firsts: Vec<u64>,
    chunks: Vec<Vec<Entry<T>>>,
    /// The chunk of the last look-up: the next one is often there again.
    latest: Cell<usize>,
}

/// A half-open range of addresses and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry<T> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) value: T,
}

/// Where an entry is, or would be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    chunk: usize,
    index: usize,
}

impl<T> Default for RangeList<T> {
    fn default() -> Self {
        Self { firsts: Vec::new(), chunks: Vec::new(), latest: Cell::new(0) }
    }
}

impl<T> RangeList<T> {
    /// The place of the first entry that ends after an address: it holds the address, or lies
    /// behind it.
    #[inline]
    pub(crate) fn seek(&self, address: u64) -> Place {
        let Some(Place { chunk, index }) = self.last_from(address) else {
            return Place { chunk: 0, index: 0 };
        };
        let ends_after = self.chunks[chunk][index].end > address;
        Place { chunk, index: index + usize::from(!ends_after) }
    }

    /// The place of the entry that begins at an address.
    #[inline]
    pub(crate) fn starting_at(&self, start: u64) -> Option<Place> {
        let place = self.last_from(start)?;
        (self.chunks[place.chunk][place.index].start == start).then_some(place)
    }

    pub(crate) fn get(&self, place: Place) -> Option<&Entry<T>> {
        self.chunks.get(place.chunk)?.get(place.index)
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut Entry<T>> {
        self.chunks.get_mut(place.chunk)?.get_mut(place.index)
    }

    /// The entries from a place on, in order.
    pub(crate) fn entries_from(&self, place: Place) -> impl Iterator<Item = &Entry<T>> {
        let chunks = self.chunks.get(place.chunk..).unwrap_or_default();
        let (first, others) = chunks.split_first().unzip();
        let first = first.and_then(|first| first.get(place.index..)).unwrap_or_default();
        first.iter().chain(others.unwrap_or_default().iter().flatten())
    }

    /// The same, to change their values.
    pub(crate) fn entries_from_mut(&mut self, place: Place) -> impl Iterator<Item = &mut Entry<T>> {
        let chunks = self.chunks.get_mut(place.chunk..).unwrap_or_default();
        let (first, others) = chunks.split_first_mut().unzip();
        let first = first.and_then(|first| first.get_mut(place.index..)).unwrap_or_default();
        first.iter_mut().chain(others.unwrap_or_default().iter_mut().flatten())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<T>> {
        self.chunks.iter_mut().flatten()
    }

    /// Puts entries, in order and apart from all others, in the place of as many as `count`.
    pub(crate) fn replace(&mut self, place: Place, count: usize, with: vec::Drain<'_, Entry<T>>) {
        let Place { chunk, index } = place;
        if self.chunks.is_empty() {
            self.chunks.push(with.collect());
            self.firsts.push(0);
            return self.settle(0);
        }
        let here = &mut self.chunks[chunk];
        let mut beyond = (index + count).saturating_sub(here.len());
        here.splice(index..index + count - beyond, with);
        while beyond > 0 {
            let next = &mut self.chunks[chunk + 1];
            let removed = beyond.min(next.len());
            next.drain(..removed);
            beyond -= removed;
            self.settle(chunk + 1);
        }
        self.settle(chunk);
    }

    /// Puts in one entry, apart from all others but one with the same start, which it replaces.
    pub(crate) fn insert(&mut self, entry: Entry<T>) {
        let place = match self.last_from(entry.start) {
            None => Place { chunk: 0, index: 0 },
            Some(Place { chunk, index }) => {
                let before = &mut self.chunks[chunk][index];
                if before.start == entry.start {
                    *before = entry;
                    return;
                }
                Place { chunk, index: index + 1 }
            }
        };
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
            self.firsts.push(0);
        }
        self.chunks[place.chunk].insert(place.index, entry);
        self.settle(place.chunk);
    }

    pub(crate) fn remove(&mut self, place: Place) -> T {
        let removed = self.chunks[place.chunk].remove(place.index);
        self.settle(place.chunk);
        removed.value
    }

    /// The last entry that begins at an address or before it.
    #[inline]
    fn last_from(&self, address: u64) -> Option<Place> {
        let chunk = self.chunk_of(address)?;
        let behind = self.chunks[chunk].partition_point(|entry| entry.start <= address);
        Some(Place { chunk, index: behind.checked_sub(1)? })
    }

    /// The last chunk that begins at an address or before it.
    #[inline]
    fn chunk_of(&self, address: u64) -> Option<usize> {
        if self.firsts.first().is_none_or(|first| address < *first) {
            return None;
        }
        let latest = self.latest.get();
        let begins = self.firsts.get(latest).is_some_and(|first| *first <= address);
        let goes_on = self.firsts.get(latest + 1).is_none_or(|next| address < *next);
        if begins && goes_on {
            return Some(latest);
        }
        let found = self.firsts.partition_point(|first| *first <= address).checked_sub(1)?;
        self.latest.set(found);
        Some(found)
    }

    /// Makes a chunk as it must be after its entries changed.
    fn settle(&mut self, chunk: usize) {
        while self.chunks[chunk].len() > CHUNK_LIMIT {
            let at = self.chunks[chunk].len() - CHUNK_LIMIT / 2;
            let last = self.chunks[chunk].split_off(at);
            self.firsts.insert(chunk + 1, last[0].start);
            self.chunks.insert(chunk + 1, last);
        }
        match self.chunks[chunk].first() {
            Some(first) => self.firsts[chunk] = first.start,
            None => {
                self.chunks.remove(chunk);
                self.firsts.remove(chunk);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn all(list: &RangeList<u64>) -> Vec<(u64, u64, u64)> {
        list.iter().map(|entry| (entry.start, entry.end, entry.value)).collect()
    }

    /// Ranges of four addresses at multiples of eight, in an order that looks random.
    #[test]
    fn it_holds_what_a_tree_holds() {
        let (mut list, mut tree) = (RangeList::default(), BTreeMap::new());
        let mut state = 1_u64;
        for turn in 0..20_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let start = (state >> 40) % 1000 * 8;
            if turn % 3 == 2 {
                let here = list.starting_at(start).map(|place| list.remove(place));
                assert_eq!(here, tree.remove(&start));
            } else {
                list.insert(Entry { start, end: start + 4, value: turn });
                tree.insert(start, turn);
            }
            let found = list.entries_from(list.seek(start + 4)).next().map(|entry| entry.start);
            assert_eq!(found, tree.range(start + 1..).next().map(|(start, _)| *start));
        }
        let expected: Vec<_> =
            tree.into_iter().map(|(start, value)| (start, start + 4, value)).collect();
        assert!(expected.len() > 500);
        assert_eq!(all(&list), expected);
        assert!(list.chunks.iter().all(|chunk| (1..=CHUNK_LIMIT).contains(&chunk.len())));
    }

    #[test]
    fn many_are_replaced_by_few_and_few_by_many() {
        let mut list = RangeList::default();
        let mut many: Vec<_> =
            (0..300).map(|at| Entry { start: at * 2, end: at * 2 + 1, value: at }).collect();
        list.replace(list.seek(0), 0, many.drain(..));
        assert_eq!(all(&list).len(), 300);
        let mut one = vec![Entry { start: 100, end: 500, value: 7 }];
        list.replace(list.seek(100), 200, one.drain(..));
        assert_eq!(all(&list).len(), 101);
        assert_eq!(all(&list)[49..52], [(98, 99, 49), (100, 500, 7), (500, 501, 250)]);
        list.replace(list.seek(0), 101, one.drain(..));
        assert!(all(&list).is_empty() && list.chunks.is_empty());
    }
}
