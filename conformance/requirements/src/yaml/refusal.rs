//! A file that was not accepted, and the place in it that is wrong.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::deserialize::Error;
use super::node::Position;
use crate::refusal_code::RefusalCode;

/// A file that was not accepted: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: RefusalCode,
    /// What kind of file is at fault: `fixture`, `catalogue`, `expectation file`.
    pub noun: &'static str,
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The line itself.
    pub text: String,
    pub message: String,
    pub help: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, noun, file, line, text, message, help, .. } = self;
        let snippet = Snippet::source(text.as_str())
            .path(file.as_str())
            .line_start(*line)
            .annotation(AnnotationKind::Primary.span(self.word()));
        let title =
            Level::ERROR.with_name(format!("{noun} broken")).primary_title(message.as_str());
        let title = title.id(code.code());
        let help = help.iter().map(|help| Level::HELP.message(help.as_str()));
        let report = [title.element(snippet).elements(help)];
        f.write_str(&Renderer::plain().render(&report))
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The word or the quoted text at the position, in bytes, so that all of it is underlined.
    fn word(&self) -> Range<usize> {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.' | '/');
        let start =
            self.text.char_indices().nth(self.column - 1).map_or(self.text.len(), |at| at.0);
        let rest = &self.text[start..];
        let quoted = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let len = match quoted.and_then(|quote| rest[1..].find(quote)) {
            Some(inside) => inside + 2,
            None => rest.find(|c| !word(c)).unwrap_or(rest.len()),
        };
        start..(start + len.max(1)).min(self.text.len())
    }
}

/// One text with the name to show for it.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// What kind of file this is, for the first word of an error.
    pub noun: &'static str,
    pub file: &'a str,
    pub text: &'a str,
}

impl Document<'_> {
    /// A refusal at a position; positions beyond the text are pulled into it.
    #[must_use]
    pub fn refuse(
        &self,
        code: RefusalCode,
        line: usize,
        column: usize,
        message: impl Into<String>,
    ) -> Box<Refusal> {
        let line = line.clamp(1, self.text.lines().count().max(1));
        let text = self.text.lines().nth(line - 1).unwrap_or_default().trim_end().to_owned();
        let column = column.clamp(1, text.chars().count() + 1);
        Box::new(Refusal {
            code,
            noun: self.noun,
            file: self.file.to_owned(),
            line,
            column,
            text,
            message: message.into(),
            help: None,
        })
    }

    /// A refusal at the first place at or after `line` where `word` stands as a whole word.
    #[must_use]
    pub fn refuse_word(
        &self,
        code: RefusalCode,
        line: usize,
        word: &str,
        message: impl Into<String>,
    ) -> Box<Refusal> {
        let (line, column) = self.find(line, word).unwrap_or((line, 1));
        self.refuse(code, line, column, message)
    }

    /// Line and column of a whole word at or after a line.
    #[must_use]
    pub fn find(&self, from_line: usize, word: &str) -> Option<(usize, usize)> {
        let lines = self.text.lines().enumerate().skip(from_line.saturating_sub(1));
        lines
            .filter(|(_, text)| !text.trim_start().starts_with('#'))
            .find_map(|(index, text)| column_of(text, word).map(|column| (index + 1, column)))
    }

    pub(super) fn refuse_error(&self, error: Error) -> Box<Refusal> {
        let complaint = error.into_complaint();
        let Position { line, column } = complaint.position.unwrap_or(Position::NOWHERE);
        let refusal = self.refuse(complaint.code, line, column, complaint.message);
        Box::new(Refusal { help: complaint.help, ..*refusal })
    }
}

fn column_of(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word).find_map(|(start, found)| {
        let before = text[..start].chars().next_back().is_some_and(part);
        let after = text[start + found.len()..].chars().next().is_some_and(part);
        (!before && !after).then(|| text[..start].chars().count() + 1)
    })
}
