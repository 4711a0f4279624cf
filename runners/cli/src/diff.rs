//! `allocert diff BEFORE AFTER`

use std::process::ExitCode;

use allocert_campaign::{Failure, behaviour_files, recorded_run, run};
use allocert_suite::behaviour::{Behaviour, difference_report, differences};
use allocert_suite::exit::Exit;

use crate::arguments::{Diff, DiffFormat};
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn diff(arguments: Diff) -> Result<ExitCode, Failure> {
    if arguments.accept || arguments.pending {
        behaviour_files::check_folder(&arguments.before)?;
    }
    let (before, after) = both(&arguments)?;
    let differences = differences(&before, &after);
    let text = match arguments.format {
        DiffFormat::Text => difference_report::text(&differences, terminal::palette()),
        DiffFormat::Markdown => difference_report::markdown(&differences),
        DiffFormat::Json => difference_report::json(&differences),
    };
    terminal::print(&text)?;
    if arguments.accept {
        behaviour_files::write(&arguments.before, &after)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.pending {
        behaviour_files::write_pending(&arguments.before, &after)?;
    }
    let exit = if differences.is_empty() { Exit::Conforms } else { Exit::Violations };
    Ok(exit.code().into())
}

/// Against another subject, the first is that subject's, and the second the one that is named.
fn both(arguments: &Diff) -> Result<(Vec<Behaviour>, Vec<Behaviour>), Failure> {
    let path = &arguments.before;
    match (&arguments.after, &arguments.against) {
        (Some(after), _) => Ok((behaviour_files::read(path)?, behaviour_files::read(after)?)),
        (None, Some(subject)) => {
            let run = recorded_run::read(path)?;
            let options = recorded_run::options_of(path, &run.header, subject)?;
            let workers = workers::new(arguments.python.clone())?;
            let verdicts = run::run(&options, &workers, &mut ProgressBar::new())?;
            Ok((behaviour_files::of(&verdicts.cases), behaviour_files::of(&run.cases)))
        }
        (None, None) => unreachable!("the command line demands one of the two"),
    }
}
