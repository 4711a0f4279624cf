//! What a run shows of each requirement.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::Level;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::report::Report;
use crate::run_format::Judged;
use crate::verdict::Finding;

/// What a run shows of a requirement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Violated,
    Warned,
    Known,
    Fulfilled,
    NoResult,
    Untested,
}

impl State {
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Warned => "warning",
            Self::Known => "known violation",
            Self::Fulfilled => "no violation",
            Self::NoResult => "no result",
            Self::Untested => "not tested",
        }
    }

    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::Violated => "✗",
            Self::Warned => "!",
            Self::Known => "k",
            Self::Fulfilled => "✓",
            Self::NoResult => "–",
            Self::Untested => "·",
        }
    }

    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Violated => "a case shows that the subject violates the requirement, a MUST",
            Self::Warned => "a case shows that the subject violates the requirement, no MUST",
            Self::Known => "all violations stand in the expectation file",
            Self::Fulfilled => "at least one case was judged by it, and none shows a violation",
            Self::NoResult => {
                "no case that states it came to a result: it was not applicable or not observed"
            }
            Self::Untested => "no case of this run states it",
        }
    }
}

/// What the cases of one run say of requirements.
pub(super) struct Seen<'r> {
    judged: BTreeSet<&'r str>,
    stated: BTreeSet<&'r str>,
    pub(super) findings: BTreeMap<&'r str, Vec<(&'r Judged, &'r Finding)>>,
}

impl<'r> Seen<'r> {
    pub(super) fn of(report: &Report<'r>) -> Self {
        let mut seen =
            Self { judged: BTreeSet::new(), stated: BTreeSet::new(), findings: BTreeMap::new() };
        for judged in report.cases {
            seen.stated.extend(judged.case.requirements());
            seen.judged.extend(judged.judgement.checked.iter().map(String::as_str));
            for finding in &judged.judgement.findings {
                seen.findings.entry(&finding.requirement).or_default().push((judged, finding));
            }
        }
        seen
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &'r str> {
        self.judged.iter().chain(&self.stated).copied().chain(self.findings.keys().copied())
    }

    pub(super) fn state(&self, id: &str) -> State {
        let findings = self.findings.get(id).map(Vec::as_slice).unwrap_or_default();
        let unlisted = || findings.iter().filter(|(_, one)| one.expected_because.is_none());
        if unlisted().any(|(_, finding)| finding.level == Level::Must) {
            State::Violated
        } else if unlisted().next().is_some() {
            State::Warned
        } else if !findings.is_empty() {
            State::Known
        } else if self.judged.contains(id) {
            State::Fulfilled
        } else if self.stated.contains(id) {
            State::NoResult
        } else {
            State::Untested
        }
    }
}
