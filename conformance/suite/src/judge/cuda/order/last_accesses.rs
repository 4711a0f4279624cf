//! The last accesses to each range of addresses: those that no later one supersedes.

use std::collections::BTreeMap;

use crate::judge::cuda::order::access::Access;

/// An access that meets more pieces than this merges them, so that the work stays linear.
const PIECE_LIMIT: usize = 256;

/// Accesses by address. Pieces do not overlap; each access lies in all the pieces of its range.
#[derive(Debug, Default)]
pub(crate) struct LastAccesses {
    pieces: BTreeMap<u64, Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    end: u64,
    accesses: Vec<Access>,
}

impl LastAccesses {
    /// Every access that meets a range, with the addresses where they meet.
    pub(crate) fn meeting(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = (Access, (u64, u64))> {
        // Most ranges are just those of a piece.
        let exact = self.pieces.get_key_value(&start);
        let covers = exact.is_some_and(|(_, piece)| piece.end >= end);
        let first = exact.or_else(|| {
            self.pieces.range(..start).next_back().filter(|(_, piece)| piece.end > start)
        });
        let after = start.saturating_add(1);
        let rest = (!covers).then(|| self.pieces.range(after..end.max(after)));
        first.into_iter().chain(rest.into_iter().flatten()).flat_map(move |(from, piece)| {
            let overlap = ((*from).max(start), piece.end.min(end));
            piece.accesses.iter().map(move |access| (*access, overlap))
        })
    }

    /// Adds an access to `start..end` and removes those there that are `superseded`.
    pub(crate) fn add(
        &mut self,
        start: u64,
        end: u64,
        access: Access,
        superseded: impl Fn(&Access) -> bool,
    ) {
        if start >= end {
            return;
        }
        // Most accesses are to just the range of an earlier one.
        if let Some(piece) = self.pieces.get_mut(&start).filter(|piece| piece.end == end) {
            piece.accesses.retain(|earlier| !superseded(earlier));
            piece.accesses.push(access);
            return;
        }
        self.split(start);
        self.split(end);
        let (mut gaps, mut met) = (Vec::new(), Vec::new());
        let (mut at, mut alike) = (start, true);
        for (from, piece) in self.pieces.range_mut(start..end) {
            if *from > at {
                gaps.push((at, *from));
            }
            at = piece.end;
            met.push(*from);
            piece.accesses.retain(|earlier| !superseded(earlier));
            alike &= piece.accesses.is_empty();
            piece.accesses.push(access);
        }
        if at < end {
            gaps.push((at, end));
        }
        if met.len() + gaps.len() > 1 && alike {
            return self.make_one(start, end, access, &met);
        }
        for (from, end) in gaps {
            self.pieces.insert(from, Piece { end, accesses: vec![access] });
        }
        if met.len() > PIECE_LIMIT && !alike {
            self.merge(start, end);
        }
    }

    /// Makes one piece of the pieces at `met`, which are all that lie in a range and have no other
    /// access left.
    fn make_one(&mut self, start: u64, end: u64, access: Access, met: &[u64]) {
        met.iter().filter(|from| **from != start).for_each(|from| drop(self.pieces.remove(from)));
        let piece = self.pieces.entry(start).or_insert_with(|| Piece { end, accesses: Vec::new() });
        piece.end = end;
        piece.accesses.clear();
        piece.accesses.push(access);
    }

    /// Removes all accesses to a range.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.split(start);
        self.split(end);
        while let Some(from) = self.pieces.range(start..end).next().map(|(from, _)| *from) {
            self.pieces.remove(&from);
        }
    }

    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end > at {
            let rest = Piece { end: piece.end, accesses: piece.accesses.clone() };
            piece.end = at;
            self.pieces.insert(at, rest);
        }
    }

    /// Makes one piece of many. It still tells which streams had access, but no longer where.
    fn merge(&mut self, start: u64, end: u64) {
        let mut accesses: Vec<Access> = Vec::new();
        for (access, _) in self.meeting(start, end) {
            let same = |one: &&mut Access| {
                (one.epoch.slot, one.kind, one.by_subject, one.conjectured)
                    == (access.epoch.slot, access.kind, access.by_subject, access.conjectured)
            };
            match accesses.iter_mut().find(same) {
                Some(one) if one.epoch.time >= access.epoch.time => one.merged = true,
                Some(one) => *one = Access { merged: true, ..access },
                None => accesses.push(Access { merged: true, ..access }),
            }
        }
        self.forget(start, end);
        self.pieces.insert(start, Piece { end, accesses });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::cuda::order::access::AccessKind;
    use crate::judge::cuda::order::vector_clock::Epoch;

    fn access(event: u32, kind: AccessKind) -> Access {
        Access {
            epoch: Epoch { slot: event, time: 1 },
            event,
            kind,
            by_subject: true,
            merged: false,
            conjectured: false,
        }
    }

    fn all(memory: &LastAccesses) -> Vec<(u32, u64, u64)> {
        memory
            .meeting(0, u64::MAX)
            .map(|(access, (start, end))| (access.event, start, end))
            .collect()
    }

    #[test]
    fn ranges_are_kept_to_the_byte() {
        let mut memory = LastAccesses::default();
        memory.add(10, 20, access(1, AccessKind::Write), |_| false);
        memory.add(15, 30, access(2, AccessKind::Read), |_| false);
        assert_eq!(all(&memory), [(1, 10, 15), (1, 15, 20), (2, 15, 20), (2, 20, 30)]);
        let met: Vec<_> =
            memory.meeting(19, 21).map(|(access, overlap)| (access.event, overlap)).collect();
        assert_eq!(met, [(1, (19, 20)), (2, (19, 20)), (2, (20, 21))]);
        memory.forget(12, 16);
        assert_eq!(all(&memory), [(1, 10, 12), (1, 16, 20), (2, 16, 20), (2, 20, 30)]);
    }

    #[test]
    fn what_is_past_gives_way() {
        let mut memory = LastAccesses::default();
        memory.add(0, 8, access(1, AccessKind::Write), |_| false);
        memory.add(2, 4, access(2, AccessKind::Read), |_| false);
        assert_eq!(all(&memory), [(1, 0, 2), (1, 2, 4), (2, 2, 4), (1, 4, 8)]);
        memory.add(0, 16, access(3, AccessKind::Write), |_| true);
        assert_eq!(all(&memory), [(3, 0, 16)], "one piece again");
        memory.add(0, 16, access(4, AccessKind::Write), |earlier| earlier.event != 3);
        assert_eq!(all(&memory), [(3, 0, 16), (4, 0, 16)]);
    }

    #[test]
    fn many_pieces_are_put_together() {
        let mut memory = LastAccesses::default();
        for start in 0..1000 {
            memory.add(
                start * 2,
                start * 2 + 1,
                access(start as u32 % 3, AccessKind::Read),
                |_| false,
            );
        }
        memory.add(0, 2000, access(7, AccessKind::Read), |_| false);
        assert_eq!(memory.pieces.len(), 1);
        let merged_pieces: Vec<_> =
            memory.meeting(0, 1).map(|(access, _)| (access.event, access.merged)).collect();
        assert_eq!(merged_pieces, [(0, true), (7, true), (1, true), (2, true)]);
    }
}
