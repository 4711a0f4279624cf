//! `allocert snapshot RUN`

use std::process::ExitCode;

use allocert_campaign::{Failure, behaviour_files};

use crate::arguments::Snapshot;
use crate::terminal;

pub(crate) fn snapshot(arguments: &Snapshot) -> Result<ExitCode, Failure> {
    behaviour_files::check_folder(&arguments.out)?;
    let behaviours = behaviour_files::read(&arguments.run)?;
    behaviour_files::write(&arguments.out, &behaviours)?;
    let (count, folder) = (behaviours.cases.len(), arguments.out.display());
    terminal::print(&format!("{count} snapshots in {folder}\n"))?;
    Ok(ExitCode::SUCCESS)
}
