//! `allocert explain ID`

use std::process::ExitCode;

use allocert_campaign::{Failure, Suite};
use allocert_suite::report::explain;

use crate::terminal;

pub(crate) fn explain(id: &str) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let text = explain::render(id, &suite.catalogue, &suite.cases).map_err(Failure::usage)?;
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
