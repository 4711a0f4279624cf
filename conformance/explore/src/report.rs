//! What a person reads when an exploration is over.

use std::fmt::Write;
use std::time::Duration;

use allocert_requirements::Level;
use allocert_suite::report::style::Palette;

/// Everything that is told.
#[derive(Debug)]
pub struct Report {
    /// As on the command line.
    pub subject: String,
    pub seed: u64,
    pub operations: u64,
    pub sequences: u64,
    /// Of drawing, running and judging; shrinking is not counted.
    pub elapsed: Duration,
    pub shown: Vec<Shown>,
    /// What else was seen.
    pub notes: Vec<String>,
}

/// One broken requirement.
#[derive(Debug)]
pub struct Shown {
    pub requirement: String,
    pub level: Level,
    pub statement: String,
    pub sequence: u64,
    /// Steps as drawn.
    pub drawn: usize,
    pub outcome: Outcome,
}

/// What became of the sequence that breaks it.
#[derive(Debug)]
pub enum Outcome {
    Shrunk {
        /// The steps that are left.
        steps: Vec<String>,
        /// The step that shows it, from 0.
        at: Option<usize>,
        candidates: usize,
        expected: String,
        observed: String,
        written: Written,
    },
    /// It breaks nothing in a process of its own, and breaks this again behind the sequences that
    /// ran before it.
    NotAlone,
    /// It did not break this again in any way: a time that ran out on a busy machine, or a subject
    /// that rolls dice.
    NotAgain,
}

/// Where the fixture is.
#[derive(Debug)]
pub enum Written {
    /// This file was made.
    New { file: String, case: String },
    /// This file held it already.
    There { file: String },
    /// It could not be written; this is its text.
    Nowhere { error: String, text: String },
}

/// The whole report.
#[must_use]
pub fn render(report: &Report, palette: Palette) -> String {
    let mut out = String::new();
    let Report { subject, seed, operations, sequences, elapsed, .. } = report;
    let _ = writeln!(
        out,
        "{} on the software driver, seed {seed}",
        palette.strong(format!("emm {subject}"))
    );
    let per_second = (*operations as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
    let _ = writeln!(
        out,
        "{} operations in {} sequences, {} a second",
        grouped(*operations),
        grouped(*sequences),
        grouped(per_second)
    );
    for shown in &report.shown {
        let _ = writeln!(out, "\n{}", found(shown, palette));
    }
    for note in &report.notes {
        let _ = writeln!(out, "note: {note}");
    }
    if report.shown.is_empty() {
        let _ = writeln!(out, "{}", palette.good("nothing found"));
    }
    out
}

fn found(shown: &Shown, palette: Palette) -> String {
    let Shown { requirement, level, statement, sequence, drawn, outcome } = shown;
    let level = if *level == Level::Must { palette.bad(level) } else { palette.odd(level) };
    let mut out = format!("{} {level} {statement}\n", palette.strong(requirement));
    match outcome {
        Outcome::NotAlone => {
            let _ = write!(
                out,
                "  sequence {sequence}: {drawn} operations, only when others ran before it in one process; not shrunk"
            );
        }
        Outcome::NotAgain => {
            let _ = write!(
                out,
                "  sequence {sequence}: {drawn} operations, seen once and not again; not counted"
            );
        }
        Outcome::Shrunk { steps, at, candidates, expected, observed, written } => {
            let _ = writeln!(
                out,
                "  sequence {sequence}: {drawn} operations, {} are enough ({candidates} candidates run)",
                steps.len()
            );
            for (index, step) in steps.iter().enumerate() {
                let mark = if Some(index) == *at { '>' } else { ' ' };
                let _ = writeln!(out, "  {mark} {step}");
            }
            let _ = writeln!(out, "  expected: {expected}\n  observed: {observed}");
            let _ = write!(out, "{}", place(written, palette));
        }
    }
    out
}

fn place(written: &Written, palette: Palette) -> String {
    match written {
        Written::New { file, case } => {
            format!(
                "  written to {}; its place is fixtures/cases/{case}.yaml",
                palette.strong(file)
            )
        }
        Written::There { file } => format!("  {} holds it already", palette.strong(file)),
        Written::Nowhere { error, text } => {
            let text: String = text.lines().map(|line| format!("  | {line}\n")).collect();
            format!("  {error}; this is the fixture:\n{}", text.trim_end())
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
