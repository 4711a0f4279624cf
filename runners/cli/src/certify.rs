//! `allocert certify SIDE SUBJECT --out DIR`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::certification::{self, Certified};
use allocert_campaign::run::RunOptions;
use allocert_suite::report::certificate;
use allocert_suite::report::terminal::Detail;

use crate::arguments::Certify;
use crate::progress_bar::ProgressBar;
use crate::{run, terminal, workers};

pub(crate) fn certify(arguments: Certify) -> Result<ExitCode, Failure> {
    let Certify { side, subject, out, abi, driver, python, isolation, jobs, timeout, profile } =
        arguments;
    let workers = workers::new(python)?;
    let options = RunOptions {
        abi,
        isolation: isolation.map(Into::into),
        jobs,
        timeout_s: timeout,
        ..RunOptions::new(side, subject, profile, driver.into())
    };
    let Certified { verdicts, certificate } =
        certification::certify(options, &out, &workers, &mut ProgressBar::new())?;
    let Some(certificate) = certificate else {
        let code = run::show(&verdicts, Detail::Causes)?;
        let words = verdicts.exit().words();
        terminal::print(&format!("no certificate is written: {words}\n"))?;
        return Ok(code);
    };
    terminal::print(&certificate::render(&certificate, terminal::palette()))?;
    terminal::print(&format!("the certificate is {}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
