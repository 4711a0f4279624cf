//! What follows from verdicts: expectations, reports, the exit code.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use allocert_suite::exit::Exit;
use allocert_suite::expectations::Expectations;
use allocert_suite::report::{self, Report, junit};
use allocert_suite::run::{Header, Judged, Writer};
use allocert_suite::verdict::Judgement;

use crate::arguments::VerdictOptions;
use crate::failure::Failure;
use crate::suite::Suite;
use crate::terminal;

/// What verdicts are told with and written to.
#[derive(Debug)]
pub(crate) struct Conclusion<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) expectations: Option<Expectations>,
    pub(crate) junit: Option<Output>,
    pub(crate) out: Option<Output>,
}

impl<'a> Conclusion<'a> {
    /// Reads and opens all files, so that what is wrong with them is told before anything runs.
    pub(crate) fn prepare(
        suite: &'a Suite,
        options: &VerdictOptions,
        out: Option<&PathBuf>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            suite,
            expectations: options
                .expect
                .as_deref()
                .map(|path| expectations(suite, path))
                .transpose()?,
            junit: options.junit.as_ref().map(Output::create).transpose()?,
            out: out.map(Output::create).transpose()?,
        })
    }

    /// Applies the expectations, writes what was asked for, tells the person, and finds the exit
    /// code.
    pub(crate) fn draw(self, header: &Header, mut cases: Vec<Judged>) -> Result<ExitCode, Failure> {
        if let Some(expectations) = &self.expectations {
            let mut judgements: Vec<&mut Judgement> =
                cases.iter_mut().map(|judged| &mut judged.judgement).collect();
            expectations.apply(&mut judgements);
        }
        if let Some(out) = self.out {
            out.write(|file| record(file, header, &cases))?;
        }
        let report = Report { header, cases: &cases, catalogue: &self.suite.catalogue };
        if let Some(junit) = self.junit {
            let text =
                junit::render(&report).map_err(|error| Failure::new(Exit::Harness, error))?;
            junit.write(|mut file| file.write_all(text.as_bytes()))?;
        }
        terminal::print(&report::terminal::render(&report, terminal::palette()))?;
        Ok(Exit::of(cases.iter().map(|judged| &judged.judgement)).code().into())
    }
}

/// A file that is being written, and its name.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    pub(crate) fn create(path: &PathBuf) -> Result<Self, Failure> {
        let file = File::create(path);
        let file = file
            .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))?;
        Ok(Self { path: path.clone(), file })
    }

    pub(crate) fn write(
        self,
        write: impl FnOnce(File) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let Self { path, file } = self;
        write(file).map_err(|error| {
            Failure::new(Exit::Harness, format!("cannot write {}: {error}", path.display()))
        })
    }
}

fn expectations(suite: &Suite, path: &Path) -> Result<Expectations, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the expectation file {name}: {error}"))
    })?;
    Expectations::read(&name, &text, &suite.catalogue).map_err(Failure::usage)
}

pub(crate) fn record(file: File, header: &Header, judged: &[Judged]) -> std::io::Result<()> {
    let mut writer = Writer::begin(BufWriter::new(file), header)?;
    judged.iter().try_for_each(|judged| writer.add(judged))?;
    writer.finish()?.flush()
}
