//! The last accesses to each range of addresses: those that no later one supersedes.

use std::mem;

use crate::judge::cuda::order::access::Access;
use crate::judge::range_list::{Entry, Place, RangeList};

/// An access that meets more pieces than this merges them, so that the work stays linear.
const PIECE_LIMIT: usize = 256;

/// Accesses by address. Pieces do not overlap; each access lies in all the pieces of its range.
#[derive(Debug, Default)]
pub(crate) struct LastAccesses {
    pieces: RangeList<Accesses>,
    /// The pieces that replace others, kept so that no access allocates it.
    made: Vec<Piece>,
}

type Piece = Entry<Accesses>;

/// At least one access.
#[derive(Debug, Clone)]
struct Accesses {
    first: Access,
    /// Mostly empty, which takes no memory.
    others: Vec<Access>,
}

impl Accesses {
    fn one(first: Access) -> Self {
        Self { first, others: Vec::new() }
    }

    fn take(&mut self) -> Self {
        Self { first: self.first, others: mem::take(&mut self.others) }
    }

    fn iter(&self) -> impl Iterator<Item = Access> {
        [self.first].into_iter().chain(self.others.iter().copied())
    }

    /// Adds an access behind those that are not `superseded`. Whether all were.
    fn supersede(&mut self, access: Access, superseded: &impl Fn(&Access) -> bool) -> bool {
        self.others.retain(|earlier| !superseded(earlier));
        if !superseded(&self.first) {
            self.others.push(access);
            return false;
        }
        let are_all = self.others.is_empty();
        if are_all {
            self.first = access;
        } else {
            self.first = self.others.remove(0);
            self.others.push(access);
        }
        are_all
    }
}

impl LastAccesses {
    /// Where the pieces of a range from `start` on are, until the next change.
    #[inline]
    pub(crate) fn place(&self, start: u64) -> Place {
        self.pieces.seek(start)
    }

    /// Every access that meets a range, with the addresses where they meet.
    pub(crate) fn meeting(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = (Access, (u64, u64))> {
        self.meeting_from(self.place(start), start, end)
    }

    /// The same, at the place of the range.
    #[inline]
    pub(crate) fn meeting_from(
        &self,
        place: Place,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = (Access, (u64, u64))> {
        let pieces = self.pieces.entries_from(place);
        pieces.take_while(move |piece| piece.start < end).flat_map(move |piece| {
            let overlap = (piece.start.max(start), piece.end.min(end));
            piece.value.iter().map(move |access| (access, overlap))
        })
    }

    /// Adds an access to a range, at its place, and removes those there that are `superseded`.
    #[inline]
    pub(crate) fn add(
        &mut self,
        place: Place,
        (start, end): (u64, u64),
        access: Access,
        superseded: impl Fn(&Access) -> bool,
    ) {
        if start >= end {
            return;
        }
        // Most accesses are to just the range of an earlier one.
        match self.pieces.get_mut(place) {
            Some(piece) if (piece.start, piece.end) == (start, end) => {
                piece.value.supersede(access, &superseded);
            }
            _ => self.cover(place, (start, end), access, &superseded),
        }
    }

    /// Adds an access to a range that is not that of a piece. `place`: of the first piece there.
    fn cover(
        &mut self,
        place: Place,
        (start, end): (u64, u64),
        access: Access,
        superseded: &impl Fn(&Access) -> bool,
    ) {
        let mut made = mem::take(&mut self.made);
        let (mut met, mut at, mut alike) = (0, start, true);
        let mut right = None;
        let before = self.pieces.entries_from(place).next().filter(|piece| piece.start < start);
        made.extend(before.map(|piece| Entry { end: start, ..piece.clone() }));
        let left = made.len();
        for piece in self.pieces.entries_from_mut(place).take_while(|piece| piece.start < end) {
            let mut value = piece.value.take();
            if piece.end > end {
                right = Some(Entry { start: end, end: piece.end, value: value.clone() });
            }
            let (from, to) = (piece.start.max(start), piece.end.min(end));
            if from > at {
                made.push(Entry { start: at, end: from, value: Accesses::one(access) });
            }
            alike &= value.supersede(access, superseded);
            made.push(Entry { start: from, end: to, value });
            (met, at) = (met + 1, to);
        }
        if at < end {
            made.push(Entry { start: at, end, value: Accesses::one(access) });
        }
        if made.len() - left > 1 && alike {
            made.truncate(left);
            made.push(Entry { start, end, value: Accesses::one(access) });
        } else if met > PIECE_LIMIT && !alike {
            let merged = merged(&made[left..]);
            made.truncate(left);
            made.extend(merged.map(|value| Entry { start, end, value }));
        }
        made.extend(right);
        self.pieces.replace(place, met, made.drain(..));
        self.made = made;
    }

    /// Removes all accesses to a range.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let place = self.pieces.seek(start);
        let mut made = mem::take(&mut self.made);
        let mut met = 0;
        for piece in self.pieces.entries_from(place).take_while(|piece| piece.start < end) {
            met += 1;
            if piece.start < start {
                made.push(Entry { end: start, ..piece.clone() });
            }
            if piece.end > end {
                made.push(Entry { start: end, ..piece.clone() });
            }
        }
        if met > 0 {
            self.pieces.replace(place, met, made.drain(..));
        }
        self.made = made;
    }
}

/// What one piece of many holds. It still tells which streams had access, but no longer where.
fn merged(pieces: &[Piece]) -> Option<Accesses> {
    let mut accesses: Vec<Access> = Vec::new();
    for access in pieces.iter().flat_map(|piece| piece.value.iter()) {
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
    let mut accesses = accesses.into_iter();
    Some(Accesses { first: accesses.next()?, others: accesses.collect() })
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

    fn add(
        memory: &mut LastAccesses,
        start: u64,
        end: u64,
        access: Access,
        superseded: impl Fn(&Access) -> bool,
    ) {
        memory.add(memory.place(start), (start, end), access, superseded);
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
        add(&mut memory, 10, 20, access(1, AccessKind::Write), |_| false);
        add(&mut memory, 15, 30, access(2, AccessKind::Read), |_| false);
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
        add(&mut memory, 0, 8, access(1, AccessKind::Write), |_| false);
        add(&mut memory, 2, 4, access(2, AccessKind::Read), |_| false);
        assert_eq!(all(&memory), [(1, 0, 2), (1, 2, 4), (2, 2, 4), (1, 4, 8)]);
        add(&mut memory, 0, 16, access(3, AccessKind::Write), |_| true);
        assert_eq!(all(&memory), [(3, 0, 16)], "one piece again");
        add(&mut memory, 0, 16, access(4, AccessKind::Write), |earlier| earlier.event != 3);
        assert_eq!(all(&memory), [(3, 0, 16), (4, 0, 16)]);
    }

    #[test]
    fn many_pieces_are_put_together() {
        let mut memory = LastAccesses::default();
        for start in 0..1000 {
            add(
                &mut memory,
                start * 2,
                start * 2 + 1,
                access(start as u32 % 3, AccessKind::Read),
                |_| false,
            );
        }
        add(&mut memory, 0, 2000, access(7, AccessKind::Read), |_| false);
        assert_eq!(memory.pieces.iter().count(), 1);
        let merged_pieces: Vec<_> =
            memory.meeting(0, 1).map(|(access, _)| (access.event, access.merged)).collect();
        assert_eq!(merged_pieces, [(0, true), (7, true), (1, true), (2, true)]);
    }

    /// Random accesses, some of which give way to later ones, and random frees: each byte has the
    /// accesses that a list for each byte has.
    #[test]
    fn each_byte_has_the_accesses_that_it_should_have() {
        let mut memory = LastAccesses::default();
        let mut bytes: Vec<Vec<u32>> = vec![Vec::new(); 300];
        let mut state = 7_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % limit
        };
        for event in 0..2_000 {
            let start = below(290);
            let end = start + 1 + below(300 - start).min(below(40));
            let range = start as usize..end as usize;
            if below(20) == 0 {
                memory.forget(start, end);
                bytes[range].iter_mut().for_each(Vec::clear);
                continue;
            }
            let age = 1 + below(60) as u32;
            let superseded = |earlier: u32| earlier + age <= event || earlier % 3 == event % 3;
            add(&mut memory, start, end, access(event, AccessKind::Read), |it| {
                superseded(it.event)
            });
            for byte in &mut bytes[range] {
                byte.retain(|earlier| !superseded(*earlier));
                byte.push(event);
            }
            let mut found: Vec<Vec<u32>> = vec![Vec::new(); 300];
            for (event, start, end) in all(&memory) {
                found[start as usize..end as usize].iter_mut().for_each(|byte| byte.push(event));
            }
            assert_eq!(found, bytes);
        }
    }
}
