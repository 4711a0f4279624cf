//! What follows from verdicts: expectations, the run file, the JUnit report, the exit code.

use std::path::{Path, PathBuf};

use allocert_harness::Loaded;
use allocert_suite::Catalogue;
use allocert_suite::exit::Exit;
use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::plan::PlannedCase;
use allocert_suite::repeats::Repeats;
use allocert_suite::report::{Report, clean, junit};
use allocert_suite::run_format::{Header, Judged};
use allocert_suite::verdict::Judgement;

use crate::failure::Failure;
use crate::output_file::{OutputFile, refuse_one_file_twice, refuse_to_overwrite};
use crate::partial_run::PartialRun;
use crate::spool::Spool;
use crate::{clock, text_file};

/// What a user wants done with verdicts, from a new run or a recorded one.
#[derive(Debug, Clone, Default)]
pub struct VerdictOptions {
    /// The text that holds where the texts disagree; the interface's default where none is named.
    pub profile: Option<String>,
    /// The expectation file.
    pub expect: Option<PathBuf>,
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
}

impl Verdicts {
    /// What a renderer takes.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report { header: &self.header, cases: &self.cases, catalogue: &self.catalogue }
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
    expectations: Option<ExpectationFile>,
    junit: Option<OutputFile>,
    runs: Vec<OutputFile>,
}

impl VerdictFiles {
    /// `cases` are all that the side has, whichever of them run.
    pub(crate) fn open(
        catalogue: &Catalogue,
        cases: &[&PlannedCase],
        options: &VerdictOptions,
        runs: &[Option<&Path>],
        input: Option<&Path>,
    ) -> Result<Self, Failure> {
        let expectations = options.expect.as_deref();
        let files = Self {
            expectations: expectations.map(|path| read(catalogue, cases, path)).transpose()?,
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
        self.outputs().try_for_each(|output| refuse_to_overwrite(output, subject))
    }

    /// Begins the partial file of the first run file; a pipe has none.
    pub(crate) fn begin_partial(&self, header: &Header) -> Result<Option<PartialRun>, Failure> {
        let run = self.runs.first().filter(|run| run.is_replaced());
        run.map(|run| PartialRun::begin(run.path(), header)).transpose()
    }

    /// Applies the expectations and writes the files. The spool has what is not in the cases.
    pub(crate) fn apply(
        self,
        verdicts: &mut Verdicts,
        spool: Option<&Spool>,
    ) -> Result<(), Failure> {
        if let Some(expectations) = &self.expectations {
            let (meant, subject) = (&expectations.subject, &verdicts.header.subject.argument);
            if meant != subject {
                let file = &expectations.file;
                let note = format!("{file} is about the subject {meant}, and this is {subject}");
                verdicts.warnings.push(clean(&note));
            }
            let cases = verdicts.cases.iter_mut();
            let mut judgements: Vec<&mut Judgement> =
                cases.map(|judged| &mut judged.judgement).collect();
            expectations.apply(&mut judgements);
        }
        for run in self.runs {
            run.write_run(&verdicts.header, &verdicts.cases, spool)?;
        }
        if let Some(junit) = self.junit {
            let text = junit::render(&verdicts.report());
            let text = text.map_err(Failure::harness)?;
            junit.write_text(&text)?;
        }
        Ok(())
    }
}

fn read(
    catalogue: &Catalogue,
    cases: &[&PlannedCase],
    path: &Path,
) -> Result<ExpectationFile, Failure> {
    let text = text_file::read("expectation file", path)?;
    let file = ExpectationFile::read(&path.display().to_string(), &text, catalogue)?;
    let cases: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    file.check_cases(&text, &cases)?;
    file.check_dates(&text, clock::today())?;
    Ok(file)
}
