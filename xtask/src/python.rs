//! The virtual environment `.venv`: the pinned requirements, other versions of some of them beside
//! it, and the Python package built from this tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) const REQUIREMENTS: &str = "runners/python/requirements.txt";

/// What lies beside the pinned requirements, for the front of `PYTHONPATH`: `NAME` is the folder of
/// `.venv` that holds what `requirements-NAME.txt` lists.
const BESIDE: [&str; 4] = ["newest", "numpy-1.26", "numpy-2.0", "numpy-2.3"];

/// The validator of the Common Test Report Format. npm has it, and pip does not.
const CTRF: &str = "ctrf@0.3.0";

/// Where the compiled parts of the package come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Build<'a> {
    /// setup.py builds them, in the profile `release`.
    Release,
    /// They lie in this folder.
    Built(&'a Path),
}

/// The interpreter of `.venv`.
pub(crate) fn interpreter() -> PathBuf {
    workspace::root().join(".venv/bin/python")
}

/// The folder with what lies beside the pinned requirements, each in a folder of its own.
pub(crate) fn beside() -> PathBuf {
    workspace::root().join(".venv")
}

pub(crate) fn package() -> Result<ExitCode, Fault> {
    create()?;
    install_requirements()?;
    install(Build::Release)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes `.venv` when it is not there yet. `PYTHON` names another interpreter than `python3`.
pub(crate) fn create() -> Result<(), Fault> {
    if interpreter().exists() {
        return Ok(());
    }
    let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let version = shell::run(&base)
        .args(["-c", "import sys; print(sys.version_info >= (3, 10))"])
        .advice("install Python 3.10 or later, or name it in the variable PYTHON")
        .text()?;
    if version != "True" {
        return Err(Fault::Missing(format!(
            "`{base}` is older than Python 3.10; name a later one in PYTHON"
        )));
    }
    shell::run(&base)
        .args(["-m", "venv", "--clear"])
        .args([workspace::root().join(".venv")])
        .done()
        .map_err(|fault| Fault::Missing(format!("{fault} (on Debian: apt install python3-venv)")))
}

/// Installs the pinned requirements, and what lies beside them.
pub(crate) fn install_requirements() -> Result<(), Fault> {
    pip().args(["-r"]).args([workspace::root().join(REQUIREMENTS)]).done()?;
    BESIDE.into_iter().try_for_each(install_beside)?;
    install_ctrf()
}

/// Installs [`CTRF`] into `.venv/npm`. Where npm is missing or fails, the test that needs it is
/// skipped, and says so.
fn install_ctrf() -> Result<(), Fault> {
    let folder = beside().join("npm");
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == CTRF) {
        return Ok(());
    }
    let options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    let npm = shell::run("npm").args(["install", CTRF, "--prefix"]).args([&folder]).args(options);
    match npm.status() {
        Ok(status) if status.success() => {
            let unwritable = |cause| Fault::Missing(format!("{}: {cause}", stamp.display()));
            fs::write(&stamp, CTRF).map_err(unwritable)
        }
        Ok(_) | Err(_) => {
            eprintln!("npm did not install {CTRF}: no test validates reports in that format");
            Ok(())
        }
    }
}

/// Builds and installs the package of this tree.
pub(crate) fn install(build: Build<'_>) -> Result<(), Fault> {
    let pip = pip().args([workspace::root()]);
    match build {
        Build::Release => pip.env("CARGO_TARGET_DIR", workspace::target()).done(),
        Build::Built(folder) => pip.env("ALLOCERT_BUILT", folder).done(),
    }
}

/// Once for each text of the requirements: pip puts packages into a folder anew however often it is
/// asked.
pub(crate) fn install_beside(name: &str) -> Result<(), Fault> {
    let folder = beside().join(name);
    let requirements = workspace::root().join(format!("runners/python/requirements-{name}.txt"));
    let unreadable = |cause| Fault::Missing(format!("{}: {cause}", requirements.display()));
    let wanted = fs::read_to_string(&requirements).map_err(unreadable)?;
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    pip()
        .args(["--no-deps", "--upgrade", "--target"])
        .args([&folder])
        .args(["-r"])
        .args([&requirements])
        .done()?;
    fs::write(&stamp, wanted)
        .map_err(|cause| Fault::Missing(format!("{}: {cause}", stamp.display())))
}

fn pip() -> shell::Step {
    pip_of(&interpreter())
}

/// `pip install` of an interpreter.
pub(crate) fn pip_of(interpreter: &Path) -> shell::Step {
    shell::run(interpreter).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
}

/// The folder of `cuda.h`, from the installed package nvidia-cuda-runtime. The header is read where
/// it lies and never kept.
pub(crate) fn cuda_include() -> Result<String, Fault> {
    const FIND: &str = "import importlib.metadata as m\n\
        files = m.files('nvidia-cuda-runtime')\n\
        print(next(f.locate().parent for f in files if f.name == 'cuda.h'))";
    shell::run(interpreter()).args(["-c", FIND]).text()
}
