//! The folder that fixtures are written to. No file in it is ever replaced.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use allocert_explore::fixture;
use allocert_explore::report::Written;

use crate::failure::Failure;

/// So many fixtures of one requirement and seed are enough.
const NAMES: u32 = 100;

#[derive(Debug)]
pub(crate) struct Shelf(PathBuf);

/// A fixture and what became of it.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) text: String,
    /// Where it belongs, relative to `fixtures/`.
    pub(crate) path: String,
    pub(crate) written: Written,
}

impl Shelf {
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| {
            Failure::usage(format!("cannot write fixtures to {}: {error}", folder.display()))
        })?;
        Ok(Self(folder.to_owned()))
    }

    /// Writes the text under the first name that is free, or finds it there.
    pub(crate) fn put(
        &self,
        requirement: &str,
        seed: u64,
        text_of: impl Fn(&str) -> String,
    ) -> Placed {
        for taken in 0..NAMES {
            let name = fixture::name(requirement, seed, taken);
            let text = text_of(&name);
            let path = format!("cases/emm/explored/{name}.yaml");
            let file = self.0.join(format!("{name}.yaml"));
            let shown = file.display().to_string();
            let written = match write(&file, &text) {
                Ok(()) => Written::New { file: shown, case: format!("emm/explored/{name}") },
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    match fs::read_to_string(&file) {
                        Ok(there) if there == text => Written::There { file: shown },
                        _ => continue,
                    }
                }
                Err(error) => Written::Nowhere {
                    error: format!("cannot write {shown}: {error}"),
                    text: text.clone(),
                },
            };
            return Placed { text, path, written };
        }
        let name = fixture::name(requirement, seed, NAMES);
        let text = text_of(&name);
        let error = format!("{} is full of fixtures of {requirement}", self.0.display());
        Placed {
            path: format!("cases/emm/explored/{name}.yaml"),
            written: Written::Nowhere { error, text: text.clone() },
            text,
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a fixture is worse than none.
        let _ = fs::remove_file(path);
    }
    written
}
