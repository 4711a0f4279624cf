//! The known content of memory: ranges, and the byte that was written to each.

/// The most that one step writes or reads, so that sequences are fast.
pub(crate) const LONGEST_BYTES: u64 = 64 << 10;

/// Ranges in order; none is empty, no two overlap.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenBytes(Vec<Range>);

/// `start..end` holds `byte` throughout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) byte: u8,
}

impl WrittenBytes {
    /// `start..end` was written.
    pub(crate) fn fill(&mut self, start: u64, end: u64, byte: u8) {
        if start == end {
            return;
        }
        let mut kept = Vec::with_capacity(self.0.len() + 2);
        for range in &self.0 {
            kept.extend(part(*range, range.start, range.end.min(start)));
            kept.extend(part(*range, range.start.max(end), range.end));
        }
        kept.push(Range { start, end, byte });
        kept.sort_unstable_by_key(|range| range.start);
        self.0 = kept;
    }

    /// The byte that fills all of `start..end`, if it is known to be one.
    pub(crate) fn uniform(&self, start: u64, end: u64) -> Option<u8> {
        let mut due = start;
        let mut byte = None;
        for range in self.0.iter().filter(|range| range.end > start && range.start < end) {
            if range.start > due || byte.is_some_and(|byte| byte != range.byte) {
                return None;
            }
            (due, byte) = (range.end, Some(range.byte));
        }
        byte.filter(|_| due >= end)
    }

    /// What is known before `end`.
    pub(crate) fn until(&self, end: u64) -> Self {
        Self(self.within(0, end))
    }

    /// The ranges that meet `start..end`, cut to it.
    pub(crate) fn within(&self, start: u64, end: u64) -> Vec<Range> {
        self.0
            .iter()
            .filter_map(|range| part(*range, range.start.max(start), range.end.min(end)))
            .collect()
    }
}

fn part(range: Range, start: u64, end: u64) -> Option<Range> {
    (start < end).then_some(Range { start, end, ..range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_write_cuts_earlier_ones() {
        let mut bytes = WrittenBytes::default();
        bytes.fill(0, 100, 1);
        bytes.fill(40, 60, 2);
        assert_eq!(
            (bytes.uniform(0, 40), bytes.uniform(40, 60), bytes.uniform(60, 100)),
            (Some(1), Some(2), Some(1))
        );
        assert_eq!((bytes.uniform(39, 41), bytes.uniform(90, 101)), (None, None));
        bytes.fill(30, 40, 2);
        assert_eq!(bytes.uniform(30, 60), Some(2));
        assert_eq!(bytes.within(50, 70).len(), 2);
    }
}
