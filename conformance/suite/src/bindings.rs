//! Checks the names of a fixture: a step binds each name once, before other steps use it, and each
//! use fits what the name stands for.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::yaml::{Document, suggestion};
use allocert_requirements::{Refusal, RefusalCode};
use smol_str::SmolStr;

use crate::expectation::{CoveredBy, Expectations, Wanted};
use crate::fact_names::FACT_NAMES;
use crate::fixture_format::{Case, Step};
use crate::interface::arguments::{Accepts, NameUse};
use crate::interface::interface;
use crate::interface::properties::BoundType;
use crate::invalid_word::InvalidWord;

/// Checks every name of a case.
pub(crate) fn check(case: &Case, document: &Document<'_>) -> Result<(), Box<Refusal>> {
    let mut names = Names::after_setup(case);
    for step in &case.steps {
        names.step(&step.value).map_err(|invalid| invalid.refuse(document, step.line()))?;
    }
    let end = document.find(1, "finally").map_or(1, |(line, _)| line);
    names.predicates(&case.r#finally).map_err(|invalid| invalid.refuse(document, end))
}

#[derive(Default)]
struct Names {
    /// All names, including those that no longer stand for anything.
    bound: BTreeMap<String, BoundType>,
    gone: BTreeSet<String>,
}

impl Names {
    fn after_setup(case: &Case) -> Self {
        let setup = interface(case.operations()).filter(|_| case.setup).map(|side| side.setup);
        let operations = setup.map(|setup| setup()).unwrap_or_default();
        let bound = operations.iter().filter_map(|operation| operation.properties().binds);
        Self {
            bound: bound.map(|(name, bound)| (name.to_owned(), bound)).collect(),
            gone: BTreeSet::new(),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), InvalidWord> {
        let properties = step.r#do.properties();
        if let Some(bound) = properties.on {
            let on = NameUse { name: &step.on, accepts: Accepts::Only(bound), may_be_gone: false };
            self.used(on)?;
        }
        for used in step.r#do.arguments().uses {
            self.used(used)?;
        }
        if let Some((name, bound)) = properties.binds {
            self.bind(name, bound)?;
        }
        self.predicates(&step.expect)?;
        let unbound = properties.unbinds.or(properties.unbinds_on.then_some(step.on.as_str()));
        self.gone.extend(unbound.map(str::to_owned));
        Ok(())
    }

    fn used(&self, used: NameUse<'_>) -> Result<(), InvalidWord> {
        let name = used.name;
        let Some(bound) = self.bound.get(name).copied() else {
            let message = format!("`{name}` is not bound by an earlier step");
            return Err(InvalidWord::new(RefusalCode::UnboundName, name, message)
                .help(self.suggestion(name)));
        };
        if self.gone.contains(name) && !used.may_be_gone {
            let message = format!("an earlier step dropped `{name}`");
            return Err(InvalidWord::new(RefusalCode::DroppedName, name, message));
        }
        if !used.accepts.takes(bound) {
            let message = format!("`{name}` is {bound}, which this operation does not take");
            return Err(InvalidWord::new(RefusalCode::WrongNameType, name, message));
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, bound: BoundType) -> Result<(), InvalidWord> {
        match self.bound.insert(name.to_owned(), bound) {
            None => Ok(()),
            Some(_) => Err(InvalidWord::new(
                RefusalCode::DuplicateName,
                name,
                format!("`{name}` is bound twice"),
            )),
        }
    }

    /// Predicates, `given`, `covered_by` and `page_locked` may use a name that was dropped: its
    /// facts remain.
    fn predicates(&self, expectations: &Expectations) -> Result<(), InvalidWord> {
        let returns = expectations.values().filter_map(|expectation| expectation.returns.as_ref());
        let calls = expectations.values().filter_map(|expectation| expectation.calls.as_ref());
        let given = expectations.values().map(|expectation| &expectation.given);
        let predicates = returns.chain(calls.flat_map(|calls| calls.facts())).chain(given.clone());
        let predicates = predicates.flat_map(Wanted::values);
        let given = given.flat_map(Wanted::keys).filter_map(|fact| fact.split('.').next());
        let compared = predicates
            .flat_map(|predicate| &predicate.0)
            .filter_map(|(test, value)| test.name_in(value));
        let covered =
            expectations.values().filter_map(|expectation| expectation.covered_by.as_ref());
        let locked =
            expectations.values().filter_map(|expectation| expectation.page_locked.as_deref());
        let named = covered.flat_map(CoveredBy::names).chain(locked);
        self.fact_names(expectations)?;
        for name in compared.chain(given).chain(named) {
            if !self.bound.contains_key(name) {
                let message = format!("`{name}` is not bound by this or an earlier step");
                return Err(InvalidWord::new(RefusalCode::UnboundName, name, message)
                    .help(self.suggestion(name)));
            }
        }
        Ok(())
    }

    /// A fact that does not exist is no expectation that fails, but an error of the fixture.
    fn fact_names(&self, expectations: &Expectations) -> Result<(), InvalidWord> {
        for expectation in expectations.values() {
            let returns = expectation.returns.iter().flat_map(Wanted::keys);
            let calls = expectation.calls.iter().flat_map(|calls| calls.facts());
            let facts = returns.chain(calls.flat_map(Wanted::keys)).map(|path| part(path, 0));
            let given = expectation.given.keys().map(|path| part(path, 1));
            for fact in facts.chain(given) {
                if fact.is_empty() || FACT_NAMES.contains(&fact) || self.bound.contains_key(fact) {
                    continue;
                }
                let message = format!("no step and no call has a fact `{fact}`");
                return Err(InvalidWord::new(RefusalCode::UnknownFact, fact, message)
                    .help(suggestion(fact, FACT_NAMES.iter().copied())));
            }
        }
        Ok(())
    }

    fn suggestion(&self, name: &str) -> Option<String> {
        suggestion(name, self.bound.keys().map(String::as_str))
    }
}

/// The part of a path like `memory.size_bytes`, from 0.
fn part(path: &SmolStr, index: usize) -> &str {
    path.split('.').nth(index).unwrap_or_default()
}
