//! Checks the names of a fixture: a step binds each name once, before other steps use it, and each
//! use fits what the name stands for. A step, or a name, has the facts that are asked of it.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::yaml::{Document, suggestion};
use allocert_requirements::{Refusal, RefusalCode, Side};

use crate::expectation::{Expectation, Expectations};
use crate::fact_names::{self, OperationFacts};
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
    names.references(&case.r#finally).map_err(|invalid| invalid.refuse(document, end))
}

struct Names {
    /// The side whose operations the steps use.
    side: Side,
    /// All names, including those that no longer stand for anything.
    bound: BTreeMap<String, Bound>,
    gone: BTreeSet<String>,
}

/// What a name stands for, and the facts of the step that bound it.
#[derive(Clone, Copy)]
struct Bound {
    r#type: BoundType,
    facts: OperationFacts,
}

impl Names {
    fn after_setup(case: &Case) -> Self {
        let side = case.operations();
        let setup = interface(side).filter(|_| case.setup).map(|side| side.setup);
        let operations = setup.map(|setup| setup()).unwrap_or_default();
        let bound = operations.iter().filter_map(|operation| {
            let (name, r#type) = operation.properties().binds?;
            let facts = fact_names::of_operation(side, operation.name());
            Some((name.to_owned(), Bound { r#type, facts }))
        });
        Self { side, bound: bound.collect(), gone: BTreeSet::new() }
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
        let facts = fact_names::of_operation(self.side, step.r#do.name());
        if let Some((name, r#type)) = properties.binds {
            self.bind(name, Bound { r#type, facts })?;
        }
        own_facts(step, facts)?;
        self.references(&step.expect)?;
        let unbound = properties.unbinds.or(properties.unbinds_on.then_some(step.on.as_str()));
        self.gone.extend(unbound.map(str::to_owned));
        Ok(())
    }

    fn used(&self, used: NameUse<'_>) -> Result<(), InvalidWord> {
        let name = used.name;
        let Some(Bound { r#type, .. }) = self.bound.get(name).copied() else {
            let message = format!("`{name}` is not bound by an earlier step");
            return Err(InvalidWord::new(RefusalCode::UnboundName, name, message)
                .help(self.suggestion(name)));
        };
        if self.gone.contains(name) && !used.may_be_gone {
            let message = format!("an earlier step dropped `{name}`");
            return Err(InvalidWord::new(RefusalCode::DroppedName, name, message));
        }
        if !used.accepts.takes(r#type) {
            let message = format!("`{name}` is {type}, which this operation does not take");
            return Err(InvalidWord::new(RefusalCode::WrongNameType, name, message));
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, bound: Bound) -> Result<(), InvalidWord> {
        match self.bound.insert(name.to_owned(), bound) {
            None => Ok(()),
            Some(_) => Err(InvalidWord::new(
                RefusalCode::DuplicateName,
                name,
                format!("`{name}` is bound twice"),
            )),
        }
    }

    /// Refuses a reference to nothing. A name that was dropped keeps its facts.
    fn references(&self, expectations: &Expectations) -> Result<(), InvalidWord> {
        let mut references = expectations.values().flat_map(Expectation::references);
        references.try_for_each(|reference| {
            let (name, path) = match reference.split_once('.') {
                Some((name, path)) => (name, Some(path)),
                None => (reference, None),
            };
            let Some(Bound { facts, .. }) = self.bound.get(name) else {
                let message = format!("`{name}` is not bound by this or an earlier step");
                return Err(InvalidWord::new(RefusalCode::UnboundName, name, message)
                    .help(self.suggestion(name)));
            };
            path.map_or(Ok(()), |path| {
                let owner = format!("`{name}` is of `{}`, which", facts.operation);
                fact_names::check(path, &facts.names(), reference, &owner)
            })
        })
    }

    fn suggestion(&self, name: &str) -> Option<String> {
        suggestion(name, self.bound.keys().map(String::as_str))
    }
}

/// A fact that a step never has is no expectation that fails, but an error of the fixture.
fn own_facts(step: &Step, facts: OperationFacts) -> Result<(), InvalidWord> {
    let arguments = step.r#do.arguments();
    let names = facts.names_of(arguments.uses.iter().map(|used| used.name));
    let owner = format!("`{}`", facts.operation);
    let mut paths = step.expect.values().flat_map(Expectation::own_facts);
    paths.try_for_each(|path| fact_names::check(path, &names, path, &owner))
}
