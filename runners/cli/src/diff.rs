//! `allocert diff BEFORE AFTER`

use std::process::ExitCode;

use allocert_campaign::behaviour_files::Behaviours;
use allocert_campaign::{Failure, behaviour_files, recorded_run, run};
use allocert_suite::behaviour::{difference_report, differences};
use allocert_suite::exit::Exit;
use allocert_suite::report;

use crate::arguments::{Diff, DiffFormat};
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

pub(crate) fn diff(arguments: Diff) -> Result<ExitCode, Failure> {
    if arguments.accept || arguments.pending {
        behaviour_files::check_folder(&arguments.before)?;
    }
    let (mut before, mut after) = both(&arguments)?;
    let left_out = behaviour_files::make_comparable(&mut before, &mut after)?;
    if let Some(part) = after.part.as_ref().or(before.part.as_ref()).filter(|_| left_out > 0) {
        let part = report::clean(part);
        eprintln!("note: {left_out} cases are not compared, because a run shows {part}");
    }
    let differences = differences(&before.cases, &after.cases);
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
fn both(arguments: &Diff) -> Result<(Behaviours, Behaviours), Failure> {
    let path = &arguments.before;
    match (&arguments.after, &arguments.against) {
        (Some(after), _) => Ok((behaviour_files::read(path)?, behaviour_files::read(after)?)),
        (None, Some(subject)) => {
            let run = recorded_run::read(path)?;
            let options = recorded_run::options_of(path, &run.header, subject)?;
            let workers = workers::new(arguments.python.clone())?;
            let verdicts = run::run(&options, &workers, &mut ProgressBar::new())?;
            let before = Behaviours::of(&verdicts.header, &verdicts.cases);
            Ok((before, Behaviours::of(&run.header, &run.cases)))
        }
        (None, None) => unreachable!("the command line demands one of the two"),
    }
}
