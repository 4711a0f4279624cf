//! `allocert matrix INTERFACE`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::exchange_matrix::{self, MatrixOptions};

use crate::arguments::Matrix;
use crate::progress_bar::ProgressBar;
use crate::{terminal, workers};

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
    };
    let matrix = exchange_matrix::run(&options, &workers, &mut ProgressBar::new())?;
    if options.markdown.is_none() {
        terminal::print(&matrix.markdown())?;
    }
    Ok(ExitCode::SUCCESS)
}
