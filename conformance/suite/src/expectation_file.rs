//! What a subject is known to violate. A listed violation is expected; a listed violation that does
//! not happen fails the run.

use allocert_requirements::nearest::nearest;
use allocert_requirements::yaml::{Document, Spanned};
use allocert_requirements::{Catalogue, Level, Refusal, RefusalCode};
use globset::{Glob, GlobMatcher};
use jiff::civil::Date;
use serde::Deserialize;

use crate::expectation_conditions::{Conditions, Details, When};
use crate::offer::Driver;
use crate::plan::SWEPT;
use crate::verdict::{Finding, Judgement, Verdict};

/// A checked expectation file.
#[derive(Debug, Clone)]
pub struct ExpectationFile {
    pub file: String,
    /// Which subject it is about.
    pub subject: String,
    /// The versions on which the list was last found to be right.
    pub seen_on: String,
    pub entries: Vec<ExpectedViolation>,
    /// The line of every entry, also of those that the profile leaves out.
    pub entry_lines: Vec<usize>,
}

/// One violation that is known.
#[derive(Debug, Clone)]
pub struct ExpectedViolation {
    pub requirement: String,
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
    subject: String,
    seen_on: String,
    expected: Vec<Spanned<Listed>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    requirement: String,
    cases: Vec<String>,
    reason: String,
    #[serde(default)]
    issue: Option<String>,
    #[serde(default)]
    expires: Option<String>,
    #[serde(default)]
    when: When,
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
        entries.retain(|entry| !catalogue.leaves_out(&entry.requirement));
        Ok(Self { file: file.to_owned(), subject, seen_on, entries, entry_lines })
    }

    /// The entries whose conditions hold of a run, and how many there are besides.
    #[must_use]
    pub fn for_run(&self, driver: Driver, details: &Details) -> (Self, usize) {
        let mut applying = self.clone();
        applying.entries.retain(|entry| entry.when.hold(driver, details));
        let left_out = self.entries.len() - applying.entries.len();
        (applying, left_out)
    }

    /// Whether cases that an entry means were run, and none has its violation.
    #[must_use]
    pub fn is_stale(&self, entry: &ExpectedViolation, judgements: &[&Judgement]) -> bool {
        let meant = judgements.iter().filter(|one| one.verdict.ran() && entry.matches(&one.case));
        let has = |judgement: &&Judgement| {
            judgement.findings.iter().any(|finding| finding.requirement == entry.requirement)
        };
        let mut all = meant.peekable();
        all.peek().is_some() && !all.any(has)
    }

    /// Refuses entries about cases that are none of these, which are all cases of the side. `text`
    /// is what the file was read from.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_cases(&self, text: &str, cases: &[&str]) -> Result<(), Box<Refusal>> {
        let document = Document { noun: "expectation file", file: &self.file, text };
        for entry in &self.entries {
            // A swept case is there if the case that it changes is.
            let is_missing = |case: &&str| {
                case.split_once(SWEPT).is_none_or(|(unswept, _)| !cases.contains(&unswept))
            };
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
        let expired = |entry: &&ExpectedViolation| entry.expires.is_some_and(|last| last < today);
        let Some(entry) = self.entries.iter().find(expired) else { return Ok(()) };
        let message = format!(
            "the entry of {} has expired: mend the violation, or look at it again and set a later \
             day",
            entry.requirement
        );
        Err(document.refuse_word(RefusalCode::ExpiredExpectation, entry.line, "expires", message))
    }

    /// Applies the file to a whole run.
    pub fn apply(&self, judgements: &mut [&mut Judgement]) {
        let mut met = vec![false; self.entries.len()];
        for judgement in judgements.iter_mut() {
            for (entry, met) in self.entries.iter().zip(&mut met) {
                *met |= entry.mark(judgement);
            }
            let listed = |finding: &Finding| {
                finding.level != Level::Must || finding.expected_because.is_some()
            };
            if judgement.verdict == Verdict::Violates && judgement.findings.iter().all(listed) {
                judgement.verdict = Verdict::ExpectedViolation;
            }
        }
        for (entry, _) in self.entries.iter().zip(met).filter(|(_, met)| !met) {
            self.stale(entry, judgements);
        }
    }

    /// Handles an entry without a violation: the cases that judged its requirement conform, and the
    /// entry says that they do not.
    fn stale(&self, entry: &ExpectedViolation, judgements: &mut [&mut Judgement]) {
        let ExpectedViolation { requirement, line, .. } = entry;
        let message = format!(
            "{}:{line} expects a violation of {requirement}, and there is none: the entry can go",
            self.file
        );
        let looked = |judgement: &Judgement| judgement.checked.contains(requirement);
        let meant =
            |judgement: &Judgement| judgement.verdict.ran() && entry.matches(&judgement.case);
        let any_looked = judgements.iter().any(|judgement| meant(judgement) && looked(judgement));
        for judgement in judgements.iter_mut().filter(|judgement| meant(judgement)) {
            if judgement.verdict != Verdict::Violates && (looked(judgement) || !any_looked) {
                judgement.verdict = Verdict::UnexpectedConformance { message: message.clone() };
            }
        }
    }
}

impl ExpectedViolation {
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

    /// Marks the findings that this entry lists, and says whether there were any.
    fn mark(&self, judgement: &mut Judgement) -> bool {
        let mut met = false;
        if self.matches(&judgement.case) {
            for finding in judgement
                .findings
                .iter_mut()
                .filter(|finding| finding.requirement == self.requirement)
            {
                finding.expected_because = Some(self.because());
                met = true;
            }
        }
        met
    }

    fn because(&self) -> String {
        match &self.issue {
            Some(issue) => format!("{} ({issue})", self.reason),
            None => self.reason.clone(),
        }
    }
}

fn entry(
    listed: Spanned<Listed>,
    document: &Document<'_>,
    catalogue: &Catalogue,
) -> Result<ExpectedViolation, Box<Refusal>> {
    let line = listed.line();
    let Listed { requirement, cases, reason, issue, expires, when } = listed.value;
    if catalogue.get(&requirement).is_none() {
        let message = format!("the catalogue has no requirement `{requirement}`");
        let mut refusal =
            document.refuse_word(RefusalCode::UnknownRequirement, line, &requirement, message);
        refusal.help = catalogue.suggestion(&requirement);
        return Err(refusal);
    }
    if reason.trim().is_empty() {
        return Err(document.refuse_word(
            RefusalCode::InvalidExpectationFile,
            line,
            "reason",
            "an expected violation needs a reason",
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
    let when = Conditions::read(when).map_err(|text| {
        let message = format!("`{text}` is no range of versions such as \">=0.30,<0.32\"");
        document.refuse_word(RefusalCode::InvalidExpectationFile, line, "versions", message)
    })?;
    Ok(ExpectedViolation { requirement, cases, reason, issue, expires, when, line, globs })
}
