//! `cargo xtask certify`: the shortest way from a clone to a certificate.

use std::process::ExitCode;

use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) fn certify(arguments: &[String]) -> Result<ExitCode, Fault> {
    let products = workspace::build("dev")?;
    let status = shell::run(products.join("allocert"))
        .args(["run", "emm", "reference"])
        .args(arguments)
        .status()?;
    Ok(match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(3)),
        None => ExitCode::from(3), // ended by a signal
    })
}
