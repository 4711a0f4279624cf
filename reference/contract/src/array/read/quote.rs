//! Quotes values from outside in a message: bounded, and free of control characters.

use crate::array::{Content, Description};

const LIMIT: usize = 60;

/// The value, if it is short by nature, else its class.
pub(super) fn quote(value: &Description) -> String {
    let class = quote_text(&value.class);
    match &value.content {
        Content::None => "None".to_owned(),
        Content::Bool(true) => "True".to_owned(),
        Content::Bool(false) => "False".to_owned(),
        Content::Int(number) => number.to_string(),
        Content::Huge(digits) => quote_text(digits),
        Content::Float(number) => format!("{number:?}, a {class},"),
        Content::Str(string) => format!("`{}`", quote_text(string)),
        _ => format!("an object of class `{class}`"),
    }
}

/// A text from outside.
pub(super) fn quote_text(text: &str) -> String {
    let mut quoted: String = text.chars().take(LIMIT).flat_map(char::escape_debug).collect();
    if text.chars().nth(LIMIT).is_some() {
        quoted.push('…');
    }
    quoted
}
