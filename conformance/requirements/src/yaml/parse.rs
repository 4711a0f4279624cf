//! Parses a text into a tree. No other file names serde-saphyr.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error as Fault, Location, Options, Spanned};

use super::deserialize::Error;
use super::node::{Content, Meaning, Node, Position, Scalar};
use crate::refusal_code::RefusalCode;

/// Reads the one document of a text.
pub(super) fn parse(text: &str) -> Result<Node, Error> {
    let mut options = Options::default();
    options.with_snippet = false;
    options.strict_booleans = true;
    match serde_saphyr::from_str_with_options::<Spanned<Parsed>>(text, options) {
        Ok(parsed) => Ok(node(parsed, text)),
        Err(fault) => Err(error(&fault)),
    }
}

/// A value as the library hands it out.
enum Parsed {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<Self>, Spanned<Self>)>),
}

/// The node of a parsed value. The library has turned `0.30` into a number already; the text of a
/// plain scalar is what stands at its place.
fn node(parsed: Spanned<Parsed>, text: &str) -> Node {
    let written = written(parsed.referenced, text);
    let scalar = |text: &str, meaning| Content::Scalar(Scalar { text: text.to_owned(), meaning });
    let content = match parsed.value {
        Parsed::Null => scalar(written, Meaning::Null),
        Parsed::Bool(value) => scalar(written, Meaning::Bool(value)),
        Parsed::Integer(value) => scalar(written, Meaning::Integer(value)),
        // The library reads an integer of more than 64 bits as a float.
        Parsed::Float(value) => {
            let integer = written.parse().map(Meaning::Integer);
            scalar(written, integer.unwrap_or(Meaning::Float(value)))
        }
        Parsed::Text(value) if value == written => scalar(&value, Meaning::PlainText),
        Parsed::Text(value) => scalar(&value, Meaning::QuotedText),
        Parsed::List(items) => {
            Content::List(items.into_iter().map(|item| node(item, text)).collect())
        }
        Parsed::Map(members) => {
            let member = |(key, value)| (node(key, text), node(value, text));
            Content::Map(members.into_iter().map(member).collect())
        }
    };
    Node { position: position(parsed.referenced), content }
}

/// What stands in the text at a location.
fn written(at: Location, text: &str) -> &str {
    let span = at.span();
    let range = span.byte_offset().zip(span.byte_len()).map(|(start, len)| start..start + len);
    let range = range.and_then(|range| {
        Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    });
    range.and_then(|range| text.get(range)).unwrap_or_default().trim_end()
}

fn position(at: Location) -> Position {
    let index = |value: u64| usize::try_from(value).unwrap_or_default();
    Position { line: index(at.line()), column: index(at.column()) }
}

fn error(fault: &Fault) -> Error {
    let fault = fault.without_snippet();
    let message = match fault {
        Fault::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        other => first_line(&other.to_string()),
    };
    let at = fault.location().map_or(Position { line: 1, column: 1 }, position);
    Error::new(RefusalCode::InvalidYaml, message, None).at(at)
}

/// The library's own words without its position, which is shown in our way.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line).to_owned()
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Parsed, E> {
        Ok(Parsed::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Parsed::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(Parsed::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        Ok(Parsed::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Parsed, E> {
        Ok(Parsed::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Parsed, E> {
        Ok(Parsed::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Parsed, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Parsed::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Parsed, A::Error> {
        let mut map = Vec::new();
        while let Some(member) = members.next_entry()? {
            map.push(member);
        }
        Ok(Parsed::Map(map))
    }
}
