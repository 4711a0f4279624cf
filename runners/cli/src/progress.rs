//! A bar on standard error, for a person who waits.

use std::io::{self, IsTerminal};

use allocert_harness::Observer;
use allocert_suite::observation::Observation;
use indicatif::{ProgressBar, ProgressStyle};

/// Draws nothing where nobody looks.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = if io::stderr().is_terminal() {
            ProgressBar::no_length()
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// A bar over things that are told of one by one.
    pub(crate) fn of(things: usize) -> Self {
        let progress = Self::new();
        progress.0.set_length(things as u64);
        progress
    }

    /// One of them is done.
    pub(crate) fn step(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }
}

impl Observer for Progress {
    fn began(&mut self, cases: usize) {
        self.0.set_length(cases as u64);
    }

    fn observed(&mut self, observation: &Observation) {
        self.0.set_message(observation.case.clone());
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar that is told how far something has come.
#[derive(Debug)]
pub(crate) struct Bar(Progress);

impl Bar {
    pub(crate) fn new(all: u64) -> Self {
        let progress = Progress::new();
        progress.0.set_length(all);
        Self(progress)
    }

    pub(crate) fn add(&mut self, more: u64) {
        self.0.0.inc(more);
    }
}
