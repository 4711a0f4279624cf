//! A sequence as a fixture file, ready to be committed.

use allocert_requirements::Requirement;
use allocert_suite::fixture_format::Case;
use allocert_suite::nouns::Teardown;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::sequence::Sequence;
use crate::step::Step;

/// Where the file came from, so that it can be made again.
#[derive(Debug, Clone)]
pub struct Origin {
    /// As on the command line.
    pub subject: String,
    /// How a subject is called that has no table.
    pub abi: Option<String>,
    pub seed: u64,
    pub ops: u64,
    /// Of the program.
    pub version: String,
}

/// The name of the file without `.yaml`: the requirement and the seed, with a number behind it
/// where the name is taken.
#[must_use]
pub fn name(requirement: &str, seed: u64, taken: u32) -> String {
    let name = format!("{}-seed-{seed}", requirement.to_lowercase());
    if taken == 0 { name } else { format!("{name}-{}", taken + 1) }
}

/// The text of `cases/SIDE/explored/NAME.yaml`.
#[must_use]
pub fn text(sequence: &Sequence, requirement: &Requirement, name: &str, origin: &Origin) -> String {
    let Origin { subject, abi, seed, ops, version } = origin;
    let (side, subject) = (sequence.side.side, word(subject));
    let abi: String = abi.iter().map(|abi| format!(" --abi {}", word(abi))).collect();
    let case =
        sequence.clone().into_case(&format!("{side}/explored/{name}"), &requirement.statement);
    let mut text = format!("# Broke {} in a random sequence of operations.\n", requirement.id);
    text.push_str(&allocert_suite::fixture::origin(
        version,
        &format!("allocert explore {side} {subject}{abi} --seed {seed} --ops {ops}"),
    ));
    text.push_str(&head(&case));
    for step in &sequence.steps {
        text.push_str(&step_text(step));
    }
    text
}

/// As a shell takes it, on one line.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().all(plain) { line } else { format!("'{}'", line.replace('\'', r"'\''")) }
}

/// The steps alone, one a line, for a person.
#[must_use]
pub fn lines(sequence: &Sequence) -> Vec<String> {
    sequence.steps.iter().map(line).collect()
}

fn head(case: &Case) -> String {
    let mut head =
        format!("case: {}\nabout: {}\n", case.case, sentence(case.about.trim_end_matches('.')));
    if !case.needs.is_empty() {
        head.push_str(&format!("needs: {}\n", flow(&value(&case.needs))));
    }
    if !case.driver.is_default() {
        head.push_str(&format!("driver: {}\n", flow(&value(&case.driver))));
    }
    if case.teardown != Teardown::Clean {
        head.push_str(&format!("teardown: {}\n", flow(&value(&case.teardown))));
    }
    head.push_str("steps:\n");
    head
}

fn step_text(step: &Step) -> String {
    let mut text = format!("  - do: {}\n", flow(&value(&step.r#do)));
    if step.on != "m" {
        text.push_str(&format!("    on: {}\n", scalar(&step.on)));
    }
    if let Some(thread) = step.thread {
        text.push_str(&format!("    thread: {}\n", flow(&value(&thread))));
    }
    if !step.expect.is_empty() {
        text.push_str("    expect:\n");
    }
    for (id, expectation) in &step.expect {
        text.push_str(&format!("      {id}: {}\n", flow(&value(expectation))));
    }
    text
}

fn line(step: &Step) -> String {
    let on = if step.on == "m" { String::new() } else { format!(" on {}", step.on) };
    let thread = if step.thread.is_some() { " on a thread of its own" } else { "" };
    let operation = flow(&value(&step.r#do)).replacen(": {", " {", 1);
    let operation = operation.trim_start_matches('{').strip_suffix('}').unwrap_or_default();
    format!("{}{on}{thread}", operation.trim_end_matches(" {}"))
}

fn value(thing: &impl Serialize) -> Value {
    serde_json::to_value(thing).unwrap_or_default()
}

/// One line of YAML; what has its default is left out, names come first and `as` last, as people
/// write it.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> =
                map.iter().filter(|(name, value)| !is_default(map, name, value)).collect();
            members.sort_by_key(|(name, _)| rank(name));
            let members =
                members.into_iter().map(|(name, value)| format!("{name}: {}", flow(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Members of operations whose default is what they hold; a view has no default place.
fn is_default(of: &Map<String, Value>, name: &str, value: &Value) -> bool {
    match name {
        "mapped" | "portable" | "wc" | "raising" => value == &Value::Bool(false),
        "offset" => value.as_u64() == Some(0) && !of.contains_key("of"),
        "size" | "as" => value.is_null(),
        _ => false,
    }
}

fn rank(name: &str) -> u8 {
    match name {
        "memory" | "buffer" | "block" | "of" | "name" | "scope" => 0,
        "as" => 2,
        _ => 1,
    }
}

/// Plain where YAML reads a line of its own as a text, quoted otherwise.
fn sentence(text: &str) -> String {
    quoted_unless(text, |c| matches!(c, ' ' | ',' | '(' | ')'))
}

/// As [`sentence`], inside brackets.
fn scalar(text: &str) -> String {
    quoted_unless(text, |_| false)
}

fn quoted_unless(text: &str, also: fn(char) -> bool) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') || also(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic()) && !text.ends_with(' ');
    let word = !matches!(
        text.to_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if starts && word && text.chars().all(plain) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}
