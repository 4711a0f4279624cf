//! What a subject is known to violate, and which cases cannot observe it. What is listed is
//! expected; a listed violation that does not happen, and a listed case that is observed, fail the
//! run.

use allocert_requirements::nearest::nearest;
use allocert_requirements::yaml::{Document, Spanned};
use allocert_requirements::{Catalogue, Level, Refusal, RefusalCode};
use globset::{Glob, GlobMatcher};
use jiff::civil::Date;
use serde::Deserialize;

use crate::expectation_conditions::{Conditions, Details, When, WrongCondition, other_versions};
use crate::expectation_subject::Subjects;
use crate::plan::SWEPT;
use crate::run_format::DriverInfo;
use crate::verdict::{Finding, Judgement, Verdict};

/// A checked expectation file.
#[derive(Debug, Clone)]
pub struct ExpectationFile {
    pub file: String,
    /// Which subjects it is about; any where it names none.
    pub subjects: Subjects,
    /// The versions on which the list was last found to be right.
    pub seen_on: String,
    pub entries: Vec<Entry>,
    /// The line of every entry, also of those that the profile leaves out.
    pub entry_lines: Vec<usize>,
    /// The line that names the subjects.
    subject_line: usize,
    /// All cases of the side, of which a run may have selected some. Empty until they are known.
    cases: Vec<String>,
}

/// What an entry expects of its cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A violation of this requirement.
    Violation(String),
    /// They run, and their record does not show what they ask about.
    NotObserved,
}

/// One thing that is known.
#[derive(Debug, Clone)]
pub struct Entry {
    pub expected: Expected,
    /// Globs over case ids, as written.
    pub cases: Vec<String>,
    pub reason: String,
    pub issue: Option<String>,
    /// The last day on which it holds.
    pub expires: Option<Date>,
    /// The runs in which it is expected.
    pub when: Conditions,
    /// Its line in the file.
    pub line: usize,
    globs: Vec<GlobMatcher>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    subject: Option<Spanned<Subjects>>,
    seen_on: String,
    expected: Vec<Spanned<Listed>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    requirement: Option<String>,
    #[serde(default)]
    verdict: Option<ListedVerdict>,
    cases: Vec<String>,
    reason: String,
    #[serde(default)]
    issue: Option<String>,
    #[serde(default)]
    expires: Option<String>,
    #[serde(default)]
    when: When,
}

/// The verdicts that an entry can expect by their name.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ListedVerdict {
    NotObserved,
}

impl ExpectationFile {
    /// Reads an expectation file; `file` is the name to show in errors. Entries whose requirement
    /// the profile leaves out are dropped.
    ///
    /// # Errors
    /// The first place where it is not one.
    pub fn read(file: &str, text: &str, catalogue: &Catalogue) -> Result<Self, Box<Refusal>> {
        let document = Document { noun: "expectation file", file, text };
        let File { subject, seen_on, expected } = document.read()?;
        let entries = expected.into_iter().map(|listed| entry(listed, &document, catalogue));
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
        let entry_lines = entries.iter().map(|entry| entry.line).collect();
        // A requirement that is not judged has no finding, so its entry would always look out of
        // date.
        entries.retain(|entry| !entry.requirement().is_some_and(|id| catalogue.leaves_out(id)));
        Ok(Self {
            file: file.to_owned(),
            subject_line: subject.as_ref().map_or(0, Spanned::line),
            subjects: subject.map(|subject| subject.value).unwrap_or_default(),
            seen_on,
            entries,
            entry_lines,
            cases: Vec::new(),
        })
    }

    /// Refuses a file about another subject than that of a run, as its header names it. `text` is
    /// what the file was read from.
    ///
    /// # Errors
    /// The file names subjects, and not this one.
    pub fn check_subject(&self, text: &str, argument: &str) -> Result<(), Box<Refusal>> {
        if self.subjects.include(argument) {
            return Ok(());
        }
        let document = Document { noun: "expectation file", file: &self.file, text };
        let meant = self.subjects.words();
        let message = format!("it is about the subject {meant}, and this is {argument}");
        let line = self.subject_line;
        let mut refusal = document.refuse_word(RefusalCode::OtherSubject, line, "subject", message);
        refusal.help = Some(format!(
            "give the file of this subject, or write `subject: {argument}` if this one lists what \
             is known of it"
        ));
        Err(refusal)
    }

    /// Each library of which the run has another version than the list was found to be right on,
    /// with that one.
    #[must_use]
    pub fn other_versions(&self, details: &Details) -> Vec<String> {
        other_versions(&self.seen_on, details)
    }

    /// The entries whose conditions hold of a run, and how many there are besides.
    #[must_use]
    pub fn for_run(&self, driver: &DriverInfo, details: &Details) -> (Self, usize) {
        let mut applying = self.clone();
        applying.entries.retain(|entry| entry.when.hold(driver, details));
        let left_out = self.entries.len() - applying.entries.len();
        (applying, left_out)
    }

    /// The entries whose cases were run, and none is as the entry expects. Of an entry that also
    /// means cases which were not selected, nothing is known.
    pub fn stale_entries(&self, judgements: &[&Judgement]) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| self.is_stale(entry, judgements))
    }

    fn is_stale(&self, entry: &Entry, judgements: &[&Judgement]) -> bool {
        let meant = || judgements.iter().filter(|one| entry.matches(&one.case));
        let was_selected = |case: &String| judgements.iter().any(|one| unswept(&one.case) == case);
        meant().any(|one| entry.is_decided_by(one))
            && !meant().any(|one| entry.is_met_by(one))
            && self.cases.iter().filter(|case| entry.matches(case)).all(was_selected)
    }

    /// Takes note of all cases of the side. Refuses entries about others. `text` is what the file
    /// was read from.
    ///
    /// # Errors
    /// The first entry about a case that is not there.
    pub fn check_cases(&mut self, text: &str, cases: &[&str]) -> Result<(), Box<Refusal>> {
        self.cases = cases.iter().map(|case| (*case).to_owned()).collect();
        let document = Document { noun: "expectation file", file: &self.file, text };
        for entry in &self.entries {
            // A swept case is there if the case that it changes is.
            let is_missing = |case: &&str| !cases.contains(&unswept(case));
            if let Some(case) = entry.idle(cases).into_iter().find(is_missing) {
                let message = format!("no case of this side is called `{case}`");
                let code = RefusalCode::UnknownCase;
                let mut refusal = document.refuse_word(code, entry.line, case, message);
                let near = nearest(case, cases.iter().copied());
                refusal.help = near.map(|near| format!("did you mean `{near}`?"));
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Refuses entries whose last day is over. `text` is what the file was read from.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_dates(&self, text: &str, today: Date) -> Result<(), Box<Refusal>> {
        let document = Document { noun: "expectation file", file: &self.file, text };
        let expired = |entry: &&Entry| entry.expires.is_some_and(|last| last < today);
        let Some(entry) = self.entries.iter().find(expired) else { return Ok(()) };
        let message = format!(
            "the entry of {} has expired: mend it, or look at it again and set a later day",
            entry.requirement().unwrap_or("cases that are not observed")
        );
        Err(document.refuse_word(RefusalCode::ExpiredExpectation, entry.line, "expires", message))
    }

    /// Applies the file to all cases of a run.
    pub fn apply(&self, judgements: &mut [&mut Judgement]) {
        for judgement in judgements.iter_mut() {
            self.mark(judgement);
        }
        let marked: Vec<&Judgement> = judgements.iter().map(|one| &**one).collect();
        let stale: Vec<&Entry> = self.stale_entries(&marked).collect();
        for entry in stale {
            self.stale(entry, judgements);
        }
    }

    /// Marks what the file lists of one case.
    pub fn mark(&self, judgement: &mut Judgement) {
        for entry in &self.entries {
            entry.mark(judgement);
        }
        let listed =
            |finding: &Finding| finding.level != Level::Must || finding.expected_because.is_some();
        if judgement.verdict == Verdict::Violates && judgement.findings.iter().all(listed) {
            judgement.verdict = Verdict::ExpectedViolation;
        }
    }

    /// What is said of an entry that no case is as it expects.
    #[must_use]
    pub fn stale_message(&self, entry: &Entry) -> String {
        let place = format!("{}:{}", self.file, entry.line);
        match &entry.expected {
            Expected::Violation(requirement) => format!(
                "{place} expects a violation of {requirement}, and there is none: the entry can go"
            ),
            Expected::NotObserved => {
                format!("{place} says that the case is not observed, and it was: the entry can go")
            }
        }
    }

    /// Handles an entry that no case is as it expects: the cases that show it have another verdict,
    /// and the entry says otherwise. Of a violation these are the cases that judged its
    /// requirement, where there are any.
    fn stale(&self, entry: &Entry, judgements: &mut [&mut Judgement]) {
        let message = self.stale_message(entry);
        let meant = |judgement: &Judgement| {
            entry.matches(&judgement.case) && entry.is_decided_by(judgement)
        };
        let looked = |judgement: &Judgement| {
            entry.requirement().is_none_or(|id| judgement.checked.contains(id))
        };
        let any_looked = judgements.iter().any(|judgement| meant(judgement) && looked(judgement));
        for judgement in judgements.iter_mut().filter(|judgement| meant(judgement)) {
            if judgement.verdict != Verdict::Violates && (looked(judgement) || !any_looked) {
                judgement.verdict = Verdict::UnexpectedConformance { message: message.clone() };
            }
        }
    }
}

impl Entry {
    /// The requirement whose violation it expects.
    #[must_use]
    pub fn requirement(&self) -> Option<&str> {
        match &self.expected {
            Expected::Violation(requirement) => Some(requirement),
            Expected::NotObserved => None,
        }
    }

    /// Whether one of its globs matches a case.
    #[must_use]
    pub fn matches(&self, case: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(case))
    }

    /// Its globs that match none of these cases.
    #[must_use]
    pub fn idle(&self, cases: &[&str]) -> Vec<&str> {
        let idle = |glob: &&GlobMatcher| !cases.iter().any(|case| glob.is_match(case));
        self.globs.iter().filter(idle).map(|glob| glob.glob().glob()).collect()
    }

    /// Whether a case that it means is as it expects.
    fn is_met_by(&self, judgement: &Judgement) -> bool {
        match &self.expected {
            Expected::Violation(requirement) => {
                judgement.findings.iter().any(|one| one.requirement == *requirement)
            }
            Expected::NotObserved => judgement.is_unseen(),
        }
    }

    /// Whether the result of a case that it means says if the entry is true. A case that violates a
    /// requirement may not be observed besides.
    fn is_decided_by(&self, judgement: &Judgement) -> bool {
        match &self.expected {
            Expected::Violation(_) => judgement.verdict.ran(),
            Expected::NotObserved => {
                matches!(
                    judgement.verdict,
                    Verdict::Conforms | Verdict::UnexpectedConformance { .. }
                ) || judgement.is_unseen()
            }
        }
    }

    /// Marks what this entry lists.
    fn mark(&self, judgement: &mut Judgement) {
        if !self.matches(&judgement.case) {
            return;
        }
        match &self.expected {
            Expected::Violation(requirement) => {
                for finding in
                    judgement.findings.iter_mut().filter(|one| one.requirement == *requirement)
                {
                    finding.expected_because = Some(self.because());
                }
            }
            Expected::NotObserved if judgement.is_unseen() => {
                judgement.expected_because = Some(self.because());
            }
            Expected::NotObserved => {}
        }
    }

    fn because(&self) -> String {
        match &self.issue {
            Some(issue) => format!("{} ({issue})", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// The name of a case, without that of the change of a fault sweep.
fn unswept(case: &str) -> &str {
    case.split_once(SWEPT).map_or(case, |(unswept, _)| unswept)
}

fn entry(
    listed: Spanned<Listed>,
    document: &Document<'_>,
    catalogue: &Catalogue,
) -> Result<Entry, Box<Refusal>> {
    let line = listed.line();
    let Listed { requirement, verdict, cases, reason, issue, expires, when } = listed.value;
    let expected = match (requirement, verdict) {
        (Some(requirement), None) => violation(requirement, line, document, catalogue)?,
        (None, Some(ListedVerdict::NotObserved)) => Expected::NotObserved,
        (Some(_), Some(_)) | (None, None) => {
            return Err(document.refuse_word(
                RefusalCode::InvalidExpectationFile,
                line,
                "-",
                "an entry has either `requirement: ID` or `verdict: not-observed`",
            ));
        }
    };
    if reason.trim().is_empty() {
        return Err(document.refuse_word(
            RefusalCode::InvalidExpectationFile,
            line,
            "reason",
            "an entry needs a reason",
        ));
    }
    if cases.is_empty() {
        return Err(document.refuse_word(
            RefusalCode::InvalidExpectationFile,
            line,
            "cases",
            "`cases` lists no case",
        ));
    }
    let glob = |text: &String| match Glob::new(text) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(document.refuse_word(
            RefusalCode::InvalidGlob,
            line,
            text,
            format!("not a glob: {}", error.kind()),
        )),
    };
    let globs = cases.iter().map(glob).collect::<Result<_, _>>()?;
    let date = |text: &String| {
        text.parse::<Date>().map_err(|_| {
            let message = format!("`{text}` is no day such as 2027-01-31");
            document.refuse_word(RefusalCode::InvalidExpectationFile, line, "expires", message)
        })
    };
    let expires = expires.as_ref().map(date).transpose()?;
    let when = Conditions::read(when).map_err(|wrong| match wrong {
        WrongCondition::Versions(text) => {
            let message = format!("`{text}` is no range of versions such as \">=0.30,<0.32\"");
            document.refuse_word(RefusalCode::InvalidExpectationFile, line, "versions", message)
        }
        WrongCondition::Device(error) => {
            let message = format!("`device` is no glob: {}", error.kind());
            document.refuse_word(RefusalCode::InvalidGlob, line, "device", message)
        }
    })?;
    Ok(Entry { expected, cases, reason, issue, expires, when, line, globs })
}

fn violation(
    requirement: String,
    line: usize,
    document: &Document<'_>,
    catalogue: &Catalogue,
) -> Result<Expected, Box<Refusal>> {
    if catalogue.get(&requirement).is_some() {
        return Ok(Expected::Violation(requirement));
    }
    let message = format!("the catalogue has no requirement `{requirement}`");
    let mut refusal =
        document.refuse_word(RefusalCode::UnknownRequirement, line, &requirement, message);
    refusal.help = catalogue.suggestion(&requirement);
    Err(refusal)
}
