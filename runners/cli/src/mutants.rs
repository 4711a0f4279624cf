//! `allocert mutants [SIDE]`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::kill_run::KillRun;
use allocert_suite::exit::Exit;
use allocert_suite::report::first_causes::{self, FirstCause};
use allocert_suite::report::kills;

use crate::arguments::Mutants;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn mutants(arguments: Mutants) -> Result<ExitCode, Failure> {
    let Mutants { subjects, first_cause } = arguments;
    let workers = workers::new(subjects.python.clone())?;
    let kill_run = KillRun::plan(&subjects.into())?;
    let holds = if first_cause {
        let first_causes = kill_run.first_causes(&workers, &mut ProgressBar::new())?;
        terminal::print(&first_causes::render(&first_causes))?;
        first_causes.iter().all(FirstCause::is_right)
    } else {
        let kills = kill_run.run(&workers, &mut ProgressBar::new())?;
        let matrix = kill_run.matrix(&kills);
        terminal::print(&kills::render(&matrix))?;
        matrix.holds()
    };
    let exit = if holds { Exit::Conforms } else { Exit::Violations };
    Ok(exit.code().into())
}
