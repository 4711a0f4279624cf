//! Files that a command writes. A file gets its name when it is whole, so that a command that is
//! refused, fails or is killed leaves what was there before.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::{NamedTempFile, TempPath};

use crate::failure::Failure;
use crate::run_file::{self, Contents};

/// The mode of a new file, of which the process takes away what its `umask` says.
const MODE: u32 = 0o666;

/// How the name of a file begins that is not whole yet.
pub(crate) const TEMPORARY: &str = ".allocert-";

/// A file that will be written, and its name.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    /// A device or a pipe, or a file in a folder that cannot be written. It is written in place.
    in_place: Option<File>,
}

impl OutputFile {
    /// Makes sure that the file can be written. Nothing is written yet.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let open = || -> io::Result<Option<File>> {
            if fs::metadata(path).is_err() {
                return temporary(path).map(|_| None);
            }
            let file = File::options().write(true).open(path)?;
            let replaceable = file.metadata()?.is_file() && temporary(path).is_ok();
            Ok((!replaceable).then_some(file))
        };
        let in_place = open().map_err(|error| Failure::unwritable(path, error))?;
        Ok(Self { path: path.to_owned(), in_place })
    }

    /// As [`OutputFile::create`], for a run file.
    pub(crate) fn create_run(path: &Path) -> Result<Self, Failure> {
        run_file::check_name(path)?;
        Self::create(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file gets its content at once, when it is whole.
    pub(crate) fn is_replaced(&self) -> bool {
        self.in_place.is_none()
    }

    pub(crate) fn write_run(self, contents: &Contents<'_>) -> Result<(), Failure> {
        let path = self.path.clone();
        self.write(|file| run_file::write(&path, file, contents))
    }

    pub(crate) fn write_text(self, text: &str) -> Result<(), Failure> {
        self.write(|mut file| file.write_all(text.as_bytes()))
    }

    fn write(self, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), Failure> {
        let Self { path, in_place } = self;
        let written = match in_place {
            Some(file) => write_in_place(file, write),
            None => replace(&path, write),
        };
        written.map_err(|error| Failure::unwritable(&path, error))
    }
}

fn write_in_place(file: File, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    write(file)
}

fn replace(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let (file, target) = prepare(path, write)?;
    file.persist(target)?;
    Ok(())
}

/// The whole file under another name, and the name that it is to get.
fn prepare(
    path: &Path,
    write: impl FnOnce(File) -> io::Result<()>,
) -> io::Result<(TempPath, PathBuf)> {
    let file = temporary(path)?;
    write(file.as_file().try_clone()?)?;
    let target = target(path);
    if let Ok(before) = fs::metadata(&target) {
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok((file.into_temp_path(), target))
}

/// Writes files that belong together, and the folders that are missing. None gets its name before
/// all are whole: a full disk leaves every file, and the folders, as they were.
pub(crate) fn write_together(files: &[(PathBuf, String)]) -> Result<(), Failure> {
    let mut folders = NewFolders::default();
    let mut prepared = Vec::new();
    for (path, text) in files {
        let whole = folders
            .make(folder_of(path))
            .and_then(|()| prepare(path, |mut file| file.write_all(text.as_bytes())))
            .map_err(|error| Failure::unwritable(path, error))?;
        prepared.push(whole);
    }
    for (file, target) in prepared {
        file.persist(&target).map_err(|error| Failure::unwritable(&target, error.error))?;
    }
    Ok(())
}

/// Folders that a command makes. Those without a file go again when it ends.
#[derive(Default)]
struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|part| !part.as_os_str().is_empty());
        let mut missing: Vec<_> = missing.take_while(|part| !part.exists()).collect();
        while let Some(part) = missing.pop() {
            fs::create_dir(part)?;
            self.0.push(part.to_owned());
        }
        Ok(())
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // One that holds a file stays, which is the rule.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file without content in the folder of `path`, which is removed again unless it is renamed.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let target = target(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).permissions(Permissions::from_mode(MODE));
    let folder = folder_of(&target);
    // A folder that is missing is told without the name of the temporary file.
    fs::metadata(folder)?;
    builder.tempfile_in(folder)
}

/// The file behind links.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The folder that the file or folder `path` lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What tells one file from another, whatever its names are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Existing { device: u64, inode: u64 },
    New(PathBuf),
}

fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        // A device, such as /dev/null, takes any number of outputs.
        Ok(file) => {
            file.is_file().then(|| Identity::Existing { device: file.dev(), inode: file.ino() })
        }
        Err(_) => Some(Identity::New(target(folder_of(path)).join(path.file_name()?))),
    }
}

/// Refuses to write a file that is read, or that is written for another purpose too: the same file
/// of the file system, whatever its names are.
pub(crate) fn refuse_one_file_twice<'p>(
    paths: impl Iterator<Item = &'p Path>,
) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for path in paths {
        if identity(path).is_some_and(|identity| !seen.insert(identity)) {
            let why = "it is given twice, or it is also read; name another file";
            return Err(Failure::unwritable(path, why));
        }
    }
    Ok(())
}

/// Refuses an output that is the file of a subject.
pub(crate) fn refuse_to_overwrite(
    output: &Path,
    subject_file: Option<&Value>,
) -> Result<(), Failure> {
    let Some(file) = subject_file.and_then(Value::as_str) else {
        return Ok(());
    };
    let output_identity = identity(output);
    if output_identity.is_some() && output_identity == identity(Path::new(file)) {
        let why = "the subject was loaded from it; name another file";
        return Err(Failure::unwritable(output, why));
    }
    Ok(())
}
