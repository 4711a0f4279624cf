//! `allocert matrix INTERFACE`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::exchange_matrix::{self, Filled, MatrixOptions};
use allocert_suite::report::terminal::Detail;

use crate::arguments::Matrix;
use crate::progress_bar::ProgressBar;
use crate::{run, terminal, workers};

pub(crate) fn matrix(arguments: Matrix) -> Result<ExitCode, Failure> {
    let workers = workers::new(arguments.python)?;
    let options = MatrixOptions {
        interface: arguments.interface,
        producers: arguments.producers,
        consumers: arguments.consumers,
        driver: arguments.driver.into(),
        filter: arguments.filter,
        jobs: arguments.jobs,
        html: arguments.html,
        markdown: arguments.markdown,
        out: arguments.out,
        expect: arguments.expect,
    };
    let Filled { matrix, verdicts, unwritten } =
        exchange_matrix::run(&options, &workers, &mut ProgressBar::new())?;
    if options.markdown.is_none() || unwritten.is_some() {
        terminal::print(&matrix.markdown())?;
    }
    let code = match verdicts {
        Some(verdicts) => run::show(&verdicts, Detail::Causes)?,
        None => ExitCode::SUCCESS,
    };
    unwritten.map_or(Ok(code), Err)
}
