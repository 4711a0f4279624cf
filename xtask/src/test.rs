//! `cargo xtask test`: everything that CI checks, in the order in which it fails soonest.

use std::process::ExitCode;

use crate::python;
use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) fn test() -> Result<ExitCode, Fault> {
    compilers()?;
    python::create()?;
    shell::cargo().args(["fmt", "--all", "--check"]).done()?;
    python::install_requirements()?;
    python_lints()?;
    python::install(python::Purpose::Test)?;
    lints()?;
    rust()?;
    python()?;
    Ok(ExitCode::SUCCESS)
}

/// The driver's fidelity test and the header tests compile C and C++.
fn compilers() -> Result<(), Fault> {
    for (compiler, package) in [("cc", "gcc"), ("c++", "g++")] {
        shell::run(compiler).args(["--version"]).text().map_err(|fault| {
            Fault::Missing(format!(
                "{fault}: the tests compile C and C++ (on Debian: apt install {package})"
            ))
        })?;
    }
    Ok(())
}

/// The rules and the types of all Python, by the settings of `pyproject.toml`.
fn python_lints() -> Result<(), Fault> {
    let checks: [&[&str]; 3] = [
        &["ruff", "format", "--check", "--quiet"],
        &["ruff", "check", "--quiet"],
        &["mypy", "--no-error-summary"],
    ];
    for check in checks {
        shell::run(python::interpreter())
            .directory(workspace::root())
            .args(["-m"])
            .args(check)
            .done()?;
    }
    Ok(())
}

fn lints() -> Result<(), Fault> {
    shell::cargo()
        .args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
        .done()
}

fn rust() -> Result<(), Fault> {
    let products = workspace::build("dev")?;
    shell::cargo()
        .args(["test", "--workspace"])
        .env("ALLOCERT_LIBCUDA", products.join("liballocert_libcuda.so"))
        .env("ALLOCERT_CUDA_INCLUDE", python::cuda_include()?)
        .env("ALLOCERT_PYTHON", python::interpreter())
        .done()
}

fn python() -> Result<(), Fault> {
    let root = workspace::root();
    shell::run(python::interpreter())
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .args([root.join("runners/python/tests")])
        .env("ALLOCERT_MUTANTS", root.join("conformance/mutants/python"))
        .env("ALLOCERT_NEWEST", python::newest())
        .done()
}
