//! Names in a fixture: bound once, before they are used, and used as what they are.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::yaml::{Document, suggestion};
use allocert_requirements::{Refusal, Side};

use crate::case::{Case, Step};
use crate::expand::ADAPTER;
use crate::expectation::{CoveredBy, Expectations, Wanted};
use crate::operation::{BoundType, Operation};

/// Checks every name of a case.
pub(crate) fn check(case: &Case, document: &Document<'_>) -> Result<(), Box<Refusal>> {
    let mut names = Names::new(case);
    for step in &case.steps {
        let line = step.line();
        names.step(case.operations(), &step.value).map_err(|complaint| {
            let mut refusal = document.refuse_word(line, &complaint.word, complaint.message);
            refusal.help = complaint.help;
            refusal
        })?;
    }
    let end = document.find(1, "finally").map_or(1, |(line, _)| line);
    names.predicates(&case.r#finally).map_err(|complaint| {
        let mut refusal = document.refuse_word(end, &complaint.word, complaint.message);
        refusal.help = complaint.help;
        refusal
    })
}

struct Complaint {
    word: String,
    message: String,
    help: Option<String>,
}

#[derive(Default)]
struct Names {
    bound: BTreeMap<String, BoundType>,
    gone: BTreeSet<String>,
}

impl Names {
    fn new(case: &Case) -> Self {
        let mut names = Self::default();
        let given = match case.operations() {
            Side::Emm => Some(("m", BoundType::Manager)),
            Side::CaiProducer | Side::CaiConsumer => Some((ADAPTER, BoundType::Adapter)),
            Side::EmmHost | Side::Nep49 | Side::Nep49Host | Side::Place => None,
        };
        if let Some((name, noun)) = given.filter(|_| case.setup) {
            names.bound.insert(name.to_owned(), noun);
        }
        names
    }

    fn step(&mut self, operations: Side, step: &Step) -> Result<(), Complaint> {
        let operation = &step.r#do;
        if !operation.belongs().contains(&operations) {
            let message = format!("`{}` is no operation of {operations}", operation.name());
            return Err(Complaint { word: operation.name().to_owned(), message, help: None });
        }
        if operation.on_manager() {
            self.used(&step.on, &[BoundType::Manager])?;
        }
        for (name, nouns) in operation.uses() {
            self.used(name, nouns)?;
        }
        if let Some(name) = operation.recalls() {
            let noun = self.known(name)?;
            if matches!(operation, Operation::Call(_)) && noun != BoundType::Memory {
                let message = format!("`{name}` stands for {}, which has no token", article(noun));
                return Err(Complaint { word: name.to_owned(), message, help: None });
            }
        }
        if let Some((name, noun)) = operation.binds() {
            self.bind(name, noun)?;
        }
        self.predicates(&step.expect)?;
        let destroyed = matches!(operation, Operation::Destroy {}).then_some(step.on.as_str());
        if let Some(name) = operation.unbinds().or(destroyed) {
            self.gone.insert(name.to_owned());
        }
        Ok(())
    }

    /// What a name stands for, or stood for.
    fn known(&self, name: &str) -> Result<BoundType, Complaint> {
        self.bound.get(name).copied().ok_or_else(|| Complaint {
            word: name.to_owned(),
            message: format!("`{name}` is not bound by an earlier step"),
            help: suggestion(name, self.bound.keys().map(String::as_str)),
        })
    }

    fn used(&self, name: &str, nouns: &[BoundType]) -> Result<(), Complaint> {
        let complaint = |message| Err(Complaint { word: name.to_owned(), message, help: None });
        let noun = self.known(name)?;
        if self.gone.contains(name) {
            return complaint(format!("`{name}` is gone: an earlier step dropped it"));
        }
        let wrong = if nouns.is_empty() {
            matches!(noun, BoundType::Manager | BoundType::Adapter)
        } else {
            !nouns.contains(&noun)
        };
        if wrong {
            return complaint(format!(
                "`{name}` stands for {}, which this operation does not take",
                article(noun)
            ));
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, noun: BoundType) -> Result<(), Complaint> {
        match self.bound.insert(name.to_owned(), noun) {
            None => Ok(()),
            Some(_) => {
                let message = format!("`{name}` is bound twice");
                Err(Complaint { word: name.to_owned(), message, help: None })
            }
        }
    }

    /// Names inside predicates, `given` and `covered_by` may be gone: their facts stay.
    fn predicates(&self, expectations: &Expectations) -> Result<(), Complaint> {
        let returns = expectations.values().filter_map(|expectation| expectation.returns.as_ref());
        let calls = expectations.values().filter_map(|expectation| expectation.calls.as_ref());
        let given = expectations.values().map(|expectation| &expectation.given);
        let predicates =
            returns.chain(calls.flat_map(|calls| calls.with.values())).chain(given.clone());
        let predicates = predicates.flat_map(Wanted::values);
        let given = given.flat_map(Wanted::keys).filter_map(|fact| fact.split('.').next());
        let compared = predicates
            .flat_map(|predicate| &predicate.0)
            .filter_map(|(test, value)| test.name_in(value));
        let covered =
            expectations.values().filter_map(|expectation| expectation.covered_by.as_ref());
        for name in compared.chain(given).chain(covered.flat_map(CoveredBy::names)) {
            if !self.bound.contains_key(name) {
                let help = suggestion(name, self.bound.keys().map(String::as_str));
                let message = format!("`{name}` is not bound by this or an earlier step");
                return Err(Complaint { word: name.to_owned(), message, help });
            }
        }
        Ok(())
    }
}

fn article(noun: BoundType) -> &'static str {
    match noun {
        BoundType::Manager => "a manager",
        BoundType::Adapter => "the subject's adapter",
        BoundType::Memory => "memory",
        BoundType::Buffer => "a buffer",
        BoundType::Info => "memory information",
        BoundType::Handle => "a handle",
        BoundType::Scope => "a scope",
        BoundType::Array => "an array",
        BoundType::Stream => "a stream of the worker",
        BoundType::SubjectStream => "a stream of the subject",
        BoundType::Object => "an object without the interface",
        BoundType::HostObject => "an object of the host",
        BoundType::Export => "an export",
        BoundType::Produced => "an object of the worker",
        BoundType::Imported => "an imported array",
    }
}
