//! A word of a fixture that is refused.

use allocert_requirements::yaml::Document;
use allocert_requirements::{Refusal, RefusalCode};

/// A word that contradicts another one, or has no valid meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidWord {
    code: RefusalCode,
    /// As the fixture writes it.
    word: String,
    message: String,
    help: Option<String>,
}

impl InvalidWord {
    pub(crate) fn new(code: RefusalCode, word: &str, message: impl Into<String>) -> Self {
        Self { code, word: word.to_owned(), message: message.into(), help: None }
    }

    pub(crate) fn help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// The refusal of the document in which the word stands, at or after a line.
    pub(crate) fn refuse(self, document: &Document<'_>, line: usize) -> Box<Refusal> {
        let refusal = document.refuse_word(self.code, line, &self.word, self.message);
        Box::new(Refusal { help: self.help, ..*refusal })
    }
}
