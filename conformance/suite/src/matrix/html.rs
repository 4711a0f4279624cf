//! The matrix as one page, which loads nothing and runs no script. The template is
//! `templates/exchange_matrix.html`. A cell has a letter and a word; its colour only repeats them.

use askama::Template;
use strum::VariantArray as _;

use crate::matrix::{Cell, Exchange, Library, Matrix, State};
use crate::report::filters;

const TITLE: &str = "Who can hand CUDA arrays to whom";

#[derive(Template)]
#[template(path = "exchange_matrix.html")]
struct Page<'a> {
    matrix: &'a Matrix,
}

pub(crate) fn page(matrix: &Matrix) -> String {
    Page { matrix }.render().expect("the template writes to memory")
}

/// All cases of one pair of libraries.
struct Pair<'a> {
    /// `pair-0-1`
    anchor: String,
    producer: &'a Library,
    consumer: &'a Library,
    cell: Cell,
    groups: Vec<Group<'a>>,
}

/// Cases of a pair that came to the same.
struct Group<'a> {
    state: State,
    cases: String,
    text: &'a str,
}

impl<'a> Page<'a> {
    /// Each producer with its pairs.
    fn rows(&self) -> Vec<(&'a Library, Vec<Pair<'a>>)> {
        let rows = self.matrix.producers.iter().zip(&self.matrix.pairs).enumerate();
        rows.map(|(row, (producer, pairs))| {
            let pairs = pairs.iter().enumerate();
            let pairs = pairs.map(|(column, exchanges)| self.pair(row, column, exchanges));
            (producer, pairs.collect())
        })
        .collect()
    }

    fn pair(&self, row: usize, column: usize, exchanges: &'a [Exchange]) -> Pair<'a> {
        let groups = Matrix::grouped(exchanges).into_iter().map(|group| {
            let cases: Vec<&str> = group.iter().map(|one| one.case.as_str()).collect();
            Group { state: group[0].state, cases: cases.join(", "), text: &group[0].text }
        });
        Pair {
            anchor: format!("pair-{row}-{column}"),
            producer: &self.matrix.producers[row],
            consumer: &self.matrix.consumers[column],
            cell: Cell::of(exchanges),
            groups: groups.collect(),
        }
    }
}

impl State {
    /// The class of a cell in `templates/exchange_matrix.css`.
    fn css_class(self) -> &'static str {
        match self {
            Self::Crashes | Self::Misreads => "bad",
            Self::RacesForward | Self::RacesBack => "odd",
            Self::Exchanges => "good",
            Self::Refuses => "no",
            Self::Unseen | Self::Unavailable => "faint",
        }
    }
}
