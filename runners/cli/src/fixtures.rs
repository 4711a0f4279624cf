//! `allocert fixtures check [PATH...]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use allocert_suite::exit::Exit;

use crate::failure::Failure;
use crate::suite::Suite;
use crate::terminal;

pub(crate) fn check(paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    let suite = if paths.is_empty() { Suite::load()? } else { Suite::read(paths)? };
    terminal::print(&format!(
        "{} fixtures, {} cases, nothing wrong\n",
        suite.fixtures(),
        suite.cases.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Name and text of each fixture below the paths.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(
            Exit::NothingRan,
            "nothing to do: there is no .yaml file below the given paths",
        ));
    }
    let text = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        Ok((name(path, &text), text))
    };
    files.iter().map(text).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let kind = path.metadata().map_err(|error| unreadable(path, &error))?.file_type();
    if kind.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    if !kind.is_dir() {
        // To read a pipe would be to wait for whoever writes into it, and a device may have no end.
        return Err(Failure::usage(format!(
            "cannot read {}: it is neither a file nor a folder",
            path.display()
        )));
    }
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let path = entry.map_err(|error| unreadable(path, &error))?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "yaml") {
            collect(&path, files)?;
        }
    }
    Ok(())
}

/// The path from `cases/` on: it decides the case's name. A fixture that is not in its place yet
/// has its file name from the place that its own name means.
fn name(path: &Path, text: &str) -> String {
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
    Failure::usage(format!("cannot read {}: {error}", path.display()))
}
