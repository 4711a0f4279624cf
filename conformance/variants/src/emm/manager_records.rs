//! The records of a manager: what the host holds, what waits for the end of a scope.

use std::collections::HashMap;

/// Memory that a manager took for its host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    Device { pointer: u64, size_bytes: u64 },
    Host { pointer: usize },
    Pinned { pointer: usize },
}

/// What became of the memory of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token {
    Live(Held),
    /// It was given before the last reset.
    Old,
    Unknown,
}

/// The records of one manager, by the numbers of its allocations.
#[derive(Debug, Default)]
pub(crate) struct Records {
    live: HashMap<u64, Held>,
    /// Released inside a scope of `defer_begin` and `defer_end`.
    waiting: Vec<Held>,
    scopes: u32,
    last_number: u64,
    last_before_reset: u64,
}

impl Records {
    pub(crate) fn add(&mut self, held: Held) -> u64 {
        self.last_number += 1;
        self.live.insert(self.last_number, held);
        self.last_number
    }

    pub(crate) fn find(&self, number: u64) -> Token {
        match self.live.get(&number) {
            Some(held) => Token::Live(*held),
            None if (1..=self.last_before_reset).contains(&number) => Token::Old,
            None => Token::Unknown,
        }
    }

    /// Removes an allocation. Returns what the manager has to give back now, if anything.
    pub(crate) fn release(&mut self, number: u64) -> Option<Held> {
        let held = self.live.remove(&number)?;
        if self.scopes > 0 && !matches!(held, Held::Pinned { .. }) {
            self.waiting.push(held);
            return None;
        }
        Some(held)
    }

    /// Removes everything and returns it. Scopes stay open.
    pub(crate) fn reset(&mut self) -> Vec<Held> {
        self.last_before_reset = self.last_number;
        let live = self.live.drain().map(|(_, held)| held);
        live.chain(self.waiting.drain(..)).collect()
    }

    pub(crate) fn begin_scope(&mut self) {
        self.scopes += 1;
    }

    /// Returns what waited for the end of the last scope; `None` if no scope is open.
    pub(crate) fn end_scope(&mut self) -> Option<Vec<Held>> {
        self.scopes = self.scopes.checked_sub(1)?;
        Some(if self.scopes == 0 { self.waiting.drain(..).collect() } else { Vec::new() })
    }

    pub(crate) fn in_scope(&self) -> bool {
        self.scopes > 0
    }
}
