//! Replaces `$name` in the text of a fixture by each value of the axis `name`, and makes one text
//! for each combination of values. No line number changes.

use std::fmt;

use allocert_requirements::yaml::{Document, suggestion};
use allocert_requirements::{Refusal, RefusalCode};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

/// One combination of values and the text that it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    /// `/size:255/mapped:true`, or nothing without axes.
    pub(crate) suffix: String,
    pub(crate) text: String,
}

/// Every permutation of a fixture, in the order in which the axes and their values are written.
///
/// # Errors
/// An axis without values, a value that is no scalar, an axis that the text does not use, a `$name`
/// that is no axis.
pub(crate) fn permutations(document: &Document<'_>) -> Result<Vec<Permutation>, Box<Refusal>> {
    let Axes(axes) = document.read::<Head>()?.axes;
    let names: Vec<&str> = axes.iter().map(|(name, _)| name.as_str()).collect();
    let used = used(document, &names)?;
    let line = document.find(1, "axes").map_or(1, |(line, _)| line);
    let mut choices: Vec<Vec<(&str, String)>> = vec![Vec::new()];
    for (name, values) in &axes {
        if !used.contains(&name.as_str()) {
            return Err(document.refuse_word(
                RefusalCode::InvalidAxis,
                line,
                name,
                format!("axis `{name}` is not used: the text has no `${name}`"),
            ));
        }
        let values = texts(document, line, name, values)?;
        choices = choices
            .iter()
            .flat_map(|chosen| {
                values.iter().map(move |value| {
                    let mut chosen = chosen.clone();
                    chosen.push((name, value.clone()));
                    chosen
                })
            })
            .collect();
    }
    Ok(choices.iter().map(|chosen| permutation(document.text, chosen)).collect())
}

/// The part of a fixture that is read before its axes are replaced.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    axes: Axes,
}

/// The axes, in the order of the file.
#[derive(Default)]
struct Axes(Vec<(String, Vec<Value>)>);

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("axes: name to list of scalars")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Axes, A::Error> {
                let mut axes = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    axes.push(entry);
                }
                Ok(Axes(axes))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

/// The values of one axis as they will stand in the text.
fn texts(
    document: &Document<'_>,
    line: usize,
    name: &str,
    values: &[Value],
) -> Result<Vec<String>, Box<Refusal>> {
    if values.is_empty() {
        return Err(document.refuse_word(
            RefusalCode::InvalidAxis,
            line,
            name,
            format!("axis `{name}` has no values"),
        ));
    }
    let mut texts = Vec::new();
    for value in values {
        let text = match value {
            Value::String(text) if !text.contains('\n') => text.clone(),
            Value::Number(_) | Value::Bool(_) | Value::Null => value.to_string(),
            _ => {
                return Err(document.refuse_word(
                    RefusalCode::InvalidAxis,
                    line,
                    name,
                    format!("a value of axis `{name}` is no scalar"),
                ));
            }
        };
        if texts.contains(&text) {
            return Err(document.refuse_word(
                RefusalCode::InvalidAxis,
                line,
                name,
                format!("axis `{name}` has the value {text} twice"),
            ));
        }
        texts.push(text);
    }
    Ok(texts)
}

/// The axes that the text uses; comment lines do not count.
fn used<'a>(document: &Document<'_>, names: &[&'a str]) -> Result<Vec<&'a str>, Box<Refusal>> {
    let mut used = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        for (at, _) in line.match_indices('$') {
            let word = identifier(&line[at + 1..]);
            match names.iter().find(|name| **name == word) {
                Some(name) => used.push(*name),
                None => {
                    let column = line[..at].chars().count() + 1;
                    let mut refusal = document.refuse(
                        RefusalCode::InvalidAxis,
                        index + 1,
                        column,
                        format!("`${word}` is no axis of this case"),
                    );
                    refusal.help = suggestion(word, names.iter().copied());
                    return Err(refusal);
                }
            }
        }
    }
    Ok(used)
}

fn permutation(text: &str, chosen: &[(&str, String)]) -> Permutation {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let word = identifier(&rest[at + 1..]);
        out.push_str(&rest[..at]);
        match chosen.iter().find(|(name, _)| *name == word) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(&rest[at..=at + word.len()]),
        }
        rest = &rest[at + 1 + word.len()..];
    }
    out.push_str(rest);
    let suffix = chosen.iter().map(|(name, value)| format!("/{name}:{}", segment(value))).collect();
    Permutation { suffix, text: out }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// A value as a part of a case's id, without characters that have a meaning in a path or a glob.
fn segment(value: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ':');
    value.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}
