//! Where things lie: the repository root, the build products and the virtual environment.

use std::path::PathBuf;

use crate::shell::{self, Fault};

/// The repository root: xtask's own folder is one below it.
pub(crate) fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the manifest folder of xtask lies in the repository").to_path_buf()
}

/// Where cargo puts its products; `CARGO_TARGET_DIR` moves it.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The programs and libraries that a run needs, built side by side in one folder.
pub(crate) fn build(profile: &str) -> Result<PathBuf, Fault> {
    shell::cargo()
        .args(["build", "--profile", profile, "-p", "allocert", "-p", "allocert-libcuda"])
        .args(["-p", "allocert-emm-so", "-p", "allocert-mutants", "-p", "allocert-variants"])
        .done()?;
    Ok(target().join(if profile == "dev" { "debug" } else { profile }))
}

/// What the Python package consists of, and the program.
pub(crate) fn build_package() -> Result<PathBuf, Fault> {
    shell::cargo()
        .args(["build", "-p", "allocert", "-p", "allocert-libcuda", "-p", "allocert-emm-so"])
        .args(["-p", "allocert-place", "-p", "allocert-nep49", "-p", "allocert-python"])
        .done()?;
    Ok(target().join("debug"))
}

/// All libraries, programs and tests, in one build: cargo compiles a crate again for another
/// selection of packages, because they ask for other features of what they share.
pub(crate) fn build_tests() -> Result<PathBuf, Fault> {
    shell::cargo().args(["build", "--workspace", "--lib", "--bins", "--tests"]).done()?;
    Ok(target().join("debug"))
}
