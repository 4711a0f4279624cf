//! Collects findings and the other reasons for a verdict.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::Level;

use crate::judge::case_record::CaseRecord;
use crate::plan::PlannedStep;
use crate::reason::Reason;
use crate::verdict::{Check, Finding, Place, Witness};

/// The most findings of one check that a case keeps. The last one says how many there were.
const CHECK_LIMIT: usize = 8;

pub(crate) struct FindingSink<'a> {
    record: &'a CaseRecord<'a>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) checked: BTreeSet<String>,
    performed: BTreeSet<Check>,
    pub(crate) declined: Option<Reason>,
    pub(crate) not_observed: Option<Reason>,
    /// The first step in which the subject got no further without a function of the driver.
    pub(crate) without_function: Option<u32>,
    /// Why the subject cannot be used.
    pub(crate) unusable: Option<String>,
    /// An error of the subject or its adapter that no requirement speaks of, and its step.
    pub(crate) adapter_error: Option<(u32, String)>,
    /// Why the suite could not do its part.
    pub(crate) failure: Option<String>,
    counts: BTreeMap<Check, usize>,
}

/// One finding of an always-on check, before it has a requirement.
pub(crate) struct CheckFinding {
    pub(crate) check: Check,
    pub(crate) step: Option<u32>,
    pub(crate) expected: String,
    pub(crate) observed: String,
    pub(crate) events: Vec<Witness>,
}

impl<'a> FindingSink<'a> {
    pub(crate) fn new(record: &'a CaseRecord<'a>) -> Self {
        Self {
            record,
            findings: Vec::new(),
            checked: BTreeSet::new(),
            performed: BTreeSet::new(),
            declined: None,
            not_observed: None,
            without_function: None,
            unusable: None,
            adapter_error: None,
            failure: None,
            counts: BTreeMap::new(),
        }
    }

    /// Notes that a requirement was judged, with or without a finding. A requirement outside of the
    /// profile is not judged.
    pub(crate) fn checked(&mut self, requirement: &str) {
        if !self.checked.contains(requirement) && !self.record.catalogue.leaves_out(requirement) {
            self.checked.insert(requirement.to_owned());
        }
    }

    /// An always-on check was performed.
    pub(crate) fn check_performed(&mut self, check: Check) {
        if !self.performed.insert(check) {
            return;
        }
        if let Some(requirement) = self.record.catalogue.by_check(self.record.side, check.name()) {
            self.checked(&requirement.id);
        }
    }

    /// A finding under a requirement that the case names.
    pub(crate) fn report(
        &mut self,
        requirement: &str,
        step: &PlannedStep,
        expected: String,
        observed: String,
        events: Vec<Witness>,
    ) {
        self.push(requirement, Some(step.index), None, expected, observed, events);
    }

    /// A defect of what a step exported or called. The catalogue says what it violates; nothing on
    /// a side whose catalogue does not name it.
    pub(crate) fn report_defect(&mut self, defect: &str, step: &PlannedStep, observed: String) {
        let Some(requirement) = self.record.catalogue.by_defect(self.record.side, defect) else {
            return;
        };
        let (id, expected) = (&requirement.id, requirement.statement.clone());
        self.push(id, Some(step.index), Some(defect), expected, observed, Vec::new());
    }

    /// A finding on the whole case.
    pub(crate) fn report_at_end(
        &mut self,
        requirement: &str,
        expected: String,
        observed: String,
        events: Vec<Witness>,
    ) {
        self.push(requirement, None, None, expected, observed, events);
    }

    fn push(
        &mut self,
        requirement: &str,
        step: Option<u32>,
        defect: Option<&str>,
        expected: String,
        observed: String,
        events: Vec<Witness>,
    ) {
        if self.record.catalogue.leaves_out(requirement) {
            return;
        }
        let finding = Finding {
            requirement: requirement.to_owned(),
            level: self.level(requirement),
            case: self.record.case.id.clone(),
            step,
            place: self.place(step),
            check: None,
            defect: defect.map(str::to_owned),
            expected,
            observed,
            events,
            expected_because: None,
        };
        self.checked(requirement);
        self.findings.push(finding);
    }

    /// A finding of an always-on check; nothing on a side whose catalogue does not ask for it.
    pub(crate) fn report_check(&mut self, found: CheckFinding) {
        let Some(listed) = self.record.catalogue.by_check(self.record.side, found.check.name())
        else {
            return;
        };
        if self.record.catalogue.leaves_out(&listed.id) {
            return;
        }
        let count = self.counts.entry(found.check).or_default();
        *count += 1;
        if *count > CHECK_LIMIT {
            let total = *count;
            self.count_only(found.check, total);
            return;
        }
        let finding = Finding {
            requirement: listed.id.clone(),
            level: listed.level,
            case: self.record.case.id.clone(),
            step: found.step,
            place: self.place(found.step),
            check: Some(found.check),
            defect: None,
            expected: found.expected,
            observed: found.observed,
            events: found.events,
            expected_because: None,
        };
        self.findings.push(finding);
    }

    /// Keeps the first reason, because it causes the later ones.
    pub(crate) fn not_observed(&mut self, reason: Reason) {
        self.not_observed.get_or_insert(reason);
    }

    pub(crate) fn declined(&mut self, reason: Reason) {
        self.declined.get_or_insert(reason);
    }

    pub(crate) fn adapter_error(&mut self, step: u32, message: String) {
        self.adapter_error.get_or_insert((step, message));
    }

    pub(crate) fn unusable(&mut self, message: String) {
        self.unusable.get_or_insert(message);
    }

    pub(crate) fn failure(&mut self, message: String) {
        self.failure.get_or_insert(message);
    }

    fn count_only(&mut self, check: Check, total: usize) {
        let last = self.findings.iter_mut().rev().find(|finding| finding.check == Some(check));
        if let Some(last) = last {
            let text = last.observed.split(" (one of ").next().unwrap_or_default().to_owned();
            last.observed =
                format!("{text} (one of {total} in this case; the others are not listed)");
        }
    }

    fn level(&self, requirement: &str) -> Level {
        self.record.catalogue.get(requirement).map_or(Level::Must, |found| found.level)
    }

    fn place(&self, step: Option<u32>) -> Place {
        let steps = &self.record.case.steps;
        let planned = step.and_then(|index| steps.get(index as usize)).or(steps.last());
        Place { file: self.record.case.file.clone(), line: planned.map_or(1, |step| step.line) }
    }
}

/// An event and the part it plays.
pub(crate) fn witness(seq: u64, role: impl Into<String>) -> Witness {
    Witness { seq, role: role.into() }
}
