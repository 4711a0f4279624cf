//! Reports: each file renders the judgements in one format. A report decides nothing.

/// Appends a line to a string, which cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($text:tt)+) => {{
        use std::fmt::Write as _;
        let _infallible = writeln!($out, $($text)+);
    }};
}
pub(crate) use line;

pub mod badge;
pub mod call;
pub mod certificate;
pub mod coverage;
pub mod ctrf;
pub mod explain;
pub mod first_causes;
pub mod format;
pub mod github;
pub mod json;
pub mod junit;
pub mod kills;
pub mod list;
pub mod markdown;
mod outcome;
pub mod page;
pub mod repeats;
pub mod requirement_state;
pub mod sarif;
pub mod style;
pub mod summary;
mod table;
pub mod tap;
pub mod terminal;
pub mod trace;
mod unrun;
pub mod variant_runs;
mod verdict_counts;

use allocert_requirements::Catalogue;

use crate::exit::Exit;
use crate::repeats::Flaky;
use crate::run_format::{Header, Judged, Repeats, Selection};

/// What every report of a run is made from.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    pub header: &'a Header,
    pub cases: &'a [Judged],
    pub catalogue: &'a Catalogue,
    pub completeness: Completeness,
    /// The verdicts of each repeat, if the cases were run several times.
    pub repeats: Option<&'a Repeats>,
}

/// Whether a run has all cases that its header names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// It has, or the reader of the run refused it.
    Known,
    /// Another suite made the run. A case that is missing may have failed.
    Unknown,
    /// As [`Self::Unknown`], and the user takes the run for what it shows.
    Allowed,
}

impl Report<'_> {
    /// What the run comes to. Cases that may be missing are cases that were not observed.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match Exit::of(self.cases.iter().map(|judged| &judged.judgement)) {
            Exit::Conforms if self.completeness == Completeness::Unknown => Exit::NotObserved,
            exit => exit,
        }
    }

    /// The case among those whose verdict was not the same in all repeats.
    fn flaky(&self, case: &str) -> Option<Flaky<'_>> {
        self.repeats?.flaky_case(case)
    }

    /// Which part of a suite the run shows, unless it shows all of this one.
    #[must_use]
    pub fn part(&self) -> Option<String> {
        let selected = self.header.selection.as_ref().and_then(Selection::words);
        let suite = (self.completeness != Completeness::Known)
            .then(|| "another suite, and whether all its cases are here is not known".to_owned());
        let parts: Vec<String> = [selected, suite].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| clean(&parts.join(", ")))
    }
}

/// A subject's text without what would move a terminal's cursor, hide in a report or order a CI
/// service about: such characters are written out.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '#' if is_command(&text[at..]) => clean.extend(c.escape_unicode()),
            '\n' => clean.push_str("\\n"),
            '\t' => clean.push_str("\\t"),
            '\r' => clean.push_str("\\r"),
            c if c.is_control() || is_invisible(c) => clean.extend(c.escape_unicode()),
            c => clean.push(c),
        }
    }
    clean
}

/// Azure Pipelines and GitHub take this for a command wherever it stands in a line.
fn is_command(text: &str) -> bool {
    text.starts_with("##[") || text.starts_with("##vso[")
}

/// Characters that reorder the text around them, end a line or have no width.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// A JSON document for a person to read as well, with a newline at its end.
pub(crate) fn json_text(document: &serde_json::Value) -> String {
    format!("{document:#}\n")
}

/// Filters of the templates.
#[allow(unreachable_pub, reason = "the attribute makes a public type of a filter")]
pub(crate) mod filters {
    /// Writes out what would hide or reorder text. The template escapes what would be markup.
    #[askama::filter_fn]
    pub(crate) fn clean(
        text: impl std::fmt::Display,
        _: &dyn askama::Values,
    ) -> askama::Result<String> {
        Ok(crate::report::clean(&text.to_string()))
    }
}
