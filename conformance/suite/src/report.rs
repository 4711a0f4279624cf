//! Reports: each file renders the judgements in one format. A report decides nothing.

pub mod call;
pub mod coverage;
pub mod explain;
pub mod junit;
pub mod kills;
pub mod list;
pub mod style;
mod table;
pub mod terminal;
pub mod trace;
pub mod variant_runs;

use allocert_requirements::Catalogue;

use crate::run_format::{Header, Judged};

/// What every report of a run is made from.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    pub header: &'a Header,
    pub cases: &'a [Judged],
    pub catalogue: &'a Catalogue,
}

/// A subject's text without what would move a terminal's cursor or hide in a report: control
/// characters are written out.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => clean.push_str("\\n"),
            '\t' => clean.push_str("\\t"),
            '\r' => clean.push_str("\\r"),
            c if c.is_control() || is_direction(c) => clean.extend(c.escape_unicode()),
            c => clean.push(c),
        }
    }
    clean
}

/// Characters that reorder the text around them.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
