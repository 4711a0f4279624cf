//! What follows from verdicts: expectations, the run file, the JUnit report, the exit code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use allocert_harness::Loaded;
use allocert_suite::exit::Exit;
use allocert_suite::expectation_file::{Entry, ExpectationFile};
use allocert_suite::expectation_update::{self, Update};
use allocert_suite::plan::PlannedCase;
use allocert_suite::reason::Meaning;
use allocert_suite::report::{Completeness, Report, clean, junit};
use allocert_suite::run_format::{DriverInfo, Header, Judged, Repeats, Selection};
use allocert_suite::verdict::Judgement;
use allocert_suite::{Catalogue, RefusalCode};

use crate::failure::Failure;
use crate::output_file::{OutputFile, refuse_one_file_twice, refuse_to_overwrite};
use crate::partial_run::PartialRun;
use crate::run_file::Contents;
use crate::spool::Spool;
use crate::{clock, text_file};

/// What a user wants done with verdicts, from a new run or a recorded one.
#[derive(Debug, Clone, Default)]
pub struct VerdictOptions {
    /// The text that holds where the texts disagree; the interface's default where none is named.
    pub profile: Option<String>,
    /// The expectation file.
    pub expect: Option<PathBuf>,
    /// Whether cases that ran without showing what they ask about leave the run as it is.
    pub allow_not_observed: bool,
    /// Whether the expectation file is brought up to date.
    pub update_expectations: bool,
    /// Where the JUnit report goes.
    pub junit: Option<PathBuf>,
}

/// A judged run.
#[derive(Debug)]
pub struct Verdicts {
    pub header: Header,
    pub cases: Vec<Judged>,
    /// What a person should know about the run besides.
    pub warnings: Vec<String>,
    /// The verdicts of each repeat, if the cases were run several times. The cases have the worst.
    pub repeats: Option<Repeats>,
    pub catalogue: Catalogue,
    pub completeness: Completeness,
    /// Why a file that the user named was not written. The verdicts are whole all the same.
    pub unwritten: Option<Failure>,
}

impl Verdicts {
    /// The verdicts of a run that has all cases which the header names.
    pub(crate) fn of_whole_run(header: Header, cases: Vec<Judged>, catalogue: Catalogue) -> Self {
        Self {
            header,
            cases,
            warnings: Vec::new(),
            repeats: None,
            catalogue,
            completeness: Completeness::Known,
            unwritten: None,
        }
    }

    /// What a renderer takes.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        let Self { header, cases, catalogue, completeness, repeats, .. } = self;
        let (completeness, repeats) = (*completeness, repeats.as_ref());
        Report { header, cases, catalogue, completeness, repeats }
    }

    /// Applies the expectation file of the options to cases that belong to no side's fixtures.
    pub(crate) fn expect(&mut self, options: &VerdictOptions) -> Result<(), Failure> {
        let cases: Vec<&PlannedCase> = self.cases.iter().map(|judged| &judged.case).collect();
        let subject = &self.header.subject.argument;
        let files = VerdictFiles::open(&self.catalogue, subject, &cases, options, &[], None)?;
        files.apply(self)?.write(self, None)
    }

    #[must_use]
    pub fn exit(&self) -> Exit {
        self.report().exit()
    }
}

/// The files that verdicts are compared with and written to. All are opened before anything runs,
/// so that what is wrong with them is told at once.
#[derive(Debug)]
pub(crate) struct VerdictFiles {
    expectations: Option<Expectations>,
    allow_not_observed: bool,
    junit: Option<OutputFile>,
    runs: Vec<OutputFile>,
}

/// An expectation file, what it says, and what it is written to if it is brought up to date.
#[derive(Debug)]
struct Expectations {
    text: String,
    file: ExpectationFile,
    output: Option<OutputFile>,
}

impl VerdictFiles {
    /// `cases` are all that the side has, whichever of them run. `subject` is as the header of the
    /// run names it.
    pub(crate) fn open(
        catalogue: &Catalogue,
        subject: &str,
        cases: &[&PlannedCase],
        options: &VerdictOptions,
        runs: &[Option<&Path>],
        input: Option<&Path>,
    ) -> Result<Self, Failure> {
        let expectations = options.expect.as_deref();
        let read = |path| read(catalogue, subject, cases, path, options.update_expectations);
        let files = Self {
            expectations: expectations.map(read).transpose()?,
            allow_not_observed: options.allow_not_observed,
            junit: options.junit.as_deref().map(OutputFile::create).transpose()?,
            runs: runs
                .iter()
                .flatten()
                .map(|path| OutputFile::create_run(path))
                .collect::<Result<_, _>>()?,
        };
        refuse_one_file_twice(files.outputs().chain(expectations).chain(input))?;
        Ok(files)
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.runs.iter().chain(&self.junit).map(OutputFile::path)
    }

    /// Refuses to write the file of the subject, which is known when the subject is loaded.
    pub(crate) fn keep_apart_from(&self, subject: &Loaded) -> Result<(), Failure> {
        self.outputs()
            .try_for_each(|output| refuse_to_overwrite(output, subject.subject.get("file")))
    }

    /// Begins the partial file of the first run file; a pipe has none.
    pub(crate) fn begin_partial(&self, header: &Header) -> Result<Option<PartialRun>, Failure> {
        let run = self.runs.first().filter(|run| run.is_replaced());
        run.map(|run| PartialRun::begin(run.path(), header)).transpose()
    }

    /// Applies the expectations.
    pub(crate) fn apply(mut self, verdicts: &mut Verdicts) -> Result<Self, Failure> {
        if let Some(expectations) = self.expectations.take() {
            apply_expectations(expectations, verdicts)?;
        }
        if self.allow_not_observed {
            allow_not_observed(verdicts);
        }
        Ok(self)
    }

    /// Writes the files, each that can be written. The spool has what is not in the cases.
    pub(crate) fn write(self, verdicts: &Verdicts, spool: Option<&Spool>) -> Result<(), Failure> {
        let contents = Contents {
            header: &verdicts.header,
            judged: &verdicts.cases,
            spool,
            repeats: verdicts.repeats.as_ref(),
        };
        let runs = self.runs.into_iter().map(|run| run.write_run(&contents));
        let mut written: Vec<Result<(), Failure>> = runs.collect();
        if let Some(junit) = self.junit {
            let text = junit::render(&verdicts.report()).map_err(Failure::harness);
            written.push(text.and_then(|text| junit.write_text(&text)));
        }
        written.into_iter().collect()
    }
}

/// Refuses to bring an expectation file up to date by some of the cases: an entry may be true of
/// the others.
pub(crate) fn check_update(
    options: &VerdictOptions,
    selection: Option<&Selection>,
) -> Result<(), Failure> {
    if !options.update_expectations || selection == Some(&Selection::default()) {
        return Ok(());
    }
    let message = "--update-expectations needs a run of all cases of the side: leave --filter and \
                   --shard out";
    Err(Failure::refused(RefusalCode::OptionConflict, message))
}

/// Whether it is not known what a case would show.
fn has_no_result(judged: &Judged) -> bool {
    let verdict = &judged.judgement.verdict;
    verdict.meaning() == Some(Meaning::Unfinished) || verdict.is_worthless()
}

fn apply_expectations(expectations: Expectations, verdicts: &mut Verdicts) -> Result<(), Failure> {
    let Expectations { text, file, output } = expectations;
    let name = &file.file;
    let (driver, details) = (&verdicts.header.driver, &verdicts.header.subject.details);
    let others = file.other_versions(details);
    if !others.is_empty() {
        let note = format!(
            "{name} was found to be right on {}, and this run has {}; look at its entries again, \
             and bring `seen_on` up to date",
            file.seen_on,
            others.join(", ")
        );
        verdicts.warnings.push(clean(&note));
    }
    let (mut applying, left_out) = file.for_run(driver, details);
    if left_out > 0 {
        let note = match left_out {
            1 => format!("1 entry of {name} does not apply: its `when` does not hold"),
            _ => format!("{left_out} entries of {name} do not apply: their `when` does not hold"),
        };
        verdicts.warnings.push(clean(&note));
    }
    let is_decided = !verdicts.cases.iter().any(has_no_result);
    if output.is_some() && !is_decided {
        let note = format!("{name} is not updated: a case has no result");
        verdicts.warnings.push(clean(&note));
    }
    if let Some(output) = output.filter(|_| is_decided) {
        let judgements: Vec<&Judgement> =
            verdicts.cases.iter().map(|judged| &judged.judgement).collect();
        let update = expectation_update::update(&applying, &text, &judgements);
        let updated = read_updated(&file, &update, &verdicts.catalogue)?;
        applying = updated.for_run(driver, details).0;
        let Update { text: new, removed, added } = update;
        if new != text {
            output.write_text(&new)?;
        }
        let (entries, were) = if removed == 1 { ("entry", "was") } else { ("entries", "were") };
        let were_added = if added == 1 { "was" } else { "were" };
        let note =
            format!("{name}: {removed} {entries} {were} removed and {added} {were_added} added");
        verdicts.warnings.push(clean(&note));
    }
    let cases = verdicts.cases.iter_mut();
    let mut judgements: Vec<&mut Judgement> = cases.map(|judged| &mut judged.judgement).collect();
    applying.apply(&mut judgements);
    Ok(())
}

/// Notes the option in the run and in the cases that it is about and that no expectation file
/// lists.
fn allow_not_observed(verdicts: &mut Verdicts) {
    if verdicts.completeness == Completeness::Unknown {
        verdicts.completeness = Completeness::Allowed;
    }
    let judgements = verdicts.cases.iter_mut().map(|judged| &mut judged.judgement);
    for judgement in judgements.filter(|one| one.is_unseen()) {
        judgement.expected_because.get_or_insert_with(|| "--allow-not-observed".to_owned());
    }
}

/// Reads the new text before it is written: a list in brackets cannot be changed line by line.
fn read_updated(
    file: &ExpectationFile,
    update: &Update,
    catalogue: &Catalogue,
) -> Result<ExpectationFile, Failure> {
    let count = file.entry_lines.len() + update.added - update.removed;
    match ExpectationFile::read(&file.file, &update.text, catalogue) {
        Ok(updated) if updated.entry_lines.len() == count => Ok(updated),
        _ => Err(Failure::refused(
            RefusalCode::InvalidExpectationFile,
            format!(
                "{} cannot be updated: write each entry of `expected` in lines of its own, \
                 beginning with `- requirement:` or `- verdict:`",
                file.file
            ),
        )),
    }
}

/// The requirements that an expectation file lists for a subject on the software driver, whichever
/// cases it names.
pub(crate) fn listed_requirements(
    catalogue: &Catalogue,
    (subject, loaded): (&str, &Loaded),
    path: &Path,
) -> Result<BTreeSet<String>, Failure> {
    let file = check_expectations(catalogue, subject, path)?;
    let details = loaded.subject.clone().into_iter().collect();
    let (applying, _) = file.for_run(&DriverInfo::simulated(), &details);
    let requirements = applying.entries.iter().filter_map(Entry::requirement);
    Ok(requirements.map(str::to_owned).collect())
}

/// Reads an expectation file whose cases are not known yet.
pub(crate) fn check_expectations(
    catalogue: &Catalogue,
    subject: &str,
    path: &Path,
) -> Result<ExpectationFile, Failure> {
    let text = text_file::read("expectation file", path)?;
    let file = ExpectationFile::read(&path.display().to_string(), &text, catalogue)?;
    file.check_subject(&text, subject)?;
    file.check_dates(&text, clock::today())?;
    Ok(file)
}

/// Reads an expectation file about this subject and some of these cases, which are all cases of the
/// side.
///
/// # Errors
/// A refusal of the file.
pub fn read_expectations(
    catalogue: &Catalogue,
    subject: &str,
    cases: &[&PlannedCase],
    path: &Path,
) -> Result<ExpectationFile, Failure> {
    Ok(read(catalogue, subject, cases, path, false)?.file)
}

fn read(
    catalogue: &Catalogue,
    subject: &str,
    cases: &[&PlannedCase],
    path: &Path,
    is_updated: bool,
) -> Result<Expectations, Failure> {
    let text = text_file::read("expectation file", path)?;
    let mut file = ExpectationFile::read(&path.display().to_string(), &text, catalogue)?;
    file.check_subject(&text, subject)?;
    let cases: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    file.check_cases(&text, &cases)?;
    file.check_dates(&text, clock::today())?;
    let output = is_updated.then(|| OutputFile::create(path)).transpose()?;
    Ok(Expectations { text, file, output })
}
