//! What is known of the subject: the expectation file, and whether it is still true.

use std::sync::{Mutex, OnceLock, PoisonError};

use allocert_harness::Loaded;
use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::run_format::DriverInfo;
use allocert_suite::verdict::Judgement;

/// The expectation file, applied to one trial after another.
#[derive(Debug)]
pub(crate) struct Known {
    file: ExpectationFile,
    /// The entries whose conditions hold, which is known when the subject is loaded.
    applying: OnceLock<ExpectationFile>,
    judged: Mutex<Vec<Judgement>>,
}

impl Known {
    pub(crate) fn new(file: ExpectationFile) -> Self {
        Self { file, applying: OnceLock::new(), judged: Mutex::default() }
    }

    /// Marks what the file lists of a case.
    pub(crate) fn mark(&self, subject: &Loaded, judgement: &mut Judgement) {
        let applying = self.applying.get_or_init(|| {
            let details = subject.subject.clone().into_iter().collect();
            self.file.for_run(&DriverInfo::simulated(), &details).0
        });
        applying.mark(judgement);
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        judged.push(judgement.clone());
    }

    /// What is said of each entry that is out of date.
    pub(crate) fn stale(&self) -> Vec<String> {
        let Some(applying) = self.applying.get() else { return Vec::new() };
        let judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let judgements: Vec<&Judgement> = judged.iter().collect();
        applying.stale_entries(&judgements).map(|entry| applying.stale_message(entry)).collect()
    }
}
