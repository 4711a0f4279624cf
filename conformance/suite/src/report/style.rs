//! The colours of a report.

use std::ffi::OsStr;
use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// How a report is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Palette {
    pub colour: bool,
}

impl Palette {
    /// Colour on a terminal, unless `NO_COLOR` is set to something (no-color.org).
    #[must_use]
    pub fn detect(is_terminal: bool, no_color: Option<&OsStr>) -> Self {
        Self { colour: is_terminal && no_color.is_none_or(OsStr::is_empty) }
    }

    pub fn good(self, text: impl Display) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    pub fn bad(self, text: impl Display) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    pub fn odd(self, text: impl Display) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    pub fn strong(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub fn faint(self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    fn paint(self, style: Style, text: impl Display) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}
