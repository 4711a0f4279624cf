//! The outcome of a run as a short JSON document: what ran in which versions, and what it violates.
//! The page of known libraries is made from these documents (`cargo xtask results`).

use std::collections::BTreeMap;

use allocert_requirements::Level;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::requirement_state::{Seen, State};
use crate::report::{Report, clean, verdict_counts};
use crate::run_format::{DriverInfo, Header, Selection};

/// The version of the document. It grows when a reader of the last version would go wrong.
pub const FORMAT: u32 = 1;

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    pub allocert: String,
    pub suite: String,
    pub side: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// As it was given on the command line; of a file, its name alone.
    pub subject: String,
    /// Of the subject, if it names itself, and of the libraries that its worker imported.
    pub versions: BTreeMap<String, String>,
    pub driver: DriverInfo,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// When the run began, in UTC: `2026-11-25`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The exit code of the run.
    pub exit: u8,
    /// Cases by verdict, without those of the fault sweep.
    pub cases: BTreeMap<String, u64>,
    /// Cases of the fault sweep by verdict.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub swept: BTreeMap<String, u64>,
    /// By requirement, for each that has a finding.
    pub findings: BTreeMap<String, Findings>,
    /// The other requirements that cases of the run state or were judged by.
    pub others: BTreeMap<State, Vec<String>>,
}

/// The findings of one requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    pub level: Level,
    pub state: State,
    /// In how many cases, those of the fault sweep among them.
    pub cases: u64,
}

impl Summary {
    #[must_use]
    pub fn of(report: &Report<'_>) -> Self {
        let header = report.header;
        let (swept, plain): (Vec<_>, Vec<_>) =
            report.cases.iter().partition(|judged| judged.case.is_swept());
        let seen = Seen::of(report);
        let mut summary = Self {
            format: FORMAT,
            allocert: clean(&header.allocert),
            suite: clean(&header.suite),
            side: clean(&header.interface),
            profile: header.profile.as_deref().map(clean),
            subject: subject(header),
            versions: versions(header),
            driver: header.driver.clone(),
            selection: header.selection.clone().filter(|one| *one != Selection::default()),
            day: header.started_unix_ms.and_then(day),
            exit: report.exit().code(),
            cases: verdict_counts::of(plain),
            swept: verdict_counts::of(swept),
            findings: seen.findings.keys().map(|id| (clean(id), findings(&seen, id))).collect(),
            others: BTreeMap::new(),
        };
        for id in seen.ids().filter(|id| !seen.findings.contains_key(id)) {
            summary.others.entry(seen.state(id)).or_default().push(clean(id));
        }
        for ids in summary.others.values_mut() {
            ids.sort_unstable();
            ids.dedup();
        }
        summary
    }
}

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let document = serde_json::to_value(Summary::of(report));
    super::json_text(&document.expect("a summary has only strings as keys"))
}

fn subject(header: &Header) -> String {
    let argument = clean(&header.subject.argument);
    match &header.subject_file {
        Some(file) if argument.contains('/') => clean(&file.name),
        _ => argument,
    }
}

/// What begins with a digit: beside the versions of libraries a worker names files.
fn versions(header: &Header) -> BTreeMap<String, String> {
    let details = &header.subject.details;
    let text = |value: &Value| value.as_str().map(clean);
    let host = details.get("host").and_then(Value::as_object).into_iter().flatten();
    let mut versions: BTreeMap<String, String> =
        host.filter_map(|(name, version)| Some((clean(name), text(version)?))).collect();
    let own = |field| details.get(field).and_then(text);
    versions.extend(own("name").zip(own("version")));
    versions.retain(|_, version| version.starts_with(|c: char| c.is_ascii_digit()));
    versions
}

fn day(unix_ms: u64) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok()?;
    Some(timestamp.strftime("%Y-%m-%d").to_string())
}

fn findings(seen: &Seen<'_>, id: &str) -> Findings {
    let found = &seen.findings[id];
    let mut cases: Vec<&str> = found.iter().map(|(judged, _)| judged.case.id.as_str()).collect();
    cases.sort_unstable();
    cases.dedup();
    Findings { level: found[0].1.level, state: seen.state(id), cases: cases.len() as u64 }
}
