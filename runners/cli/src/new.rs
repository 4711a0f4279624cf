//! `allocert new LANGUAGE DIR`

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_suite::RefusalCode;
use allocert_suite::report::clean;

use crate::arguments::Language;
use crate::templates::{C, C_HEADER, PYTHON, RUST, RUST_MANIFEST, Template};
use crate::terminal;

pub(crate) fn new(language: Language, folder: &Path) -> Result<ExitCode, Failure> {
    refuse_a_folder_in_use(folder)?;
    let files = files(language);
    let was_there = folder.exists();
    if let Err(failure) = files.iter().try_for_each(|file| write(folder, file)) {
        remove(folder, &files, was_there);
        return Err(failure);
    }
    let mut text = String::new();
    for (path, _) in &files {
        text.push_str(&format!("{}\n", clean(&folder.join(path).display().to_string())));
    }
    let next = match language {
        Language::Python => "pytest",
        Language::C => "make check",
        Language::Rust => "cargo test, after README.md was followed",
    };
    text.push_str(&format!("\nto certify it, run in this folder: {next}\n"));
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn files(language: Language) -> Vec<Template> {
    match language {
        Language::Python => PYTHON.to_vec(),
        Language::C => C.iter().copied().chain([C_HEADER]).collect(),
        Language::Rust => RUST.iter().copied().chain([RUST_MANIFEST]).collect(),
    }
}

/// Nothing that is there already is changed.
fn refuse_a_folder_in_use(folder: &Path) -> Result<(), Failure> {
    let reason = match fs::read_dir(folder).map(|mut entries| entries.next()) {
        Ok(None) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(Some(Ok(_))) => "it is not empty; name a new folder".to_owned(),
        Ok(Some(Err(error))) | Err(error) => error.to_string(),
    };
    let message = format!("cannot write a project to {}: {reason}", folder.display());
    Err(Failure::refused(RefusalCode::UnusableProjectFolder, message))
}

fn write(folder: &Path, (path, text): &Template) -> Result<(), Failure> {
    let file = folder.join(path);
    let parent = file.parent().unwrap_or(folder);
    fs::create_dir_all(parent).and_then(|()| fs::write(&file, text)).map_err(|error| {
        let message = format!("cannot write {}: {error}", file.display());
        Failure::refused(RefusalCode::UnusableProjectFolder, message)
    })
}

/// Takes back a project that could not be written whole, so that the next try finds no folder in
/// use. What cannot be removed stays: the failure to write is what the user has to know.
fn remove(folder: &Path, files: &[Template], was_there: bool) {
    for (path, _) in files {
        let _not_written = fs::remove_file(folder.join(path));
        for inner in Path::new(path).ancestors().skip(1).filter(|one| !one.as_os_str().is_empty()) {
            let _not_empty = fs::remove_dir(folder.join(inner));
        }
    }
    if !was_there {
        let _not_empty = fs::remove_dir(folder);
    }
}
