//! What came of the sequences so far.

use std::collections::BTreeMap;

use allocert_requirements::Level;
use allocert_suite::nouns::Need;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Finding, Judgement, Verdict};

use crate::finding;

/// A requirement that some sequence broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub requirement: String,
    pub level: Level,
    /// The first sequence that breaks it.
    pub sequence: u64,
}

/// Counts and findings; the order in which sequences are taken in does not matter.
#[derive(Debug, Default)]
pub struct Tally {
    pub operations: u64,
    pub sequences: u64,
    /// Sequences that were not seen to their end, with the first reason.
    pub unseen: u64,
    pub reason: Option<String>,
    broken: BTreeMap<(bool, String), Broken>,
}

impl Tally {
    /// Takes the judgement on a sequence in.
    pub fn take(&mut self, number: u64, operations: usize, judgement: &Judgement) {
        self.sequences += 1;
        self.operations += operations as u64;
        match &judgement.verdict {
            Verdict::Unusable { message } | Verdict::HarnessError { message } => {
                self.not_seen(message.clone())
            }
            Verdict::NotObserved { reason } | Verdict::NotApplicable { reason } => {
                self.not_seen(reason.to_string())
            }
            _ => {}
        }
        if judgement.verdict.is_worthless() {
            return;
        }
        let worst = finding::first(judgement).filter(|finding| finding.level == Level::Must);
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
            let key = (finding.level != Level::Must, finding.requirement.clone());
            let broken = Broken {
                requirement: finding.requirement.clone(),
                level: finding.level,
                sequence: number,
            };
            let known = self.broken.entry(key).or_insert_with(|| broken.clone());
            known.sequence = known.sequence.min(number);
        }
    }

    /// The first sequence that breaks a MUST; nothing after it needs to be run.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.broken
            .values()
            .filter(|broken| broken.level == Level::Must)
            .map(|broken| broken.sequence)
            .min()
    }

    /// What was broken up to there: the MUST first, the others in the order of their first
    /// sequences.
    #[must_use]
    pub fn broken(&self) -> Vec<Broken> {
        let end = self.end();
        let counts = |broken: &&Broken| match broken.level {
            Level::Must => Some(broken.sequence) == end,
            _ => end.is_none_or(|end| broken.sequence <= end),
        };
        let mut all: Vec<Broken> = self.broken.values().filter(counts).cloned().collect();
        all.sort_by_key(|broken| {
            (broken.level != Level::Must, broken.sequence, broken.requirement.clone())
        });
        all
    }

    fn not_seen(&mut self, reason: String) {
        self.unseen += 1;
        self.reason.get_or_insert(reason);
    }
}

/// The capability that the subject declares and then declines: sequences that ask for it show
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
