//! `allocert report RUN --format FORMAT`

use std::process::ExitCode;

use allocert_campaign::{Failure, recorded_run};

use crate::arguments::Report;
use crate::terminal;

pub(crate) fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    let Report { run, format, out } = arguments;
    let palette = terminal::palette();
    let text = recorded_run::report(run, (*format).into(), out.as_deref(), palette)?;
    terminal::print(&text.unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}
