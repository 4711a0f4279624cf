//! Objects behind opaque handles. A handle is never given out twice, so a handle of a destroyed
//! object can be told from one that never existed.

/// Objects of one kind, e.g. all streams.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    tag: u64,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    /// Of the object; of the next one if the slot is empty.
    handle: u64,
    value: Option<T>,
}

/// Why there is no object behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Unknown,
    Destroyed,
}

const TAG_SHIFT: u32 = 40;
const GENERATION_SHIFT: u32 = 20;
const INDEX_MASK: u64 = (1 << GENERATION_SHIFT) - 1;
const GENERATION_MASK: u64 = (1 << (TAG_SHIFT - GENERATION_SHIFT)) - 1;

impl<T> Registry<T> {
    /// `tag` keeps handles of different kinds apart; it fills bits 40 to 47.
    pub(crate) fn new(tag: u8) -> Self {
        Self { tag: u64::from(tag), slots: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, value: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                handle: self.tag << TAG_SHIFT | (self.slots.len() as u64 + 1),
                value: None,
            });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.value = Some(value);
        slot.handle
    }

    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Result<&T, Missing> {
        match self.slots.get(index(handle)) {
            Some(Slot { handle: its, value: Some(value) }) if *its == handle => Ok(value),
            slot => Err(self.missing(handle, slot)),
        }
    }

    pub(crate) fn get_mut(&mut self, handle: u64) -> Result<&mut T, Missing> {
        self.get(handle)?;
        self.slots[index(handle)].value.as_mut().ok_or(Missing::Destroyed)
    }

    pub(crate) fn remove(&mut self, handle: u64) -> Result<T, Missing> {
        self.get(handle)?;
        let slot = &mut self.slots[index(handle)];
        // A slot whose generations are used up stays empty for ever.
        if handle >> GENERATION_SHIFT & GENERATION_MASK < GENERATION_MASK {
            slot.handle += 1 << GENERATION_SHIFT;
            self.free.push(index(handle) as u32);
        }
        slot.value.take().ok_or(Missing::Destroyed)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots.iter().filter_map(|slot| Some((slot.handle, slot.value.as_ref()?)))
    }

    /// The handles of all objects that `matches` accepts.
    pub(crate) fn handles(&self, matches: impl Fn(&T) -> bool) -> Vec<u64> {
        self.iter().filter(|(_, value)| matches(value)).map(|(handle, _)| handle).collect()
    }

    /// A handle of an earlier generation was given out once; all others never were.
    #[cold]
    fn missing(&self, handle: u64, slot: Option<&Slot<T>>) -> Missing {
        match slot {
            Some(slot) if handle >> TAG_SHIFT == self.tag && handle < slot.handle => {
                Missing::Destroyed
            }
            _ => Missing::Unknown,
        }
    }
}

/// Handles count slots from 1; whatever has no index has one out of range.
#[inline]
fn index(handle: u64) -> usize {
    ((handle & INDEX_MASK) as usize).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_is_told_from_a_bogus_one() {
        let mut registry = Registry::new(0x57);
        let first = registry.insert('a');
        assert_eq!(registry.remove(first), Ok('a'));
        let second = registry.insert('b');
        assert_ne!(first, second);
        assert_eq!(registry.get(first), Err(Missing::Destroyed));
        assert_eq!(registry.get(second), Ok(&'b'));
        assert_eq!(registry.get(0x1234), Err(Missing::Unknown));
        assert_eq!(registry.get(second + 1), Err(Missing::Unknown));
    }
}
