//! `allocert coverage [INTERFACE]`

use std::process::ExitCode;

use allocert_suite::plan::PlannedCase;
use allocert_suite::report::coverage;

use crate::failure::Failure;
use crate::suite::Suite;
use crate::{interface, terminal};

pub(crate) fn coverage(word: &str) -> Result<ExitCode, Failure> {
    let interface = interface::parse(word)?;
    let suite = Suite::load()?;
    let cases: Vec<PlannedCase> = suite.cases_of(interface).cloned().collect();
    terminal::print(&coverage::render(&suite.catalogue, &cases, &[]))?;
    Ok(ExitCode::SUCCESS)
}
