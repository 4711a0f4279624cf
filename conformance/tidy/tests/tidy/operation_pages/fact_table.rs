//! The table of facts that the suite reads fixtures with.

use std::fmt::Write;

use allocert_contract::trace::{Boundary, Function};

use super::declarations::Declarations;
use super::fact_lists::{self, FactsPage, Lists, Names};

const COLUMNS: usize = 100;

const HEAD: &str = "\
//! The facts of each operation and of each call into a plugin.
//!
//! A test writes this file from the doc comments of the operations and from
//! `docs/fixtures/facts.md`: `ALLOCERT_BLESS=1 cargo test -p allocert-tidy operation_pages`.

use allocert_requirements::Side;

use super::OperationFacts;

#[rustfmt::skip]
pub(super) const OPERATIONS: &[(Side, &[OperationFacts])] = &[
";

const BETWEEN: &str = "\
];

#[rustfmt::skip]
pub(super) const PLUGIN_CALLS: &[(&str, &[&str])] = &[
";

/// The source of the table, of the sides with their names.
pub(super) fn source(sides: &[(String, Declarations)], page: &FactsPage) -> String {
    let mut lists = Lists::new();
    for (side, declarations) in sides {
        let operations = declarations.variants("Operation").expect("a side has operations");
        lists.extend(fact_lists::lists(side, &operations));
    }
    let mut text = HEAD.to_owned();
    for (side, _) in sides {
        let _ = writeln!(text, "    (Side::{}, &[", variant(side));
        for place in lists.keys().filter(|(of, _)| of == side) {
            let facts = page.operation(place, &lists);
            let of = if facts.of_each_name { "of_each_name" } else { "of_step" };
            let begin = format!("OperationFacts::{of}({:?}, ", place.1);
            entry(&mut text, "        ", &begin, &facts.names);
        }
        text.push_str("    ]),\n");
    }
    text.push_str(BETWEEN);
    for method in methods() {
        let begin = format!("({:?}, ", method.name());
        entry(&mut text, "    ", &begin, &page.plugin_call(method.name()));
    }
    text.push_str("];\n");
    text
}

/// `CaiConsumer` of the side `cai-consumer`.
fn variant(side: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    side.split('-').map(word).collect()
}

/// An element of the table: on one line, or with its names on lines of their own.
fn entry(text: &mut String, indent: &str, begin: &str, names: &Names) {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let line = format!("{indent}{begin}&[{}]),", quoted.join(", "));
    if line.len() <= COLUMNS {
        let _ = writeln!(text, "{line}");
        return;
    }
    let _ = writeln!(text, "{indent}{begin}&[");
    let mut line = format!("{indent}   ");
    for name in quoted {
        if line.len() + name.len() + 2 > COLUMNS {
            let _ = writeln!(text, "{line}");
            line = format!("{indent}   ");
        }
        let _ = write!(line, " {name},");
    }
    let _ = writeln!(text, "{line}\n{indent}]),");
}

/// `facts.md` says of each call what its record has, and speaks of no other method of a plugin.
pub(super) fn compare_with_record(page: &FactsPage) {
    for function in Function::all() {
        let (facts, recorded) = match function.boundary() {
            Boundary::Cuda => continue,
            Boundary::Handler => (&page.of_handler_calls, Vec::new()),
            Boundary::Place => (&page.of_allocator_calls, Vec::new()),
            Boundary::Plugin => (&page.plugin_call(function.name()), function.outputs().collect()),
        };
        let recorded = function.inputs().chain(recorded);
        let missing: Vec<&str> = recorded.filter(|name| !facts.contains(*name)).collect();
        assert!(missing.is_empty(), "facts.md lacks {missing:?} of `{function}`");
    }
    let is_method = |name: &str| methods().any(|method| method.name() == name);
    let unknown: Vec<&str> = page.methods().filter(|name| !is_method(name)).collect();
    assert!(unknown.is_empty(), "facts.md speaks of {unknown:?}, which no plugin has");
}

/// What a host calls of a plugin.
fn methods() -> impl Iterator<Item = Function> {
    Function::all().filter(|function| function.boundary() == Boundary::Plugin)
}
