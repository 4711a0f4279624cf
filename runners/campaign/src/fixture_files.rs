//! Fixture files: reading those that a user names, and writing those that exploration makes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use allocert_explore::report::FixtureOutput;
use allocert_explore::write_fixture;
use allocert_suite::{RefusalCode, Side};
use walkdir::WalkDir;

use crate::failure::Failure;

/// How many fixtures of one requirement and seed a folder takes.
const LARGEST_NUMBER: u32 = 100;

/// A fixture that a user gave.
pub(crate) struct GivenFixture {
    pub(crate) file: PathBuf,
    /// Its place among the cases: `cases/emm/zero/twice.yaml`.
    pub(crate) place: String,
    pub(crate) text: String,
}

/// Each fixture at or below the paths. Below a folder those are the `.yaml` files.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<GivenFixture>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::nothing_ran(
            "nothing to do: there is no .yaml file below the given paths",
        ));
    }
    let fixture = |file: PathBuf| {
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        Ok(GivenFixture { place: place(&file, &text), file, text })
    };
    files.into_iter().map(fixture).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let is_yaml = |path: &Path| path.extension().is_some_and(|extension| extension == "yaml");
    for entry in WalkDir::new(path).follow_links(true) {
        let entry = entry.map_err(|error| {
            let at = error.path().unwrap_or(path).to_owned();
            let in_a_circle = || io::Error::other("its links lead back to a folder above it");
            unreadable(&at, &error.into_io_error().unwrap_or_else(in_a_circle))
        })?;
        let kind = entry.file_type();
        let wanted = entry.depth() == 0 || is_yaml(entry.path());
        if kind.is_file() && wanted {
            files.push(entry.into_path());
        } else if !kind.is_dir() && wanted {
            // To read a pipe would be to wait for whoever writes into it, and a device may have no
            // end.
            let message = format!(
                "cannot read {}: it is neither a file nor a folder",
                entry.path().display()
            );
            return Err(Failure::refused(RefusalCode::UnreadableFile, message));
        }
    }
    Ok(())
}

/// The path from `cases/` on: it decides the case's name. A fixture that is not in its place yet
/// has its file name from the place that its own name means.
fn place(path: &Path, text: &str) -> String {
    let parts: Vec<_> = path.components().collect();
    if let Some(start) = parts.iter().rposition(|part| part.as_os_str() == "cases") {
        return parts[start..].iter().collect::<PathBuf>().display().to_string();
    }
    let meant = text.lines().find_map(|line| line.strip_prefix("case: ")).map(str::trim);
    let meant = meant.filter(|case| {
        path.file_stem().is_some_and(|stem| case.rsplit('/').next() == stem.to_str())
    });
    meant.map_or_else(|| path.display().to_string(), |case| format!("cases/{case}.yaml"))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::refused(
        RefusalCode::UnreadableFile,
        format!("cannot read {}: {error}", path.display()),
    )
}

/// The folder that the exploration of a side writes to. No file in it is ever replaced.
#[derive(Debug)]
pub(crate) struct FixtureFolder {
    folder: PathBuf,
    side: Side,
}

/// A fixture and what became of it.
#[derive(Debug)]
pub(crate) struct WrittenFixture {
    pub(crate) text: String,
    /// Where it belongs, relative to `fixtures/`.
    pub(crate) path: String,
    pub(crate) written: FixtureOutput,
}

impl FixtureFolder {
    pub(crate) fn open(folder: &Path, side: Side) -> Result<Self, Failure> {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| {
            Failure::refused(
                RefusalCode::UnwritableFile,
                format!("cannot write fixtures to {}: {error}", folder.display()),
            )
        })?;
        Ok(Self { folder: folder.to_owned(), side })
    }

    /// Writes the text under the first name that is free, or finds it there.
    pub(crate) fn write(
        &self,
        requirement: &str,
        seed: u64,
        text_of: impl Fn(&str) -> String,
    ) -> WrittenFixture {
        for taken in 0..LARGEST_NUMBER {
            let name = write_fixture::name(requirement, seed, taken);
            let text = text_of(&name);
            let case = self.case(&name);
            let path = format!("cases/{case}.yaml");
            let file = self.folder.join(format!("{name}.yaml"));
            let shown = file.display().to_string();
            let written = match write_new(&file, &text) {
                Ok(()) => FixtureOutput::Created { file: shown, case },
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    match fs::read_to_string(&file) {
                        Ok(there) if there == text => FixtureOutput::AlreadyThere { file: shown },
                        _ => continue,
                    }
                }
                Err(error) => FixtureOutput::NotWritten {
                    error: format!("cannot write {shown}: {error}"),
                    text: text.clone(),
                },
            };
            return WrittenFixture { text, path, written };
        }
        let name = write_fixture::name(requirement, seed, LARGEST_NUMBER);
        let text = text_of(&name);
        let error = format!("{} is full of fixtures of {requirement}", self.folder.display());
        WrittenFixture {
            path: format!("cases/{}.yaml", self.case(&name)),
            written: FixtureOutput::NotWritten { error, text: text.clone() },
            text,
        }
    }

    /// The name of the case in a fixture of this name.
    fn case(&self, name: &str) -> String {
        format!("{}/explored/{name}", self.side)
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a fixture is worse than none.
        let _ = fs::remove_file(path);
    }
    written
}
