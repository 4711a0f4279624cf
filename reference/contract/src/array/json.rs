//! The JSON form of a description. What makes no sense there becomes an opaque value: it comes from
//! outside.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::description::{Content, Description, Entries, Items};

/// One object, before its fields are made sense of.
#[derive(Deserialize)]
struct Wire {
    r#type: String,
    base: Option<String>,
    value: Option<Scalar>,
    digits: Option<String>,
    items: Option<Vec<Description>>,
    truncated: Option<u64>,
    entries: Option<BTreeMap<String, Description>>,
    #[serde(default)]
    other_keys: Vec<String>,
    interface: Option<Box<Description>>,
    raised: Option<String>,
}

enum Scalar {
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
}

impl Wire {
    fn content(self) -> Content {
        let kind = self.base.as_deref().unwrap_or(&self.r#type);
        let truncated = self.truncated.unwrap_or(0);
        match (kind, self.value) {
            _ if self.interface.is_some() => {
                self.interface.map_or(Content::Opaque, Content::Exporter)
            }
            _ if self.raised.is_some() => self.raised.map_or(Content::Opaque, Content::Raised),
            ("NoneType", None) => Content::None,
            ("bool", Some(Scalar::Bool(value))) => Content::Bool(value),
            ("int", Some(Scalar::Int(value))) => Content::Int(value),
            ("int", None) => self.digits.map_or(Content::Opaque, integer),
            ("float", Some(Scalar::Float(value))) => Content::Float(value),
            ("float", Some(Scalar::Int(value))) => Content::Float(value as f64),
            ("str", Some(Scalar::Str(value))) if truncated == 0 => Content::Str(value),
            ("dict", None) => {
                self.entries.map_or(Content::NotCarried, |known| dict(known, self.other_keys))
            }
            ("tuple", None) => {
                self.items.map_or(Content::NotCarried, |all| Content::Tuple(items(all, truncated)))
            }
            ("list", None) => {
                self.items.map_or(Content::NotCarried, |all| Content::List(items(all, truncated)))
            }
            _ if truncated > 0 => Content::NotCarried,
            _ => Content::Opaque,
        }
    }
}

/// Digits are used for what a reader of JSON might round.
fn integer(digits: String) -> Content {
    digits.parse().map_or(Content::Huge(digits), Content::Int)
}

fn items(carried: Vec<Description>, truncated: u64) -> Items {
    Items { carried, truncated }
}

fn dict(known: BTreeMap<String, Description>, others: Vec<String>) -> Content {
    Content::Dict(Entries { known, others })
}

impl<'de> Deserialize<'de> for Description {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        Ok(Self { class: wire.r#type.clone(), base: wire.base.clone(), content: wire.content() })
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneScalar)
    }
}

struct OneScalar;

impl Visitor<'_> for OneScalar {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number or a string")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Int(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Int(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Str(value.to_owned()))
    }
}

impl Serialize for Description {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.class)?;
        if let Some(base) = &self.base {
            map.serialize_entry("base", base)?;
        }
        match &self.content {
            Content::None | Content::Opaque => (),
            Content::Bool(value) => map.serialize_entry("value", value)?,
            Content::Int(value) => serialize_int(&mut map, *value)?,
            Content::Huge(digits) => map.serialize_entry("digits", digits)?,
            Content::Float(value) => map.serialize_entry("value", value)?,
            Content::Str(value) => map.serialize_entry("value", value)?,
            Content::Tuple(items) | Content::List(items) => serialize_items(&mut map, items)?,
            Content::Dict(entries) => {
                map.serialize_entry("entries", &entries.known)?;
                if !entries.others.is_empty() {
                    map.serialize_entry("other_keys", &entries.others)?;
                }
            }
            Content::Exporter(interface) => map.serialize_entry("interface", interface)?,
            Content::Raised(text) => map.serialize_entry("raised", text)?,
            Content::NotCarried => map.serialize_entry("truncated", &1)?,
        }
        map.end()
    }
}

fn serialize_int<M: SerializeMap>(map: &mut M, value: i128) -> Result<(), M::Error> {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => map.serialize_entry("value", &value),
        (_, Ok(value)) => map.serialize_entry("value", &value),
        _ => map.serialize_entry("digits", &value.to_string()),
    }
}

fn serialize_items<M: SerializeMap>(map: &mut M, items: &Items) -> Result<(), M::Error> {
    map.serialize_entry("items", &items.carried)?;
    if items.truncated > 0 { map.serialize_entry("truncated", &items.truncated) } else { Ok(()) }
}
