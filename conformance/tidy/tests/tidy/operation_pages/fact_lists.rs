//! The lists of facts: those of the operations in doc comments, and those that `facts.md` has.
//!
//! Each word between backquotes is a fact, but for those in parentheses and behind `as for`, `with`
//! and `case of`. `those of` takes over the list of another operation, also of another side, and
//! `without` leaves facts out. `for each name` says that a step has the facts below each name that
//! it is given.

use std::collections::{BTreeMap, BTreeSet};

use syn::Variant;

use super::declarations::{about, snake_case};
use super::markdown::FACT_GROUPS;

/// Names of facts, sorted.
pub(super) type Names = BTreeSet<String>;

/// A side and one of its operations.
pub(super) type Place = (String, String);

/// What doc comments say behind `Facts:`, without what stands in parentheses.
pub(super) type Lists = BTreeMap<Place, Option<String>>;

/// The facts of an operation.
#[derive(Debug, Default)]
pub(super) struct OperationFacts {
    pub(super) of_each_name: bool,
    pub(super) names: Names,
}

/// What `facts.md` says.
pub(super) struct FactsPage {
    groups: BTreeMap<&'static str, Names>,
    /// Those that each call of the host into a plugin has, with the methods that do not have them.
    of_calls: Vec<(String, Vec<String>)>,
    of_methods: BTreeMap<String, Names>,
    /// All words between backquotes in the sections on the calls of C functions.
    pub(super) of_handler_calls: Names,
    pub(super) of_allocator_calls: Names,
}

impl FactsPage {
    pub(super) fn read(text: &str) -> Self {
        let group = |title| {
            let rows = rows(section(text, title), "fact");
            let names = owned(rows.flat_map(|[names, _]| quoted(names)));
            assert!(!names.is_empty(), "facts.md lists no {title}");
            (title, names)
        };
        let calls = section(text, "facts of a plugin call");
        let of_calls = rows(calls, "fact").flat_map(|[names, meaning]| {
            let but: Vec<String> = excepted(meaning).map(str::to_owned).collect();
            quoted(names).map(move |name| (name.to_owned(), but.clone()))
        });
        let of_methods = rows(calls, "method").map(|[method, facts]| {
            let method = quoted(method).next().expect("a row names its method").to_owned();
            (method, owned(quoted(&without_parentheses(facts))))
        });
        Self {
            groups: FACT_GROUPS.into_iter().map(group).collect(),
            of_calls: of_calls.collect(),
            of_methods: of_methods.collect(),
            of_handler_calls: owned(quoted(section(text, "facts of a handler's call"))),
            of_allocator_calls: owned(quoted(section(text, "facts of an allocator's call"))),
        }
    }

    /// The facts of a call of the host into the plugin.
    pub(super) fn plugin_call(&self, method: &str) -> Names {
        let common = self.of_calls.iter().filter(|(_, but)| but.iter().all(|but| but != method));
        let further = self.of_methods.get(method).into_iter().flatten();
        common.map(|(name, _)| name).chain(further).cloned().collect()
    }

    /// The methods of which it says more than of all.
    pub(super) fn methods(&self) -> impl Iterator<Item = &str> {
        let excepted = self.of_calls.iter().flat_map(|(_, but)| but);
        self.of_methods.keys().chain(excepted).map(String::as_str)
    }

    /// The facts of an operation.
    pub(super) fn operation(&self, place: &Place, lists: &Lists) -> OperationFacts {
        let (_, operation) = place;
        let Some(list) = lists.get(place).unwrap_or_else(|| panic!("there is no {place:?}")) else {
            return OperationFacts::default();
        };
        let groups = self.groups.iter().filter(|(group, _)| list.contains(**group));
        let mut names: Names = groups.flat_map(|(_, names)| names).cloned().collect();
        let mut leaves_out = false;
        let mut words = pairs(list).peekable();
        while let Some((before, word)) = words.next() {
            leaves_out = before.ends_with("without ") || leaves_out && goes_on(before);
            if before.ends_with("those of ") {
                let side = words.next_if(|(before, _)| *before == " of ").map(|(_, side)| side);
                let other = (side.unwrap_or(&place.0).to_owned(), word.to_owned());
                names.extend(self.operation(&other, lists).names);
            } else if leaves_out {
                assert!(names.remove(word), "`{operation}` leaves out `{word}`, which it has not");
            } else if !explains(before) {
                let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                assert!(is_name, "`{operation}`: `{word}` is no name of a fact");
                names.insert(word.to_owned());
            }
        }
        assert!(!names.is_empty(), "`{operation}` lists no fact after `Facts:`");
        OperationFacts { of_each_name: list.starts_with("for each name "), names }
    }
}

/// The lists of a side, `cai-consumer`, in the doc comments of its operations.
pub(super) fn lists<'a>(
    side: &'a str,
    variants: &'a [&Variant],
) -> impl Iterator<Item = (Place, Option<String>)> + 'a {
    variants.iter().map(move |variant| {
        let paragraphs = about(&variant.attrs);
        let facts = paragraphs.iter().find_map(|text| text.strip_prefix("Facts: "));
        let operation = snake_case(&variant.ident.to_string());
        ((side.to_owned(), operation), facts.map(without_parentheses))
    })
}

/// Each word between backquotes, with what stands in front of it.
fn pairs(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = list.split('`');
    parts.clone().step_by(2).zip(parts.skip(1).step_by(2))
}

/// Whether the words in front of a name go on with a list.
fn goes_on(before: &str) -> bool {
    matches!(before, ", " | " and ")
}

/// Whether the words in front of a name make it something else than a fact.
fn explains(before: &str) -> bool {
    ["as for ", "with ", "case of "].iter().any(|words| before.ends_with(words))
}

fn section<'t>(text: &'t str, title: &str) -> &'t str {
    let rest = text.split(&format!("\n## {title}\n")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("facts.md has no section `{title}`"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// The rows of those tables of a page whose first column has this title and which have two.
fn rows<'t>(text: &'t str, title: &str) -> impl Iterator<Item = [&'t str; 2]> {
    let head = format!("| {title} |");
    let tables =
        text.split("\n\n").map(str::trim_start).filter(move |table| table.starts_with(&head));
    let rows = tables.flat_map(|table| table.lines().skip(2));
    rows.filter_map(|row| row.strip_prefix("| ")?.split_once(" | ").map(Into::into))
}

/// The methods that a meaning excepts: `Not for `create` and `finalize``.
fn excepted(meaning: &str) -> impl Iterator<Item = &str> {
    meaning.split("Not for ").skip(1).flat_map(quoted)
}

fn owned<'t>(words: impl Iterator<Item = &'t str>) -> Names {
    words.map(str::to_owned).collect()
}

/// The words between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |letter: &char| {
        let before = depth;
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before == 0 && depth == 0
    };
    text.chars().filter(outside).collect()
}
