//! `allocert verify BUNDLE [--subject FILE]`

use std::path::Path;
use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::certification::{self, Verified};
use allocert_suite::exit::Exit;
use allocert_suite::report::certificate;
use allocert_suite::report::terminal::Detail;

use crate::{run, terminal};

pub(crate) fn verify(bundle: &Path, subject: Option<&Path>) -> Result<ExitCode, Failure> {
    let Verified { certificate, verdicts } = certification::verify(bundle)?;
    if let Some(file) = subject {
        certification::check_subject(bundle, &certificate, file)?;
    }
    if verdicts.exit() != Exit::Conforms {
        let code = run::show(&verdicts, Detail::Causes)?;
        terminal::print("the certificate is not valid: its run does not conform\n")?;
        return Ok(code);
    }
    terminal::print(&certificate::render(&certificate, terminal::palette()))?;
    terminal::print("the certificate is valid: its run, judged again, conforms\n")?;
    Ok(ExitCode::SUCCESS)
}
