//! `cargo xtask free-threaded PYTHON`: the handler of the package under Python without the GIL, and
//! NumPy there as the host of handlers.
//!
//! No registry has such a Python as a package, so that CI has none; a user names an installed one.

use std::path::Path;
use std::process::ExitCode;

use crate::python::{self, REQUIREMENTS};
use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) fn free_threaded(arguments: &[String]) -> Result<ExitCode, Fault> {
    let [base] = arguments else {
        return Err(Fault::Usage("name one interpreter, such as python3.14t".to_owned()));
    };
    let has_gil = shell::run(base)
        .args(["-c", "import sys; print(getattr(sys, '_is_gil_enabled', lambda: True)())"])
        .advice("name an installed free-threaded Python 3.14 or later")
        .text()?;
    if has_gil == "True" {
        return Err(Fault::Missing(format!(
            "`{base}` has the GIL; name a free-threaded Python 3.14 or later"
        )));
    }
    let folder = workspace::root().join(".venv-free-threaded");
    let interpreter = folder.join("bin/python");
    shell::run(base).args(["-m", "venv"]).args([&folder]).done()?;
    python::pip_of(&interpreter)
        .args(["--constraint".as_ref(), workspace::root().join(REQUIREMENTS).as_os_str()])
        .args(["numpy"])
        .done()?;
    python::pip_of(&interpreter)
        .args([workspace::root()])
        .env("CARGO_TARGET_DIR", workspace::target())
        .done()?;
    let allocert = || shell::run(folder.join("bin/allocert")).directory(workspace::root());
    allocert().args(["run", "nep49", "allocert.numpy:handler"]).done()?;
    let expectations =
        format!("fixtures/expectations/numpy-{}-nep49-host.yaml", numpy(&interpreter)?);
    allocert()
        .args(["run", "nep49-host", "numpy", "--faults=every", "--expect", &expectations])
        .done()?;
    Ok(ExitCode::SUCCESS)
}

/// The version of NumPy that an interpreter imports.
fn numpy(interpreter: &Path) -> Result<String, Fault> {
    shell::run(interpreter).args(["-c", "import numpy; print(numpy.__version__)"]).text()
}
