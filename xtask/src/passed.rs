//! Which steps have passed on the same inputs before: they need not run again.
//!
//! The inputs are all files of the repository that git tracks or does not ignore, the Rust compiler
//! and the packages of `.venv`. A file in `target/xtask` keeps them for each step that passed. A
//! fresh clone has no such file, so CI runs all steps.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Fault};
use crate::workspace;

pub(crate) struct Passed {
    /// What the steps depend on; `None` runs every step.
    inputs: Option<String>,
}

impl Passed {
    /// Nothing counts as passed before.
    pub(crate) fn none() -> Self {
        Self { inputs: None }
    }

    /// What passed on these files. Without git nothing did.
    pub(crate) fn on_this_tree(python: impl AsRef<Path>) -> Self {
        Self { inputs: inputs(python.as_ref()).ok() }
    }

    /// Runs the step unless it passed before.
    pub(crate) fn or_run(
        &self,
        step: &str,
        run: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(inputs) = &self.inputs else { return run() };
        let file = folder().join(format!("{}.txt", step.replace(' ', "-").to_lowercase()));
        if fs::read_to_string(&file).is_ok_and(|before| before == *inputs) {
            eprintln!("{step}: passed on these files before; `cargo xtask test --again` runs them");
            return Ok(());
        }
        run()?;
        let unwritable = |cause| Fault::Missing(format!("{}: {cause}", file.display()));
        fs::create_dir_all(folder()).map_err(unwritable)?;
        fs::write(&file, inputs).map_err(unwritable)
    }
}

fn folder() -> PathBuf {
    workspace::target().join("xtask")
}

fn inputs(python: &Path) -> Result<String, Fault> {
    let unwritable = |cause| Fault::Missing(format!("{}: {cause}", folder().display()));
    fs::create_dir_all(folder()).map_err(unwritable)?;
    // An index of its own: the user's index stays as it is.
    let git = || {
        let index = folder().join("git-index");
        shell::run("git").directory(workspace::root()).env("GIT_INDEX_FILE", index)
    };
    git().args(["add", "--all"]).text()?;
    let files = git().args(["write-tree"]).text()?;
    let compiler = shell::run("rustc").args(["-vV"]).text()?;
    let packages = shell::run(python).args(["-m", "pip", "freeze"]).text()?;
    Ok(format!("{files}\n{compiler}\n{packages}\n"))
}
