//! `cargo xtask test`: everything that CI checks, in the order in which it fails soonest.

use std::path::Path;
use std::process::ExitCode;

use crate::passed::Passed;
use crate::python;
use crate::shell::{self, Fault};
use crate::workspace;

/// The arguments of the command.
pub(crate) fn test(arguments: &[String]) -> Result<ExitCode, Fault> {
    let again = match arguments {
        [] => false,
        [word] if word == "--again" => true,
        _ => {
            let words = arguments.join(" ");
            return Err(Fault::Usage(format!("test takes --again or nothing, not `{words}`")));
        }
    };
    compilers()?;
    python::create()?;
    shell::cargo().args(["fmt", "--all", "--check"]).done()?;
    // pip waits for the network, and clippy for a processor.
    shell::side_by_side(|| python::install_requirements().and_then(|()| python_lints()), lints)?;
    let products = workspace::build_tests()?;
    python::install(python::Build::Built(&products))?;
    let passed = if again { Passed::none() } else { Passed::on_this_tree(python::interpreter()) };
    shell::side_by_side(
        || passed.or_run("Rust tests", || rust(&products)),
        || passed.or_run("Python tests", python),
    )?;
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

fn rust(products: &Path) -> Result<(), Fault> {
    shell::cargo()
        .args(["test", "--workspace"])
        .env("ALLOCERT_PROGRAM", products.join("allocert"))
        .env("ALLOCERT_LIBCUDA", products.join("liballocert_libcuda.so"))
        .env("ALLOCERT_CUDA_INCLUDE", python::cuda_include()?)
        .env("ALLOCERT_PYTHON", python::interpreter())
        .done()
}

/// Shows what the tests print when they end: they run beside the Rust tests.
fn python() -> Result<(), Fault> {
    let root = workspace::root();
    shell::run(python::interpreter())
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .args([root.join("runners/python/tests")])
        .env("ALLOCERT_MUTANTS", root.join("conformance/mutants/python"))
        .env("ALLOCERT_BESIDE", python::beside())
        .done_at_once()
}
