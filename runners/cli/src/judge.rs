//! `allocert judge RUN`

use std::process::ExitCode;

use allocert_campaign::{Failure, rejudge};

use crate::arguments::Judge;
use crate::run;

pub(crate) fn judge(arguments: Judge) -> Result<ExitCode, Failure> {
    run::show(&rejudge::judge(&arguments.run, &arguments.verdict.into())?)
}
