//! What follows from verdicts: expectations, reports, the exit code.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use allocert_suite::exit::Exit;
use allocert_suite::expectations::Expectations;
use allocert_suite::run::{Header, Judged, Writer};
use allocert_suite::verdict::Judgement;

use crate::arguments::VerdictOptions;
use crate::failure::Failure;
use crate::suite::Suite;
use crate::terminal;

impl VerdictOptions {
    /// Reads the expectation file: what can be wrong with it is told before anything is run.
    pub(crate) fn expectations(&self, suite: &Suite) -> Result<Option<Expectations>, Failure> {
        let Some(path) = &self.expect else { return Ok(None) };
        let name = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read the expectation file {name}: {error}")))?;
        Expectations::read(&name, &text, &suite.catalogue).map(Some).map_err(Failure::usage)
    }
}

/// Applies the expectations, writes what was asked for, tells the person, and finds the exit code.
pub(crate) fn conclude(
    header: Header,
    mut cases: Vec<Judged>,
    expectations: Option<&Expectations>,
    out: Option<(PathBuf, File)>,
) -> Result<ExitCode, Failure> {
    if let Some(expectations) = expectations {
        let mut judgements: Vec<&mut Judgement> = cases.iter_mut().map(|judged| &mut judged.judgement).collect();
        expectations.apply(&mut judgements);
    }
    if let Some((path, file)) = out {
        record(file, &header, &cases)
            .map_err(|error| Failure::new(Exit::Harness, format!("cannot write {}: {error}", path.display())))?;
    }
    let text: String = cases
        .iter()
        .map(|judged| {
            format!("{} {:?} {:?}\n", judged.judgement.case, judged.judgement.verdict, judged.judgement.findings)
        })
        .collect();
    terminal::print(&text)?;
    Ok(Exit::of(cases.iter().map(|judged| &judged.judgement)).code().into())
}

fn record(file: File, header: &Header, judged: &[Judged]) -> std::io::Result<()> {
    let mut writer = Writer::begin(BufWriter::new(file), header)?;
    judged.iter().try_for_each(|judged| writer.add(judged))?;
    writer.finish()?.flush()
}
