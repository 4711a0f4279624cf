//! `allocert mutants [SIDE]`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::kill_run::KillRun;
use allocert_suite::exit::Exit;
use allocert_suite::report::kills;

use crate::arguments::BuiltSubjects;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn mutants(arguments: BuiltSubjects) -> Result<ExitCode, Failure> {
    let workers = workers::new(arguments.python.clone())?;
    let kill_run = KillRun::plan(&arguments.into())?;
    let kills = kill_run.run(&workers, &mut ProgressBar::new())?;
    let matrix = kill_run.matrix(&kills);
    terminal::print(&kills::render(&matrix))?;
    let exit = if matrix.holds() { Exit::Conforms } else { Exit::Violations };
    Ok(exit.code().into())
}
