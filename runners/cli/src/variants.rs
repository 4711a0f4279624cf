//! `allocert variants [SIDE]`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::variant_run::VariantRun;
use allocert_suite::exit::Exit;
use allocert_suite::report::variant_runs;

use crate::arguments::BuiltSubjects;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn variants(arguments: BuiltSubjects) -> Result<ExitCode, Failure> {
    let workers = workers::new(arguments.python.clone())?;
    let variant_run = VariantRun::plan(&arguments.into())?;
    let results = variant_run.run(&workers, &mut ProgressBar::new())?;
    let matrix = variant_run.matrix(&results);
    terminal::print(&variant_runs::render(&matrix))?;
    let exit = if matrix.holds() { Exit::Conforms } else { Exit::Violations };
    Ok(exit.code().into())
}
