//! What the model expects of a step, in the catalogue's words.

use allocert_suite::nouns::ErrorKind;

use allocert_suite::expectation::{Calls, Expectation, Expectations};
use allocert_suite::predicate::{Predicate, Test};
use serde_json::Value;
use smol_str::SmolStr;

/// Calls that give memory back or wait: a scope promises that a release makes none of them.
pub(crate) const DEVICE_FREES: &[&str] = &["cuMemFree", "cuMemRelease", "cuCtxSynchronize"];
/// Calls that no release after a reset may make.
pub(crate) const STALE_FREES: &[&str] = &["cuMemFree", "cuMemFreeAsync", "cuMemRelease"];

/// Requirement id to what must hold.
#[derive(Debug, Default)]
pub(crate) struct Expect(Expectations);

impl Expect {
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// The step returns; no more is said.
    pub(crate) fn returns(self, id: &'static str) -> Self {
        self.facts(id, [])
    }

    /// The step returns, and these facts hold.
    pub(crate) fn facts<const N: usize>(
        mut self,
        id: &'static str,
        facts: [(&'static str, Predicate); N],
    ) -> Self {
        let facts =
            facts.into_iter().map(|(name, predicate)| (SmolStr::new_static(name), predicate));
        self.of(id).returns.get_or_insert_default().extend(facts);
        self
    }

    /// The step raises one of these, or, where facts are given too, returns.
    pub(crate) fn raises(mut self, id: &'static str, kinds: &[ErrorKind]) -> Self {
        self.of(id).raises = Some(kinds.to_vec());
        self
    }

    /// The subject calls none of these in the step.
    pub(crate) fn calls_none(mut self, id: &'static str, functions: &[&'static str]) -> Self {
        let none_of = functions.iter().map(|name| SmolStr::new_static(name)).collect();
        self.of(id).calls = Some(Box::new(Calls { none_of, ..Calls::default() }));
        self
    }

    pub(crate) fn done(self) -> Expectations {
        self.0
    }

    fn of(&mut self, id: &'static str) -> &mut Expectation {
        self.0.of(SmolStr::new_static(id))
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
