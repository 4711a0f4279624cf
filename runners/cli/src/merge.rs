//! `allocert merge RUN... --out RUN`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use allocert_campaign::{Failure, merge};

use crate::terminal;

pub(crate) fn merge(runs: &[PathBuf], out: &Path) -> Result<ExitCode, Failure> {
    let cases = merge::merge(runs, out)?;
    let shards = runs.len();
    terminal::print(&format!("{}: {cases} cases of {shards} shards\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
