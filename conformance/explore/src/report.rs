//! The text that a user reads at the end of an exploration.

use std::fmt::Write;
use std::time::Duration;

use allocert_requirements::{Level, Side};
use allocert_suite::report::clean;
use allocert_suite::report::style::Palette;

/// What an exploration came to.
#[derive(Debug)]
pub struct Report {
    pub side: Side,
    /// As on the command line.
    pub subject: String,
    pub seed: u64,
    pub operations: u64,
    pub sequences: u64,
    /// The time of drawing, running and judging, without shrinking.
    pub elapsed: Duration,
    pub broken: Vec<BrokenReport>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// A broken requirement and the sequence that broke it.
#[derive(Debug)]
pub struct BrokenReport {
    pub requirement: String,
    pub level: Level,
    pub statement: String,
    pub sequence: u64,
    /// The number of steps before shrinking.
    pub drawn_steps: usize,
    pub outcome: ShrinkOutcome,
}

/// What shrinking made of the sequence.
#[derive(Debug)]
pub enum ShrinkOutcome {
    Shrunk {
        /// The steps that are left.
        steps: Vec<String>,
        /// The step that breaks the requirement, from 0.
        at: Option<usize>,
        candidates: usize,
        expected: String,
        observed: String,
        fixture: FixtureOutput,
    },
    /// It breaks the requirement only after the sequences that ran before it in the same process.
    OnlyAfterOthers,
    /// It did not break the requirement again: a time limit ran out on a busy machine, or the
    /// subject is not deterministic.
    NotReproduced,
}

/// Where the fixture is.
#[derive(Debug)]
pub enum FixtureOutput {
    Created {
        file: String,
        case: String,
    },
    /// The file had the same text already.
    AlreadyThere {
        file: String,
    },
    NotWritten {
        error: String,
        text: String,
    },
}

/// The whole report.
#[must_use]
pub fn render(report: &Report, palette: Palette) -> String {
    let mut out = String::new();
    let Report { side, subject, seed, operations, sequences, elapsed, .. } = report;
    let _ = writeln!(
        out,
        "{} on the software driver, seed {seed}",
        palette.strong(format!("{side} {}", clean(subject)))
    );
    let per_second = (*operations as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
    let _ = writeln!(
        out,
        "{} operations in {} sequences, {} a second",
        grouped(*operations),
        grouped(*sequences),
        grouped(per_second)
    );
    for broken in &report.broken {
        let _ = writeln!(out, "\n{}", broken_text(broken, palette));
    }
    for note in &report.notes {
        let _ = writeln!(out, "note: {}", clean(note));
    }
    if report.broken.is_empty() {
        let _ = writeln!(out, "{}", palette.good("nothing found"));
    }
    out
}

fn broken_text(broken: &BrokenReport, palette: Palette) -> String {
    let BrokenReport { requirement, level, statement, sequence, drawn_steps, outcome } = broken;
    let level = if *level == Level::Must { palette.bad(level) } else { palette.odd(level) };
    let mut out = format!("{} {level} {statement}\n", palette.strong(requirement));
    match outcome {
        ShrinkOutcome::OnlyAfterOthers => {
            let _ = write!(
                out,
                "  sequence {sequence}: {drawn_steps} operations, found only when other sequences \
                 run before it in the same process; not shrunk"
            );
        }
        ShrinkOutcome::NotReproduced => {
            let _ = write!(
                out,
                "  sequence {sequence}: {drawn_steps} operations, found once and not found again; \
                 not counted"
            );
        }
        ShrinkOutcome::Shrunk { steps, at, candidates, expected, observed, fixture } => {
            let _ = writeln!(
                out,
                "  sequence {sequence}: {drawn_steps} operations, {} are enough ({candidates} \
                 candidates run)",
                steps.len()
            );
            for (index, step) in steps.iter().enumerate() {
                let mark = if Some(index) == *at { '>' } else { ' ' };
                let _ = writeln!(out, "  {mark} {}", clean(step));
            }
            let (expected, observed) = (clean(expected), clean(observed));
            let _ = writeln!(out, "  expected: {expected}\n  observed: {observed}");
            let _ = write!(out, "{}", fixture_text(fixture, palette));
        }
    }
    out
}

fn fixture_text(fixture: &FixtureOutput, palette: Palette) -> String {
    match fixture {
        FixtureOutput::Created { file, case } => {
            format!(
                "  written to {}; its place is fixtures/cases/{case}.yaml",
                palette.strong(clean(file))
            )
        }
        FixtureOutput::AlreadyThere { file } => {
            format!("  {} holds it already", palette.strong(clean(file)))
        }
        FixtureOutput::NotWritten { error, text } => {
            let text: String = text.lines().map(|line| format!("  | {}\n", clean(line))).collect();
            format!("  {}; this is the fixture:\n{}", clean(error), text.trim_end())
        }
    }
}

/// 1000000 as 1,000,000.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
