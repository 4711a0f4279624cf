//! The certificate: what a run of all cases of a side says about a subject, in one JSON document.
//! Everything in it follows from the run, so a reader with the run file makes the same certificate
//! again.

use std::collections::BTreeMap;

use allocert_requirements::requirement_set::Requirements;
use serde::{Deserialize, Serialize};

use crate::run_format::{DriverInfo, Header, Judged, Subject, SubjectFile};

/// The version of the format that this program writes and reads.
pub const FORMAT: u32 = 1;

/// What is certified, by what, and with which result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of allocert that made the run.
    pub allocert: String,
    /// The hash of the fixtures and the catalogue, as in the run file.
    pub suite: String,
    pub side: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The frozen set that has these requirements, or `unfrozen`.
    pub requirement_set: String,
    /// Each requirement that was in force, and its level.
    pub requirements: Requirements,
    /// As in the run file: the argument, and the versions of the subject and of its host.
    pub subject: Subject,
    /// The file that the subject was loaded from; nothing for a subject that is part of allocert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_file: Option<SubjectFile>,
    pub driver: DriverInfo,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// Number of cases by verdict.
    pub verdicts: BTreeMap<String, u64>,
}

impl Certificate {
    /// The certificate of a judged run.
    #[must_use]
    pub fn new(
        header: &Header,
        cases: &[Judged],
        (requirement_set, requirements): (String, Requirements),
    ) -> Self {
        let header = header.clone();
        let mut verdicts = BTreeMap::new();
        for judged in cases {
            *verdicts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
        }
        Self {
            format: FORMAT,
            allocert: header.allocert,
            suite: header.suite,
            side: header.interface,
            profile: header.profile,
            requirement_set,
            requirements,
            subject: header.subject,
            subject_file: header.subject_file,
            driver: header.driver,
            started_unix_ms: header.started_unix_ms,
            verdicts,
        }
    }
}
