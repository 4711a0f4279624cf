//! The matrix of libraries: each producer gives arrays to each consumer. The matrix shows the
//! result of each pair and certifies nobody. The cases of the two sides say which library is at
//! fault.

mod cases;
mod exchange;
mod html;
mod markdown;

pub use crate::run_format::PAIR_INTERFACE as INTERFACE;
pub use cases::{Pattern, patterns};
pub use exchange::{Exchange, State};

use strum::VariantArray as _;

use crate::offer::Driver;

/// One library with an adapter. The subject wrote its version, so the text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// `module:attribute`
    pub adapter: String,
    /// `numba-cuda 0.30.4`
    pub version: String,
}

impl Library {
    /// What a person calls it: the version, or the adapter where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.version.is_empty() { &self.adapter } else { &self.version }
    }
}

/// An adapter that could not be loaded, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub adapter: String,
    pub reason: String,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The version of allocert that made it.
    pub allocert: String,
    pub driver: Driver,
    /// `2026-11-21`
    pub date: String,
    pub producers: Vec<Library>,
    pub consumers: Vec<Library>,
    /// Of each producer, for each consumer, the cases in their order.
    pub pairs: Vec<Vec<Vec<Exchange>>>,
    pub missing: Vec<Missing>,
}

/// The result of a pair: its worst state, and how many cases have each state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub state: State,
    pub counts: Vec<(State, usize)>,
}

impl Cell {
    #[must_use]
    pub fn of(exchanges: &[Exchange]) -> Self {
        let count = |state| exchanges.iter().filter(|one| one.state == state).count();
        let counts: Vec<_> = State::VARIANTS
            .iter()
            .map(|state| (*state, count(*state)))
            .filter(|(_, count)| *count > 0)
            .collect();
        Self { state: counts.first().map_or(State::Unavailable, |(state, _)| *state), counts }
    }

    /// `races forward: 2, exchanges: 9`
    #[must_use]
    pub fn words(&self) -> String {
        let words: Vec<String> = self
            .counts
            .iter()
            .map(|(state, count)| format!("{}: {count}", state.words()))
            .collect();
        words.join(", ")
    }
}

impl Matrix {
    /// As one HTML page that loads nothing and runs no script.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// As a document with tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::document(self)
    }

    /// The cases of a pair, grouped by equal results, the worst first.
    fn grouped(exchanges: &[Exchange]) -> Vec<Vec<&Exchange>> {
        let mut groups: Vec<Vec<&Exchange>> = Vec::new();
        for state in State::VARIANTS.iter().copied() {
            for one in exchanges.iter().filter(|one| one.state == state) {
                match groups
                    .iter_mut()
                    .find(|group| group[0].state == state && group[0].text == one.text)
                {
                    Some(group) => group.push(one),
                    None => groups.push(vec![one]),
                }
            }
        }
        groups
    }

    /// What each case is about.
    fn cases(&self) -> Vec<(&str, &str)> {
        let mut cases: Vec<(&str, &str)> = Vec::new();
        for one in self.each().flat_map(|(_, _, exchanges)| exchanges) {
            if !cases.iter().any(|(case, _)| *case == one.case) {
                cases.push((&one.case, &one.about));
            }
        }
        cases
    }

    fn driver(&self) -> &'static str {
        match self.driver {
            Driver::Sim => "the software driver",
            Driver::Real => "a GPU",
        }
    }

    /// Each pair with its libraries, in the order of rows and columns.
    fn each(&self) -> impl Iterator<Item = (usize, usize, &[Exchange])> {
        let rows = self.pairs.iter().enumerate();
        rows.flat_map(|(row, pairs)| {
            pairs.iter().enumerate().map(move |(column, one)| (row, column, one.as_slice()))
        })
    }
}
