//! `allocert fixtures check [PATH...]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use allocert_suite::exit::Exit;
use allocert_suite::{Catalogue, fixture};

use crate::failure::Failure;
use crate::suite::Suite;
use crate::terminal;

pub(crate) fn check(paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    let (fixtures, cases) =
        if paths.is_empty() { (allocert_fixtures::files().len(), Suite::load()?.cases.len()) } else { read(paths)? };
    terminal::print(&format!("{fixtures} fixtures, {cases} cases, nothing wrong\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn read(paths: &[PathBuf]) -> Result<(usize, usize), Failure> {
    let catalogue = Catalogue::embedded()?;
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(Exit::NothingRan, "nothing to do: there is no .yaml file below the given paths"));
    }
    let mut fixtures = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        fixtures.push((name(path), text));
    }
    let cases = fixture::plan(fixtures.iter().map(|(name, text)| (name.as_str(), text.as_str())), &catalogue)?;
    Ok((fixtures.len(), cases.len()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let kind = path.metadata().map_err(|error| unreadable(path, &error))?.file_type();
    if kind.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    if !kind.is_dir() {
        // To read a pipe would be to wait for whoever writes into it, and a device may have no end.
        return Err(Failure::usage(format!("cannot read {}: it is neither a file nor a folder", path.display())));
    }
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let path = entry.map_err(|error| unreadable(path, &error))?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "yaml") {
            collect(&path, files)?;
        }
    }
    Ok(())
}

/// The path from `cases/` on: it decides the case's name.
fn name(path: &Path) -> String {
    let parts: Vec<_> = path.components().collect();
    let start = parts.iter().rposition(|part| part.as_os_str() == "cases").unwrap_or_default();
    parts[start..].iter().collect::<PathBuf>().display().to_string()
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", path.display()))
}
