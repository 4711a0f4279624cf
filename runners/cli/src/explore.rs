//! `allocert explore INTERFACE SUBJECT`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::exploration::{self, ExplorationOptions};
use allocert_explore::report;

use crate::arguments::Explore;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};
use allocert_suite::RefusalCode;

pub(crate) fn explore(arguments: Explore) -> Result<ExitCode, Failure> {
    let workers = workers::new(arguments.python)?;
    let options = ExplorationOptions {
        side: arguments.side,
        subject: arguments.subject,
        abi: arguments.abi,
        seed: arguments.seed,
        ops: arguments.ops,
        out: arguments.out,
        jobs: arguments.jobs,
        expect: arguments.expect,
        timeout_s: arguments.timeout,
    };
    let explored = exploration::explore(&options, &workers, &mut ProgressBar::new())?;
    terminal::print(&report::render(&explored.report, terminal::palette()))?;
    match explored.unwritten {
        Some(error) => Err(Failure::refused(
            RefusalCode::UnwritableFile,
            format!("{error}; the fixture is printed above"),
        )),
        None => Ok(explored.exit.code().into()),
    }
}
