//! A bar on standard error, for a person who waits.

use std::io::{self, IsTerminal};

use allocert_harness::Progress;
use indicatif::ProgressStyle;

/// Draws nothing where standard error is no terminal.
#[derive(Debug)]
pub(crate) struct ProgressBar(indicatif::ProgressBar);

impl ProgressBar {
    pub(crate) fn new() -> Self {
        let bar = if io::stderr().is_terminal() {
            indicatif::ProgressBar::no_length()
        } else {
            indicatif::ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }
}

impl Progress for ProgressBar {
    fn expect(&mut self, total: u64) {
        self.0.set_position(0);
        self.0.set_length(total);
    }

    fn advance(&mut self, count: u64, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(count);
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
