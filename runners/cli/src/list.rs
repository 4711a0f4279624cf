//! `allocert list`

use std::process::ExitCode;

use crate::failure::Failure;
use crate::selection::Filter;
use crate::suite::Suite;
use crate::terminal;

pub(crate) fn list(filter: Option<&str>) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let cases = Filter::new(filter)?.select(suite.cases.iter(), None)?;
    let width = cases.iter().map(|case| case.id.len()).max().unwrap_or_default();
    let lines = cases.iter().map(|case| format!("{:width$}  {}\n", case.id, case.about));
    terminal::print(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
