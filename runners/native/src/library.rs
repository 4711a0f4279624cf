//! Shared libraries of subjects.

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::protocol::Refused;

/// The path and the symbol of `PATH.so[:symbol]`. The part behind the last colon is a symbol,
/// unless the whole is a file.
pub(crate) fn split<'a>(subject: &'a str, default_symbol: &'a str) -> (PathBuf, &'a str) {
    match subject.rsplit_once(':') {
        Some((path, symbol)) if !Path::new(subject).exists() => (path.into(), symbol),
        _ => (subject.into(), default_symbol),
    }
}

/// The path without links, as messages and reports name it.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, Refused> {
    path.canonicalize().map_err(|error| {
        Refused::new("open", format!("{}: cannot be opened", path.display()), error.to_string())
    })
}

/// Loads the library. Whoever keeps an address of it never closes it.
pub(crate) fn open(path: &Path) -> Result<Library, Refused> {
    // SAFETY: runs the initialisers of a library that the user asked to have loaded and run.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        Refused::new("open", format!("{}: cannot be loaded", path.display()), reason(&error))
    })
}

/// That the library does not export the symbol.
pub(crate) fn no_symbol(path: &Path, symbol: &str, error: &libloading::Error) -> Refused {
    let message = format!("{}: has no symbol `{symbol}`", path.display());
    Refused::new("symbol", message, reason(error))
}

fn reason(error: &libloading::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
