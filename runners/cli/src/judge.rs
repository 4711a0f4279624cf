//! `allocert judge RUN`

use std::process::ExitCode;

use allocert_campaign::{Failure, recorded_run};

use crate::arguments::Judge;
use crate::run;

pub(crate) fn judge(arguments: Judge) -> Result<ExitCode, Failure> {
    let detail = arguments.verdict.detail();
    run::show(&recorded_run::judge(&arguments.run, &arguments.verdict.into())?, detail)
}
