//! Reads structures from the tree: a serde deserializer over [`Node`]s.

use std::fmt;
use std::marker::PhantomData;
use std::slice::Iter;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::node::{Content, Meaning, Node, Position, Scalar};
use crate::nearest::suggestion;
use crate::refusal_code::RefusalCode;

/// The name by which [`Spanned`] asks for its position.
const SPANNED: &str = "$allocert::Spanned";

/// A value and the place where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub position: Position,
}

impl<T> Spanned<T> {
    /// A value that stands in no file; its line is 0.
    pub fn unwritten(value: T) -> Self {
        Self { value, position: Position::NOWHERE }
    }

    /// From 1.
    pub fn line(&self) -> usize {
        self.position.line
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple_struct(SPANNED, 3, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line, a column and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let (Some(line), Some(column), Some(value)) =
            (parts.next_element()?, parts.next_element()?, parts.next_element()?)
        else {
            return Err(de::Error::invalid_length(0, &self));
        };
        Ok(Spanned { value, position: Position { line, column } })
    }
}

/// Why a structure cannot be read, and where.
#[derive(Debug)]
pub struct Error(Box<Complaint>);

#[derive(Debug)]
pub(super) struct Complaint {
    pub(super) code: RefusalCode,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// Unknown until the innermost node at fault has added it.
    pub(super) position: Option<Position>,
}

impl Error {
    pub(super) fn new(code: RefusalCode, message: String, help: Option<String>) -> Self {
        Self(Box::new(Complaint { code, message, help, position: None }))
    }

    /// The same error at this position, unless it has one.
    pub(super) fn at(mut self, position: Position) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    pub(super) fn into_complaint(self) -> Complaint {
        *self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(RefusalCode::WrongType, message.to_string(), None)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (expected, found) = (plain(&expected.to_string()), found(unexpected));
        Self::new(RefusalCode::WrongType, format!("expected {expected}, found {found}"), None)
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let help = suggestion(variant, expected.iter().copied());
        Self::new(RefusalCode::UnknownWord, format!("unknown word `{variant}`"), help)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let help = suggestion(field, expected.iter().copied());
        Self::new(RefusalCode::UnknownField, format!("unknown field `{field}`"), help)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(RefusalCode::MissingField, format!("missing field `{field}`"), None)
    }
}

/// What a structure expects, in the words of the formats instead of Rust's.
fn plain(expected: &str) -> String {
    let words = match expected {
        "a boolean" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" => "a text",
        "a map" => "a mapping",
        "a sequence" => "a list",
        _ if expected.starts_with("struct ") || expected.starts_with("struct variant ") => {
            "a mapping"
        }
        _ if expected.starts_with("enum ") => "a word, or a mapping of one word",
        _ => expected,
    };
    words.to_owned()
}

fn found(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value}`"),
        Unexpected::Str(text) => format!("`{text}`"),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Map | Unexpected::StructVariant => "a mapping".to_owned(),
        Unexpected::Seq | Unexpected::TupleVariant => "a list".to_owned(),
        other => other.to_string(),
    }
}

impl Node {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.content {
            Content::List(_) => Unexpected::Seq,
            Content::Map(_) => Unexpected::Map,
            Content::Scalar(Scalar { text, meaning }) => match meaning {
                Meaning::Null => Unexpected::Unit,
                _ => Unexpected::Str(text),
            },
        }
    }

    fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(Scalar { meaning: Meaning::Null, .. }))
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.content {
            Content::List(items) => visitor.visit_seq(Items(items.iter())),
            Content::Map(members) => {
                visitor.visit_map(Members { rest: members.iter(), value: None })
            }
            Content::Scalar(Scalar { text, meaning }) => match *meaning {
                Meaning::Null => visitor.visit_unit(),
                Meaning::Bool(value) => visitor.visit_bool(value),
                Meaning::Integer(value) => visit_integer(value, visitor),
                Meaning::Float(value) => visitor.visit_f64(value),
                Meaning::PlainText | Meaning::QuotedText => visitor.visit_borrowed_str(text),
            },
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.content {
            Content::Scalar(Scalar { meaning: Meaning::Integer(value), .. }) => {
                visitor.visit_i128(*value)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// A number where a text is asked for is the text that stands there.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.content {
            Content::Scalar(Scalar { text, .. }) if !self.is_null() => {
                visitor.visit_borrowed_str(text)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == SPANNED {
            return visitor.visit_seq(Parts { node: self, next: 0 });
        }
        self.deserialize_any(visitor)
    }

    /// The members of a structure are named; serde would take a list of their values too.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.content {
            Content::List(_) => Err(de::Error::invalid_type(self.unexpected(), &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.content {
            Content::Scalar(_) if !self.is_null() => {
                visitor.visit_enum(Variant { word: self, value: None })
            }
            Content::Map(members) if members.len() == 1 => {
                let (word, value) = &members[0];
                visitor.visit_enum(Variant { word, value: Some(value) })
            }
            Content::Map(members) => {
                let message = format!("expected a mapping of one word, found {}", members.len());
                Err(Error::new(RefusalCode::WrongType, message, None).at(self.position))
            }
            _ => {
                Err(de::Error::invalid_type(self.unexpected(), &"a word, or a mapping of one word"))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq
        tuple map
    }
}

/// Serde's own values know integers of 64 bits; a larger one is a float to them.
fn visit_integer<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value, Error> {
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => visitor.visit_u64(value),
        (_, Ok(value)) => visitor.visit_i64(value),
        _ => visitor.visit_f64(value as f64),
    }
}

fn read<'de, T: DeserializeSeed<'de>>(seed: T, node: &'de Node) -> Result<T::Value, Error> {
    seed.deserialize(node).map_err(|error| error.at(node.position))
}

struct Items<'de>(Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|node| read(seed, node)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Members<'de> {
    rest: Iter<'de, (Node, Node)>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        read(seed, key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(value) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        read(seed, value)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Line, column and value of a [`Spanned`].
struct Parts<'de> {
    node: &'de Node,
    next: u8,
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.next += 1;
        let Position { line, column } = self.node.position;
        match self.next {
            1 => seed.deserialize(line.into_deserializer()).map(Some),
            2 => seed.deserialize(column.into_deserializer()).map(Some),
            3 => read(seed, self.node).map(Some),
            _ => Ok(None),
        }
    }
}

/// A word alone, or a word and what belongs to it.
struct Variant<'de> {
    word: &'de Node,
    value: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        Ok((read(seed, self.word)?, self))
    }
}

impl<'de> Variant<'de> {
    /// What belongs to the word, which needs it.
    fn value(&self) -> Result<&'de Node, Error> {
        self.value.ok_or_else(|| {
            let word = match &self.word.content {
                Content::Scalar(Scalar { text, .. }) => text.as_str(),
                Content::List(_) | Content::Map(_) => "",
            };
            let message = format!("`{word}` stands alone and needs a value: `{word}: ...`");
            Error::new(RefusalCode::WrongType, message, None).at(self.word.position)
        })
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.value {
            Some(value) if !value.is_null() => {
                let error: Error = de::Error::invalid_type(value.unexpected(), &"nothing");
                Err(error.at(value.position))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        read(seed, self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let value = self.value()?;
        value.deserialize_any(visitor).map_err(|error| error.at(value.position))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let value = self.value()?;
        value.deserialize_struct("", &[], visitor).map_err(|error| error.at(value.position))
    }
}
