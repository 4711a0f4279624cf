//! What a side tells the fault sweep: which calls fail and how, which operations it uses, and what
//! it expects of a step after a call has failed.

use std::fmt;

use allocert_contract::trace::{Call, Function};
use serde_json::Value;
use smol_str::SmolStr;

use crate::effect::cuda::{is_lookup, may_run_out_of_memory, restores_context};
use crate::expectation::{Expectation, Wanted};
use crate::interface::Operation;
use crate::interface::properties::HeldMemory;
use crate::interface::shared::Fault;
use crate::nouns::{ErrorKind, Name};
use crate::observation::{Facts, Outcome};
use crate::predicate::{Predicate, Test};
use crate::reason::Unswept;

/// What the sweep demands of a subject. The catalogue names the requirement of each demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// The step reports the failure, or does its work in another way.
    FailureSurfaces,
    /// A step that fails names the failure for what it is.
    NamesFailure,
    /// The subject works again after the fault.
    ServesAfterwards,
    /// Memory that the host holds keeps its content.
    MemoryHolds,
}

/// What is expected of a step; `None` for a step that only the harness performs.
pub type Demanded = Option<(Demand, Expectation)>;

/// A step of the clean case that comes before the step, or the probe, in question.
#[derive(Debug, Clone, Copy)]
pub struct EarlierStep<'a> {
    pub operation: &'a Operation,
    pub on: &'a str,
    pub on_main_thread: bool,
    pub in_teardown: bool,
}

/// One step of the probe, which asks whether the subject still works.
#[derive(Debug)]
pub struct ProbeStep {
    pub operation: Operation,
    pub on: Name,
    pub demanded: Demanded,
}

/// What calls are made to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectedError {
    /// The result of the call.
    pub code: i32,
    pub name: &'static str,
    /// How a subject may treat this error differently from all others.
    pub why: &'static str,
}

pub(crate) const OUT_OF_MEMORY: i32 = 2;

/// One `CUresult` for each way in which subjects treat errors. An error that makes the context
/// unusable, such as 700, is not among them: no subject can work after it.
pub const DRIVER_ERRORS: [InjectedError; 4] = [
    InjectedError {
        code: OUT_OF_MEMORY,
        name: "CUDA_ERROR_OUT_OF_MEMORY",
        why: "managers give back what they cache and try again",
    },
    InjectedError {
        code: 1,
        name: "CUDA_ERROR_INVALID_VALUE",
        why: "the plain failure: it is reported",
    },
    InjectedError {
        code: 201,
        name: "CUDA_ERROR_INVALID_CONTEXT",
        why: "managers make their context current and try again",
    },
    InjectedError {
        code: 3,
        name: "CUDA_ERROR_NOT_INITIALIZED",
        why: "managers take the driver for one that is shutting down and keep silent",
    },
];

/// One call that is made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectedFault {
    pub function: Function,
    /// 1 is the next call of the function.
    pub nth: u64,
    pub error: InjectedError,
}

/// The operation that makes a call of the driver fail.
impl From<InjectedFault> for Fault {
    fn from(InjectedFault { function, nth, error }: InjectedFault) -> Self {
        Self { call: function.name().to_owned(), nth, count: 1, error: error.code }
    }
}

/// The part of the fault sweep that depends on the side. Where a side does not say otherwise, calls
/// of the driver fail.
pub trait FaultSweep: fmt::Debug + Sync {
    /// What each call is made to answer.
    fn errors(&self) -> &'static [InjectedError] {
        &DRIVER_ERRORS
    }

    /// Why a case with this operation is not swept.
    fn leaves_out(&self, _: &Operation) -> Option<Unswept> {
        None
    }

    /// Whether calls of the function are swept.
    fn sweeps(&self, function: Function) -> bool {
        function.cuda().is_some_and(|function| !is_lookup(function))
    }

    /// Whether the worker performs an operation without the subject. No call of such a step fails.
    fn is_of_worker(&self, _operation: &Operation) -> bool {
        false
    }

    /// Whether a call of the function can answer this error.
    fn may_answer(&self, function: Function, error: &InjectedError) -> bool {
        error.code != OUT_OF_MEMORY || function.cuda().is_some_and(may_run_out_of_memory)
    }

    /// Whether a call puts back a context. `before` was current when its step began.
    fn restores_context(&self, call: &Call, before: u64) -> bool {
        call.function.cuda().is_some_and(|function| restores_context(function, call, before))
    }

    /// Makes one call fail.
    fn fault(&self, fault: InjectedFault) -> Operation;

    /// What is expected of a step of the clean case, which came to `clean` without the fault.
    fn of_step(
        &self,
        before: &[EarlierStep<'_>],
        operation: &Operation,
        clean: &Outcome,
    ) -> Demanded;

    /// What is also expected of a step of the clean case that came to `clean`, when a call fails
    /// with this error.
    fn names_failure(&self, _: &Operation, _clean: &Outcome, _: &InjectedError) -> Demanded {
        None
    }

    /// What is expected of a teardown step after the probe.
    fn of_teardown(&self, operation: &Operation, clean: &Outcome) -> Demanded;

    /// The steps of the probe. They begin with the end of the fault. Where the case limits the
    /// memory of the device, `memory_is_limited`, a request of the probe may fail for that reason.
    fn probe(&self, before: &[EarlierStep<'_>], memory_is_limited: bool) -> Vec<ProbeStep>;
}

/// Each of these facts with the value of the clean run, if it has one.
pub(crate) fn same(facts: &Facts, names: &[&str]) -> Wanted {
    let known = names.iter().filter_map(|name| Some(is(name, facts.get(*name)?.clone())));
    known.collect()
}

/// These facts are at most what they were in the clean run, where they were known.
pub(crate) fn at_most(facts: &Facts, names: &[&str]) -> Wanted {
    let most = |value: &Value| Predicate([(Test::AtMost, value.clone())].into());
    let known = names.iter().filter_map(|name| Some(((*name).into(), most(facts.get(*name)?))));
    known.collect()
}

/// The fact has this value.
pub(crate) fn is(name: &str, value: Value) -> (SmolStr, Predicate) {
    (name.into(), Predicate([(Test::Is, value)].into()))
}

/// The fact has another value.
pub(crate) fn not(name: &str, value: Value) -> (SmolStr, Predicate) {
    (name.into(), Predicate([(Test::Not, value)].into()))
}

/// The step returns with these facts.
pub(crate) fn returns(wanted: Wanted) -> Expectation {
    Expectation { returns: Some(wanted), ..Expectation::default() }
}

/// The step returns with these facts, or raises an error of this kind.
pub(crate) fn or_raises(wanted: Wanted, kind: ErrorKind) -> Expectation {
    Expectation { raises: Some(vec![kind]), ..returns(wanted) }
}

/// What a read of memory must give after a fault: as many bytes as in the clean run, and the byte
/// that was written to them.
pub(crate) fn as_written(before: &[EarlierStep<'_>], name: &str, facts: &Facts) -> Wanted {
    let known: &[&str] =
        if wrote(before, name, facts) { &["uniform", "bytes_read"] } else { &["bytes_read"] };
    same(facts, known)
}

/// Whether the bytes that a clean run read are those that were written last under the same name.
/// Bytes that were written under another name of the memory, such as a view or a pinned buffer, may
/// be missing: with the fault that name may not exist.
fn wrote(before: &[EarlierStep<'_>], name: &str, facts: &Facts) -> bool {
    let gave = |step: &EarlierStep<'_>| {
        step.operation.properties().held == HeldMemory::Gains
            && step.operation.bound_name() == Some(name)
    };
    let fills = before.iter().rev().filter_map(|step| step.operation.fill());
    let byte = fills.into_iter().find(|fill| fill.memory == name).map(|fill| u64::from(fill.byte));
    byte.is_some()
        && byte == facts.get("uniform").and_then(Value::as_u64)
        && before.iter().any(gave)
}
