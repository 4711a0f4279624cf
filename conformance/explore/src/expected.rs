//! The results that the model expects of a step.

use allocert_suite::expectation::{Calls, Expectation, Expectations};
use allocert_suite::nouns::ErrorKind;
use allocert_suite::predicate::{Predicate, Test};
use allocert_suite::vec_map::VecMap;
use serde_json::Value;
use smol_str::SmolStr;

use crate::demand::{Demand, RequirementIds};

/// What must hold, by demand.
#[derive(Debug)]
pub(crate) struct Expected<D>(VecMap<D, Expectation>);

impl<D: Demand> Expected<D> {
    pub(crate) fn nothing() -> Self {
        Self(VecMap::new())
    }

    /// The step returns.
    pub(crate) fn returns(self, demand: D) -> Self {
        self.facts(demand, [])
    }

    /// The step returns, and these facts hold.
    pub(crate) fn facts<const N: usize>(
        mut self,
        demand: D,
        facts: [(&'static str, Predicate); N],
    ) -> Self {
        let facts =
            facts.into_iter().map(|(name, predicate)| (SmolStr::new_static(name), predicate));
        self.of(demand).returns.get_or_insert_default().extend(facts);
        self
    }

    /// The step raises one of these; if facts are given too, it may return with them instead.
    pub(crate) fn raises(mut self, demand: D, kinds: &[ErrorKind]) -> Self {
        self.of(demand).raises = Some(kinds.to_vec());
        self
    }

    /// The subject calls none of these in the step.
    pub(crate) fn calls_none(mut self, demand: D, functions: &[&'static str]) -> Self {
        let none_of = functions.iter().map(|name| SmolStr::new_static(name)).collect();
        self.of(demand).calls = Some(Box::new(Calls { none_of, ..Calls::default() }));
        self
    }

    /// The same by requirement id, as a fixture says it.
    pub(crate) fn by_requirement(self, ids: &RequirementIds) -> Expectations {
        let mut expectations = Expectations::new();
        for (demand, expectation) in self.0 {
            if let Some(id) = ids.of(demand) {
                // Takes room for one entry, where `collect` takes it for four: most have one.
                expectations.insert(id.clone(), expectation);
            }
        }
        expectations
    }

    fn of(&mut self, demand: D) -> &mut Expectation {
        self.0.of(demand)
    }
}

pub(crate) fn is(value: impl Into<Value>) -> Predicate {
    test(Test::Is, value)
}

pub(crate) fn not(value: impl Into<Value>) -> Predicate {
    test(Test::Not, value)
}

pub(crate) fn multiple_of(value: u64) -> Predicate {
    test(Test::MultipleOf, value)
}

pub(crate) fn one_of(values: Vec<u64>) -> Predicate {
    test(Test::OneOf, values)
}

pub(crate) fn at_least(value: u64) -> Predicate {
    test(Test::AtLeast, value)
}

pub(crate) fn at_most(value: u64) -> Predicate {
    test(Test::AtMost, value)
}

pub(crate) fn between(least: u64, most: u64) -> Predicate {
    Predicate([(Test::AtLeast, least.into()), (Test::AtMost, most.into())].into())
}

/// `name.fact`
pub(crate) fn same_as(name: &str, fact: &str) -> Predicate {
    test(Test::SameAs, format!("{name}.{fact}"))
}

/// `name.fact`
pub(crate) fn differs_from(name: &str, fact: &str) -> Predicate {
    test(Test::DiffersFrom, format!("{name}.{fact}"))
}

fn test(test: Test, value: impl Into<Value>) -> Predicate {
    Predicate([(test, value.into())].into())
}
