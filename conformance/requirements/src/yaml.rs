//! The one place where YAML is read: strict, with positions, and with errors a person can act on.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Location, Options};

use crate::nearest::nearest;

pub use serde_saphyr::Spanned;

/// A value that stands in no file; its line is 0.
pub fn unwritten<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Location::UNKNOWN, Location::UNKNOWN)
}

/// A file that was not accepted: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
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
        let Self { noun, file, line, column, text, message, help } = self;
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "{noun} broken: {message}")?;
        writeln!(f, "{gutter} --> {file}:{line}:{column}")?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{number} | {text}")?;
        write!(f, "{gutter} | {}{}", " ".repeat(column - 1), "^".repeat(self.width()))?;
        if let Some(help) = help {
            write!(f, "\n{gutter} = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The length of the word at the position, so that the caret underlines all of it.
    fn width(&self) -> usize {
        let word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.' | '/');
        self.text.chars().skip(self.column - 1).take_while(word).count().max(1)
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
    /// Reads the whole document; an unknown field or a duplicate key is refused.
    ///
    /// # Errors
    /// The first place where the text is not what `T` asks for.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Box<Refusal>> {
        let mut options = Options::default();
        options.with_snippet = false;
        options.strict_booleans = true;
        serde_saphyr::from_str_with_options(self.text, options)
            .map_err(|error| self.refusal(&error))
    }

    /// A refusal at a position; positions beyond the text are pulled into it.
    #[must_use]
    pub fn refuse(&self, line: usize, column: usize, message: impl Into<String>) -> Box<Refusal> {
        let line = line.clamp(1, self.text.lines().count().max(1));
        let text = self.text.lines().nth(line - 1).unwrap_or_default().trim_end().to_owned();
        let column = column.clamp(1, text.chars().count() + 1);
        Box::new(Refusal {
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
    pub fn refuse_word(&self, line: usize, word: &str, message: impl Into<String>) -> Box<Refusal> {
        let (line, column) = self.find(line, word).unwrap_or((line, 1));
        self.refuse(line, column, message)
    }

    /// Line and column of a whole word at or after a line.
    #[must_use]
    pub fn find(&self, from_line: usize, word: &str) -> Option<(usize, usize)> {
        let lines = self.text.lines().enumerate().skip(from_line.saturating_sub(1));
        lines
            .filter(|(_, text)| !text.trim_start().starts_with('#'))
            .find_map(|(index, text)| column_of(text, word).map(|column| (index + 1, column)))
    }

    fn refusal(&self, error: &Error) -> Box<Refusal> {
        let error = error.without_snippet();
        let (line, column) =
            error.location().map_or((1, 1), |at| (index(at.line()), index(at.column())));
        let (message, word, expected) = describe(error);
        let (line, column) = word
            .and_then(|word| self.find(line, word).filter(|(found, _)| *found == line))
            .unwrap_or((line, column));
        let mut refusal = self.refuse(line, column, message);
        refusal.help = word.and_then(|word| suggestion(word, expected));
        refusal
    }
}

/// "did you mean", or the list of what there is.
#[must_use]
pub fn suggestion<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(candidate) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{candidate}`?"));
    }
    let all: Vec<&str> = candidates.into_iter().take(60).collect();
    (!all.is_empty()).then(|| format!("one of: {}", all.join(", ")))
}

/// The message, the word at fault and the words that would have been right.
fn describe(error: &Error) -> (String, Option<&str>, Vec<&'static str>) {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            (format!("unknown field `{field}`"), Some(field), expected.clone())
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            (format!("unknown word `{variant}`"), Some(variant), expected.clone())
        }
        Error::SerdeMissingField { field, .. } => {
            (format!("missing field `{field}`"), None, Vec::new())
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            (format!("duplicate key `{key}`"), None, Vec::new())
        }
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            (format!("expected {expected}, found {unexpected}"), None, Vec::new())
        }
        Error::InvalidScalar { ty, .. } => (format!("expected {}", plain(ty)), None, Vec::new()),
        Error::Unexpected { expected, .. } => (format!("expected {expected}"), None, Vec::new()),
        other => (first_line(&other.to_string()), None, Vec::new()),
    }
}

/// A Rust type as a word of the format.
fn plain(ty: &str) -> &str {
    match ty.as_bytes() {
        b"bool" => "`true` or `false`",
        [b'u', ..] => "a whole number from 0 on",
        [b'i', ..] => "a whole number",
        [b'f', ..] => "a number",
        _ => ty,
    }
}

/// The library's own words without its position, which is shown in our way.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line).to_owned()
}

fn column_of(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word).find_map(|(start, found)| {
        let before = text[..start].chars().next_back().is_some_and(part);
        let after = text[start + found.len()..].chars().next().is_some_and(part);
        (!before && !after).then(|| text[..start].chars().count() + 1)
    })
}

fn index(value: u64) -> usize {
    usize::try_from(value).unwrap_or(1)
}
