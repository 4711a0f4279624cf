use crate::{Error, Result, Token};

/// The live allocations by token. A token is never given twice. The ledger distinguishes a token
/// from before a reset from one that was released twice.
///
/// A token is a slot number, the slot's generation above it, and one bit for the half of the
/// manager.
#[derive(Debug)]
pub struct Ledger<T> {
    half: u64,
    slots: Vec<Slot<T>>,
    vacant: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    /// Of the entry that is here, or of the next one.
    generation: u32,
    /// Generations below this one died in a reset or before it.
    forgotten: u32,
    entry: Option<T>,
}

/// What a token named at the moment of taking it.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken<T> {
    /// A live entry; it is gone from the ledger now.
    Live(T),
    /// An entry from before the last reset.
    Forgotten,
}

const HOST_HALF: u64 = 1 << 63;
const LAST_GENERATION: u32 = (1 << 31) - 1;

impl<T> Ledger<T> {
    /// For the device half.
    #[must_use]
    pub const fn device() -> Self {
        Self { half: 0, slots: Vec::new(), vacant: Vec::new() }
    }

    /// For the host half.
    #[must_use]
    pub const fn host() -> Self {
        Self { half: HOST_HALF, slots: Vec::new(), vacant: Vec::new() }
    }

    pub fn insert(&mut self, entry: T) -> Token {
        let index = self.vacant.pop().unwrap_or_else(|| self.add_slot());
        let slot = &mut self.slots[index as usize];
        slot.entry = Some(entry);
        Token(self.half | u64::from(slot.generation) << 32 | (u64::from(index) + 1))
    }

    /// The live entry that `token` names.
    #[must_use]
    pub fn get(&self, token: Token) -> Option<&T> {
        let (index, generation) = self.locate(token)?;
        let slot = self.slots.get(index)?;
        slot.entry.as_ref().filter(|_| slot.generation == generation)
    }

    /// Takes the entry out.
    ///
    /// # Errors
    /// `InvalidValue` for a token that was never given, or already taken since the last reset.
    pub fn take(&mut self, token: Token) -> Result<Taken<T>> {
        let unknown = || Error::never_given(token);
        let (index, generation) = self.locate(token).ok_or_else(unknown)?;
        let slot = self.slots.get_mut(index).ok_or_else(unknown)?;
        if generation < slot.forgotten {
            return Ok(Taken::Forgotten);
        }
        if generation > slot.generation {
            return Err(unknown());
        }
        let live = if generation == slot.generation { slot.entry.take() } else { None };
        match live {
            Some(entry) => {
                self.retire(index);
                Ok(Taken::Live(entry))
            }
            None if generation == slot.generation => Err(unknown()),
            None => Err(Error::released_before(token)),
        }
    }

    /// Forgets every token given so far and yields the entries that were live.
    pub fn clear(&mut self) -> Vec<T> {
        let mut live = Vec::new();
        for index in 0..self.slots.len() {
            if let Some(entry) = self.slots[index].entry.take() {
                live.push(entry);
                self.retire(index);
            }
            let slot = &mut self.slots[index];
            slot.forgotten = slot.generation;
        }
        live
    }

    fn add_slot(&mut self) -> u32 {
        let index = u32::try_from(self.slots.len())
            .expect("four thousand million entries exceed host memory");
        self.slots.push(Slot { generation: 0, forgotten: 0, entry: None });
        index
    }

    /// Ends the slot's generation. A slot that has used all of them is never filled again.
    fn retire(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.generation += 1;
        if slot.generation < LAST_GENERATION {
            self.vacant.push(index as u32);
        }
    }

    fn locate(&self, token: Token) -> Option<(usize, u32)> {
        let number = (token.0 & u64::from(u32::MAX)).checked_sub(1)?;
        let generation = (token.0 & !HOST_HALF) >> 32;
        (token.0 & HOST_HALF == self.half).then_some((number as usize, generation as u32))
    }
}

impl Token {
    /// Whether the host half of a manager gave this token.
    #[must_use]
    pub const fn is_host(self) -> bool {
        self.0 & HOST_HALF != 0
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_token_is_never_given_again() {
        let mut ledger = Ledger::device();
        let first = ledger.insert('a');
        assert_eq!(ledger.take(first), Ok(Taken::Live('a')));
        let second = ledger.insert('b');
        assert_ne!(first, second);
        assert_eq!(ledger.get(first), None);
        let text = ledger.take(first).expect_err("released before").to_string();
        assert!(text.ends_with("was released before"), "{text}");
        assert_eq!(ledger.get(second), Some(&'b'));
    }

    #[test]
    fn a_reset_makes_older_tokens_harmless() {
        let mut ledger = Ledger::host();
        let (released, live) = (ledger.insert(1), ledger.insert(2));
        ledger.take(released).expect("live");
        assert_eq!(ledger.clear(), [2]);
        let new = ledger.insert(3);
        assert_eq!(ledger.take(released), Ok(Taken::Forgotten));
        assert_eq!(ledger.take(live), Ok(Taken::Forgotten));
        assert_eq!(ledger.get(new), Some(&3));
    }

    #[rstest]
    #[case::zero(0)]
    #[case::no_such_slot(2)]
    #[case::of_a_later_generation(1 << 32 | 1)]
    #[case::of_the_other_half(HOST_HALF | 1)]
    fn what_was_never_given_is_refused(#[case] token: u64) {
        let mut ledger = Ledger::device();
        assert_eq!(ledger.insert(()), Token(1));
        let text = ledger.take(Token(token)).expect_err("never given").to_string();
        assert!(text.ends_with("was never given by this manager"), "{text}");
        assert_eq!(ledger.take(Token(1)), Ok(Taken::Live(())));
    }
}
