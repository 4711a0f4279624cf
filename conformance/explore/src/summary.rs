//! Counts the results of the sequences so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use allocert_requirements::Level;
use allocert_suite::nouns::Need;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Finding, Judgement, Verdict};

use crate::demand::RequirementIds;
use crate::findings;

/// A requirement that some sequence broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRequirement {
    pub requirement: String,
    pub level: Level,
    /// The first sequence that breaks it.
    pub sequence: u64,
}

/// Counts and findings. The order in which sequences are added does not matter.
#[derive(Debug)]
pub struct Summary {
    pub operations: u64,
    pub sequences: u64,
    /// Sequences that did not run to their end.
    pub incomplete: u64,
    /// Those of them whose record proves nothing.
    pub worthless: u64,
    /// Why the first of them did not.
    pub reason: Option<String>,
    requirements: Arc<RequirementIds>,
    broken: BTreeMap<(bool, String), BrokenRequirement>,
}

impl Summary {
    /// The summary of no sequence of an exploration with these requirements.
    #[must_use]
    pub fn new(requirements: &Arc<RequirementIds>) -> Self {
        Self {
            operations: 0,
            sequences: 0,
            incomplete: 0,
            worthless: 0,
            reason: None,
            requirements: Arc::clone(requirements),
            broken: BTreeMap::new(),
        }
    }

    /// Adds the judgement on a sequence.
    pub fn add(&mut self, number: u64, operations: usize, judgement: &Judgement) {
        self.sequences += 1;
        self.operations += operations as u64;
        match &judgement.verdict {
            Verdict::Unusable { message } | Verdict::HarnessError { message } => {
                self.add_incomplete(message.clone())
            }
            Verdict::NotObserved { reason } | Verdict::NotApplicable { reason } => {
                self.add_incomplete(reason.to_string())
            }
            _ => {}
        }
        if judgement.verdict.is_worthless() {
            self.worthless += 1;
            return;
        }
        let worst = findings::first(judgement, &self.requirements);
        let worst = worst.filter(|finding| finding.level == Level::Must);
        // What follows a violation may follow from it.
        let over = worst.map_or(u32::MAX, |worst| worst.step.unwrap_or(u32::MAX));
        let before =
            |finding: &&Finding| worst.is_none() || finding.step.is_some_and(|step| step < over);
        let warnings = judgement
            .findings
            .iter()
            .filter(|finding| finding.level == Level::Should)
            .filter(before);
        for finding in warnings.chain(worst) {
            let key = key(&finding.requirement, finding.level);
            let broken = BrokenRequirement {
                requirement: finding.requirement.clone(),
                level: finding.level,
                sequence: number,
            };
            let known = self.broken.entry(key).or_insert_with(|| broken.clone());
            known.sequence = known.sequence.min(number);
        }
    }

    /// What the first sequence that breaks a MUST breaks; no sequence after it needs to run.
    #[must_use]
    pub fn violation(&self) -> Option<&BrokenRequirement> {
        let musts = self.broken.values().filter(|broken| broken.level == Level::Must);
        musts.min_by_key(|broken| broken.sequence)
    }

    /// Forgets a violation that did not show again.
    pub fn forget(&mut self, violation: &BrokenRequirement) {
        self.broken.remove(&key(&violation.requirement, violation.level));
    }

    /// The SHOULDs that were broken up to the violation, in the order of their first sequences.
    #[must_use]
    pub fn warnings(&self) -> Vec<BrokenRequirement> {
        let end = self.violation().map_or(u64::MAX, |violation| violation.sequence);
        let mut all: Vec<BrokenRequirement> = self
            .broken
            .values()
            .filter(|broken| broken.level != Level::Must && broken.sequence <= end)
            .cloned()
            .collect();
        all.sort_by_key(|broken| (broken.sequence, broken.requirement.clone()));
        all
    }

    fn add_incomplete(&mut self, reason: String) {
        self.incomplete += 1;
        self.reason.get_or_insert(reason);
    }
}

/// The capability that the subject declares and then declines. Sequences that ask for it show
/// nothing.
#[must_use]
pub fn declined(judgement: &Judgement) -> Option<Need> {
    let Verdict::NotApplicable { reason: Reason::Declined { operation, .. } } = &judgement.verdict
    else {
        return None;
    };
    match operation.as_str() {
        "memhostalloc" | "mempin" => Some(Need::HostMemory),
        "get_memory_info" => Some(Need::MemoryInfo),
        "get_ipc_handle" => Some(Need::Ipc),
        _ => None,
    }
}

/// The MUSTs come first.
fn key(requirement: &str, level: Level) -> (bool, String) {
    (level != Level::Must, requirement.to_owned())
}
