//! The behaviours of a run: from its run file, or from a folder of snapshots.
//!
//! A snapshot of the case `emm/alloc/exact-size/size:1` is the file
//! `emm/alloc/exact-size/size=1.snap` of the folder. `cargo insta review` shows the changes that
//! stand beside it in `size=1.snap.new`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use allocert_suite::RefusalCode;
use allocert_suite::behaviour::Behaviour;
use allocert_suite::run_format::{Header, Judged, Selection};
use walkdir::WalkDir;

use crate::failure::Failure;
use crate::output_file;
use crate::recorded_run;

const SNAPSHOT: &str = "snap";
const PENDING: &str = "snap.new";

/// The behaviours of cases, and which of a suite they are.
#[derive(Debug)]
pub struct Behaviours {
    pub cases: Vec<Behaviour>,
    /// The filter and the shard of the run, in words, if there were any.
    pub part: Option<String>,
}

impl Behaviours {
    /// Those of a run. Swept cases are left out: each is the case without the fault, but for what
    /// the fault changes.
    #[must_use]
    pub fn of(header: &Header, cases: &[Judged]) -> Self {
        let unswept = cases.iter().filter(|judged| !judged.case.is_swept());
        Self {
            cases: unswept.map(Behaviour::of).collect(),
            part: header.selection.as_ref().and_then(Selection::words),
        }
    }

    /// Leaves out what a run of a part of the suite cannot have; how many cases that is.
    fn keep_those_of(&mut self, other: &Self) -> usize {
        if other.part.is_none() {
            return 0;
        }
        let count = self.cases.len();
        let others: BTreeSet<&str> = other.cases.iter().map(|one| one.case.as_str()).collect();
        self.cases.retain(|one| others.contains(one.case.as_str()));
        count - self.cases.len()
    }
}

/// Leaves the cases of both that can be compared. A run of a part of the suite says nothing of the
/// other cases; how many of those there are.
///
/// # Errors
/// Both have no case in common.
pub fn make_comparable(before: &mut Behaviours, after: &mut Behaviours) -> Result<usize, Failure> {
    let left_out = before.keep_those_of(after) + after.keep_those_of(before);
    let known: BTreeSet<&str> = before.cases.iter().map(|one| one.case.as_str()).collect();
    if after.cases.iter().any(|one| known.contains(one.case.as_str())) {
        return Ok(left_out);
    }
    Err(Failure::refused(
        RefusalCode::OptionConflict,
        "the two have no case in common: compare runs of the same side",
    ))
}

/// Reads a run file, or a folder of snapshots.
///
/// # Errors
/// The path is neither, or a file of it cannot be read.
pub fn read(path: &Path) -> Result<Behaviours, Failure> {
    if !path.is_dir() {
        let run = recorded_run::read(path)?;
        return Ok(Behaviours::of(&run.header, &run.cases));
    }
    let snapshots = snapshots(path)?;
    if snapshots.is_empty() {
        return Err(Failure::refused(
            RefusalCode::UnreadableFile,
            format!(
                "{} holds no snapshot; write them with `allocert snapshot RUN --out {}`",
                path.display(),
                path.display()
            ),
        ));
    }
    let cases = snapshots.into_iter().map(|(_, behaviour)| behaviour).collect();
    Ok(Behaviours { cases, part: None })
}

/// Refuses what can hold no snapshots.
///
/// # Errors
/// The path is a file.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    if path.exists() && !path.is_dir() {
        return Err(Failure::refused(
            RefusalCode::UnwritableFile,
            format!("cannot write snapshots to {}: it is no folder; name a folder", path.display()),
        ));
    }
    Ok(())
}

/// Makes the folder hold these snapshots: writes those that are new or changed, and removes those
/// of other cases, unless these are of a part of the suite. Files that are no snapshots of ours
/// stay.
///
/// # Errors
/// A file cannot be read or written, or the id of a case names no file.
pub fn write(folder: &Path, behaviours: &Behaviours) -> Result<(), Failure> {
    let mut accepted = Vec::new();
    let mut pending = Vec::new();
    for behaviour in &behaviours.cases {
        accepted.push((path(folder, &behaviour.case, SNAPSHOT)?, behaviour.to_text()));
        pending.push(path(folder, &behaviour.case, PENDING)?);
    }
    output_file::write_together(&accepted)?;
    pending.iter().try_for_each(|path| remove(path))?;
    if behaviours.part.is_some() {
        return Ok(());
    }
    let accepted: BTreeSet<_> = accepted.into_iter().map(|(path, _)| path).collect();
    let mut others = snapshots(folder)?.into_iter().filter(|(path, _)| !accepted.contains(path));
    others.try_for_each(|(path, _)| remove(&path))
}

/// Writes what changed beside the snapshots, for `cargo insta review`.
///
/// # Errors
/// A file cannot be read or written, or the id of a case names no file.
pub fn write_pending(folder: &Path, behaviours: &Behaviours) -> Result<(), Failure> {
    let mut pending = Vec::new();
    for behaviour in &behaviours.cases {
        let text = behaviour.to_text();
        let accepted = fs::read_to_string(path(folder, &behaviour.case, SNAPSHOT)?);
        if accepted.is_ok_and(|accepted| accepted == text) {
            continue;
        }
        pending.push((path(folder, &behaviour.case, PENDING)?, text));
    }
    output_file::write_together(&pending)
}

fn snapshots(folder: &Path) -> Result<Vec<(PathBuf, Behaviour)>, Failure> {
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.into_path();
        if path.extension().is_none_or(|extension| extension != SNAPSHOT) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        match Behaviour::from_text(&text) {
            Ok(behaviour) => found.push((path, behaviour)),
            // Another tool's snapshot.
            Err(error) if error.is_foreign => {}
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(found)
}

/// The file of a case. The id comes from a run file, so it must not lead out of the folder.
fn path(folder: &Path, case: &str, extension: &str) -> Result<PathBuf, Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.,:=+@".contains(c);
    let is_name =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed);
    if !case.split('/').all(is_name) {
        let case = allocert_suite::report::clean(case);
        return Err(Failure::refused(
            RefusalCode::InvalidRunFile,
            format!("the case `{case}` has an id that names no file; no fixture makes such an id"),
        ));
    }
    Ok(folder.join(format!("{}.{extension}", case.replace(':', "="))))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::unwritable(path, error))
        }
        _ => Ok(()),
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("cannot read the snapshot {}: {error}", path.display());
    Failure::refused(RefusalCode::UnreadableFile, message)
}
