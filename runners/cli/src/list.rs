//! `allocert list`

use std::process::ExitCode;

use allocert_suite::plan::PlannedCase;
use allocert_suite::report::list;

use crate::failure::Failure;
use crate::selection::Filter;
use crate::suite::Suite;
use crate::terminal;

pub(crate) fn list(filter: Option<&str>) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let cases: Vec<PlannedCase> = Filter::new(filter)?.select(suite.cases.iter(), None)?.into_iter().cloned().collect();
    terminal::print(&list::render(&cases))?;
    Ok(ExitCode::SUCCESS)
}
