//! Files that a test writes: with `ALLOCERT_BLESS=1` into the checkout, and otherwise it compares.

use std::path::PathBuf;
use std::{env, fs};

/// The files of the checkout that are not as given here. None if they are written.
pub(crate) fn stale(files: impl IntoIterator<Item = (PathBuf, String)>) -> Vec<PathBuf> {
    let bless = env::var_os("ALLOCERT_BLESS").is_some();
    let is_stale = |(path, text): &(PathBuf, String)| {
        if bless {
            fs::write(path, text).expect("the checkout can be written");
            return false;
        }
        fs::read_to_string(path).ok().as_ref() != Some(text)
    };
    files.into_iter().filter(is_stale).map(|(path, _)| path).collect()
}
