//! Objects behind opaque handles. A handle is never given out twice, so a stale one is told from a bogus one.

/// Objects of one kind, e.g. all streams.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    tag: u64,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u64,
    value: Option<T>,
}

/// Why a handle leads to nothing.
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
            self.slots.push(Slot { generation: 0, value: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.value = Some(value);
        self.tag << TAG_SHIFT | slot.generation << GENERATION_SHIFT | u64::from(index) + 1
    }

    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Result<&T, Missing> {
        let slot = self.slots.get(self.index(handle)?).ok_or(Missing::Unknown)?;
        slot.check(handle)?;
        slot.value.as_ref().ok_or(Missing::Destroyed)
    }

    pub(crate) fn get_mut(&mut self, handle: u64) -> Result<&mut T, Missing> {
        let index = self.index(handle)?;
        let slot = self.slots.get_mut(index).ok_or(Missing::Unknown)?;
        slot.check(handle)?;
        slot.value.as_mut().ok_or(Missing::Destroyed)
    }

    pub(crate) fn remove(&mut self, handle: u64) -> Result<T, Missing> {
        self.get(handle)?;
        let index = self.index(handle)?;
        let slot = &mut self.slots[index];
        // A slot whose generations are used up stays empty for ever.
        if slot.generation < GENERATION_MASK {
            slot.generation += 1;
            self.free.push(index as u32);
        }
        slot.value.take().ok_or(Missing::Destroyed)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let handle = self.tag << TAG_SHIFT | slot.generation << GENERATION_SHIFT | index as u64 + 1;
            Some((handle, slot.value.as_ref()?))
        })
    }

    /// The handles of all objects that `matches` accepts.
    pub(crate) fn handles(&self, matches: impl Fn(&T) -> bool) -> Vec<u64> {
        self.iter().filter(|(_, value)| matches(value)).map(|(handle, _)| handle).collect()
    }

    #[inline]
    fn index(&self, handle: u64) -> Result<usize, Missing> {
        let index = handle & INDEX_MASK;
        if handle >> TAG_SHIFT != self.tag || index == 0 { Err(Missing::Unknown) } else { Ok(index as usize - 1) }
    }
}

impl<T> Slot<T> {
    #[inline]
    fn check(&self, handle: u64) -> Result<(), Missing> {
        match (handle >> GENERATION_SHIFT & GENERATION_MASK).cmp(&self.generation) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(Missing::Destroyed),
            std::cmp::Ordering::Greater => Err(Missing::Unknown),
        }
    }
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
