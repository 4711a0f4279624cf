//! `allocert trace RUN CASE`

use std::process::ExitCode;

use allocert_campaign::{Failure, recorded_run};
use allocert_suite::report;

use crate::arguments::Trace;
use crate::terminal;

pub(crate) fn trace(arguments: &Trace) -> Result<ExitCode, Failure> {
    let run = recorded_run::read(&arguments.run)?;
    let judged = recorded_run::case(&run, &arguments.case)?;
    terminal::print(&report::trace::render(judged, terminal::palette()))?;
    Ok(ExitCode::SUCCESS)
}
