//! `allocert judge RUN`

use std::process::ExitCode;

use allocert_campaign::{Failure, recorded_run};

use crate::arguments::Judge;
use crate::run;

pub(crate) fn judge(arguments: Judge) -> Result<ExitCode, Failure> {
    let detail = arguments.verdict.detail();
    let (run, options) = (&arguments.run, arguments.verdict.into());
    let verdicts = match arguments.partial {
        true => recorded_run::judge_partial(run, &options)?,
        false => recorded_run::judge(run, &options)?,
    };
    run::show(&verdicts, detail)
}
