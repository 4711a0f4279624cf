//! `cargo xtask bench`: the speed table, each figure with its bar and its method.
//!
//! Small figures are the medians of the criterion benches; whole programs are timed as processes,
//! imports included, the best of three.

mod micro;
mod whole;

use std::process::ExitCode;

use crate::python;
use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) fn bench() -> Result<ExitCode, Fault> {
    python::create()?;
    python::install_requirements()?;
    python::install(python::Build::Release)?;
    let products = workspace::build("release")?;
    shell::cargo()
        .args([
            "bench",
            "--quiet",
            "-p",
            "allocert-libcuda",
            "-p",
            "allocert-emm",
            "-p",
            "allocert-place",
            "-p",
            "allocert-suite",
        ])
        .env("CARGO_TARGET_DIR", workspace::target())
        .done()?;
    println!("\n| what | measured | bar | method |\n|---|---|---|---|");
    micro::rows()?;
    whole::rows(&products)?;
    Ok(ExitCode::SUCCESS)
}
