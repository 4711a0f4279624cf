//! The names of the facts that each operation returns and each call has, so that a wrong one in a
//! fixture is found when the fixture is read.
//!
//! The doc comments of the operations and `docs/fixtures/facts.md` say what they are. A test writes
//! the table from both.

mod table;

use allocert_contract::trace::Function;
use allocert_requirements::yaml::suggestion;
use allocert_requirements::{RefusalCode, Side};

use crate::invalid_word::InvalidWord;
use table::{OPERATIONS, PLUGIN_CALLS};

/// The facts of one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperationFacts {
    pub(crate) operation: &'static str,
    /// A step has them below each name that it is given: `p.strides`.
    of_each_name: bool,
    names: &'static [&'static str],
}

impl OperationFacts {
    const fn of_step(operation: &'static str, names: &'static [&'static str]) -> Self {
        Self { operation, of_each_name: false, names }
    }

    const fn of_each_name(operation: &'static str, names: &'static [&'static str]) -> Self {
        Self { operation, of_each_name: true, names }
    }

    /// The facts of a step, and so of the name that it binds.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names_of([].into_iter())
    }

    /// The facts of a step that is given these names.
    pub(crate) fn names_of<'n>(&self, given: impl Iterator<Item = &'n str>) -> Vec<String> {
        if !self.of_each_name {
            return self.names.iter().map(|&fact| fact.to_owned()).collect();
        }
        given.flat_map(|name| self.names.iter().map(move |fact| format!("{name}.{fact}"))).collect()
    }
}

/// The facts of an operation; none of one that the table lacks.
pub(crate) fn of_operation(side: Side, operation: &'static str) -> OperationFacts {
    let operations = OPERATIONS.iter().find(|(of, _)| *of == side).map_or(&[][..], |(_, all)| *all);
    let facts = operations.iter().find(|facts| facts.operation == operation).copied();
    facts.unwrap_or(OperationFacts::of_step(operation, &[]))
}

/// The facts of each call of a function: its arguments, and what the worker's plugin adds to them.
pub(crate) fn of_calls(function: Function) -> Vec<&'static str> {
    match function {
        Function::Plugin(method) => {
            let facts = PLUGIN_CALLS.iter().find(|(of, _)| *of == method.name());
            facts.map_or_else(Vec::new, |(_, names)| names.to_vec())
        }
        Function::Cuda(_) | Function::Handler(_) | Function::Place(_) => {
            function.inputs().collect()
        }
    }
}

/// Refuses a path, such as `memory.size_bytes`, that begins with none of these facts of an owner.
/// `word` is what the fixture has there.
pub(crate) fn check(
    path: &str,
    facts: &[impl AsRef<str>],
    word: &str,
    owner: &str,
) -> Result<(), InvalidWord> {
    let facts = facts.iter().map(AsRef::as_ref);
    let goes_on = |rest: &str| rest.is_empty() || rest.starts_with('.');
    if facts.clone().any(|fact| path.strip_prefix(fact).is_some_and(goes_on)) {
        return Ok(());
    }
    let parts = facts.clone().next().map_or(1, |fact| fact.split('.').count());
    let end = path.match_indices('.').nth(parts - 1).map_or(path.len(), |(at, _)| at);
    let fact = &path[..end];
    let message = format!("{owner} has no fact `{fact}`");
    Err(InvalidWord::new(RefusalCode::UnknownFact, word, message).help(suggestion(fact, facts)))
}
