//! `allocert explain ID|CODE`

use std::process::ExitCode;

use allocert_campaign::{Failure, Suite};
use allocert_suite::RefusalCode;
use allocert_suite::report::explain;

use crate::terminal;

pub(crate) fn explain(id: &str) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let text = explain::render(id, &suite.catalogue, &suite.cases)
        .map_err(|message| Failure::refused(RefusalCode::UnknownId, message))?;
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
