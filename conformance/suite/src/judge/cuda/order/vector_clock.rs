//! Vector clocks: how far each stream has been waited for. A stream's slot is its index in them.

use std::rc::Rc;

/// The work of one stream up to a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) slot: u32,
    /// From 1. It moves on after a [`Snapshot`], not with every operation.
    pub(crate) time: u32,
}

/// For each slot the highest time that is known to be over. Clones share until one changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct VectorClock(Rc<Vec<u32>>);

/// What is over for whoever waits for a stream now.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) epoch: Epoch,
    pub(crate) known: VectorClock,
}

impl VectorClock {
    #[inline]
    pub(crate) fn covers(&self, epoch: Epoch) -> bool {
        self.0.get(epoch.slot as usize).is_some_and(|time| *time >= epoch.time)
    }

    /// Whether it covers all that another covers.
    pub(crate) fn covers_all(&self, other: &Self) -> bool {
        let mut mine = self.0.iter().copied().chain(std::iter::repeat(0));
        other.0.iter().all(|theirs| mine.next().is_some_and(|mine| mine >= *theirs))
    }

    /// Takes in all that another clock covers, and says whether that was anything new.
    pub(crate) fn absorb(&mut self, other: &Self) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let (mine, theirs) = (self.0.as_slice(), other.0.as_slice());
        let (mut behind, mut ahead) = (theirs.len() > mine.len(), mine.len() > theirs.len());
        for (mine, theirs) in mine.iter().zip(theirs) {
            behind |= mine < theirs;
            ahead |= mine > theirs;
        }
        match (behind, ahead) {
            (false, _) => return false,
            (true, false) => self.copy(other),
            (true, true) => {
                let mine = self.reach(other.0.len());
                mine.iter_mut()
                    .zip(other.0.iter())
                    .for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
        }
        true
    }

    /// Becomes equal to another. Who waits changes its clock next, so that a copy of its own in the
    /// memory that it has costs less than one that both share.
    fn copy(&mut self, other: &Self) {
        match Rc::get_mut(&mut self.0) {
            Some(mine) => mine.clone_from(&other.0),
            None => self.0 = Rc::clone(&other.0),
        }
    }

    /// Takes in one epoch, and says whether that was anything new.
    pub(crate) fn raise(&mut self, epoch: Epoch) -> bool {
        if self.covers(epoch) {
            return false;
        }
        self.reach(epoch.slot as usize + 1)[epoch.slot as usize] = epoch.time;
        true
    }

    /// Takes in a stream's work and all that the stream waited for.
    pub(crate) fn absorb_snapshot(&mut self, seen: &Snapshot) -> bool {
        // Both, always.
        self.absorb(&seen.known) | self.raise(seen.epoch)
    }

    fn reach(&mut self, slots: usize) -> &mut Vec<u32> {
        let mine = Rc::make_mut(&mut self.0);
        if mine.len() < slots {
            mine.resize(slots, 0);
        }
        mine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[u32]) -> VectorClock {
        VectorClock(Rc::new(times.to_vec()))
    }

    #[test]
    fn a_clock_takes_the_highest_of_both() {
        let mut mine = clock(&[3, 1]);
        assert!(!mine.absorb(&clock(&[2, 1])), "nothing new");
        assert!(mine.absorb(&clock(&[1, 4, 7])));
        assert_eq!(*mine.0, [3, 4, 7]);
        assert!(mine.absorb(&clock(&[9, 9, 9, 9])));
        assert_eq!(*mine.0, [9, 9, 9, 9]);
        assert!(mine.raise(Epoch { slot: 5, time: 2 }));
        assert!(!mine.raise(Epoch { slot: 5, time: 1 }));
        assert_eq!(*mine.0, [9, 9, 9, 9, 0, 2]);
        assert!(!mine.covers(Epoch { slot: 6, time: 1 }), "a slot that nobody waited for");
    }
}
