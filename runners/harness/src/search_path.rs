//! Folders in front of those that the user has set, for the processes of a run.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::run_dir::RunDir;

/// The value of `LD_LIBRARY_PATH`: the folder of the run's driver comes first.
pub(crate) fn libraries(run: &RunDir) -> OsString {
    in_front(Some(run.library_folder()), "LD_LIBRARY_PATH")
}

/// `folder` in front of the folders that a variable of the environment holds.
pub(crate) fn in_front(folder: Option<PathBuf>, variable: &str) -> OsString {
    let users = env::var_os(variable).filter(|users| !users.is_empty());
    let parts: Vec<OsString> =
        folder.map(PathBuf::into_os_string).into_iter().chain(users).collect();
    parts.join(OsStr::new(":"))
}
