//! `allocert run INTERFACE SUBJECT`

use std::process::ExitCode;

use allocert_campaign::run::{self, RunOptions};
use allocert_campaign::{Failure, Verdicts};
use allocert_suite::report::terminal::{Detail, render};

use crate::arguments::Run;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn run(arguments: Run) -> Result<ExitCode, Failure> {
    let workers = workers::new(arguments.python)?;
    let detail = arguments.verdict.detail();
    let (side, subject) = (arguments.side, arguments.subject);
    let options = RunOptions {
        abi: arguments.abi,
        fixtures: arguments.fixtures,
        filter: arguments.filter,
        shard: arguments.shard,
        faults: arguments.faults.map(|width| width.map(Into::into)),
        isolation: arguments.isolation.map(Into::into),
        jobs: arguments.jobs,
        timeout_s: arguments.timeout,
        max_time_s: arguments.max_time,
        repeat: arguments.repeat,
        out: arguments.out,
        keep: arguments.keep,
        verdict: arguments.verdict.into(),
        ..RunOptions::new(side, subject, None, arguments.driver.into())
    };
    show(&run::run(&options, &workers, &mut ProgressBar::new())?, detail)
}

/// Prints the report of a judged run, also where a file could not be written, and gives its exit
/// code.
pub(crate) fn show(verdicts: &Verdicts, detail: Detail) -> Result<ExitCode, Failure> {
    terminal::print(&render(&verdicts.report(), detail, terminal::palette()))?;
    let warnings = verdicts.warnings.iter().map(|warning| format!("note: {warning}\n"));
    terminal::print(&warnings.collect::<String>())?;
    match &verdicts.unwritten {
        Some(failure) => Err(failure.clone()),
        None => Ok(verdicts.exit().code().into()),
    }
}
