//! Free 2 MiB pages, in runs of neighbours.

use std::collections::BTreeMap;

pub(crate) const PAGE_SHIFT: u32 = 21;
pub(crate) const PAGE_BYTES: u64 = 1 << PAGE_SHIFT;

/// Which pages of a window are free. Runs of the same length are reused last in, first out.
#[derive(Debug)]
pub(crate) struct PageRuns {
    limit: u32,
    /// Pages from here on were never used.
    bump: u32,
    /// Start and length of free runs below `bump`, never touching each other.
    free: BTreeMap<u32, u32>,
    /// Starts of runs freed lately, by length. Hints: a run may be gone or part of a longer one.
    recent: BTreeMap<u32, Vec<u32>>,
}

const HINTS: usize = 64;

impl PageRuns {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, bump: 0, free: BTreeMap::new(), recent: BTreeMap::new() }
    }

    /// The first page of `count` free ones in a row.
    pub(crate) fn take(&mut self, count: u32) -> Option<u32> {
        while let Some(start) = self.recent.get_mut(&count).and_then(Vec::pop) {
            if self.carve(start, count) {
                return Some(start);
            }
        }
        if let Some((&start, _)) = self.free.iter().find(|(_, length)| **length >= count) {
            self.carve(start, count);
            return Some(start);
        }
        let start = self.bump;
        self.bump = start.checked_add(count).filter(|end| *end <= self.limit)?;
        Some(start)
    }

    pub(crate) fn give(&mut self, start: u32, count: u32) {
        let hints = self.recent.entry(count).or_default();
        if hints.len() == HINTS {
            hints.remove(0);
        }
        hints.push(start);
        let (mut first, mut length) = (start, count);
        if let Some((&before, &its)) = self.free.range(..start).next_back()
            && before + its == start
        {
            first = before;
            length += its;
        }
        if let Some(its) = self.free.remove(&(start + count)) {
            length += its;
        }
        self.free.insert(first, length);
    }

    fn carve(&mut self, start: u32, count: u32) -> bool {
        let Some((&first, &length)) = self.free.range(..=start).next_back() else { return false };
        let (end, wanted_end) = (first + length, start + count);
        if wanted_end > end {
            return false;
        }
        self.free.remove(&first);
        if first < start {
            self.free.insert(first, start - first);
        }
        if wanted_end < end {
            self.free.insert(wanted_end, end - wanted_end);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge() {
        let mut runs = PageRuns::new(8);
        assert_eq!(
            [runs.take(2), runs.take(2), runs.take(4), runs.take(1)],
            [Some(0), Some(2), Some(4), None]
        );
        runs.give(0, 2);
        runs.give(4, 4);
        runs.give(2, 2);
        assert_eq!(runs.take(8), Some(0));
        assert_eq!(runs.take(1), None);
    }
}
