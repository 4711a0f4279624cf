//! What a side tells the fault sweep: which operations it uses, and what it expects of a step after
//! a driver call has failed.

use std::fmt;

use crate::expectation::Expectation;
use crate::interface::Operation;
use crate::interface::shared::Fault;
use crate::nouns::Name;
use crate::observation::Outcome;

/// What the sweep demands of a subject. The catalogue names the requirement of each demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// The step reports the failure, or does its work in another way.
    FailureSurfaces,
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

/// The part of the fault sweep that depends on the side.
pub trait FaultSweep: fmt::Debug + Sync {
    /// Makes a driver call fail.
    fn fault(&self, fault: Fault) -> Operation;

    /// What is expected of a step of the clean case, which came to `clean` without the fault.
    fn of_step(
        &self,
        before: &[EarlierStep<'_>],
        operation: &Operation,
        clean: &Outcome,
    ) -> Demanded;

    /// What is expected of a teardown step after the probe.
    fn of_teardown(&self, operation: &Operation, clean: &Outcome) -> Demanded;

    /// The steps of the probe. They begin with the end of the fault. Where the case limits the
    /// memory of the device, `memory_is_limited`, a request of the probe may fail for that reason.
    fn probe(&self, before: &[EarlierStep<'_>], memory_is_limited: bool) -> Vec<ProbeStep>;
}
