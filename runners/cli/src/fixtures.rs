//! `allocert fixtures check [PATH...]`

use std::path::PathBuf;
use std::process::ExitCode;

use allocert_campaign::{Failure, Suite};

use crate::terminal;

pub(crate) fn check(paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    let suite = if paths.is_empty() { Suite::load()? } else { Suite::read(paths)? };
    terminal::print(&format!(
        "{} fixtures, {} cases, nothing wrong\n",
        suite.fixtures(),
        suite.cases.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}
