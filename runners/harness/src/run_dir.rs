//! The folder of one run: the recording driver under the names that libraries look for, the Python
//! worker, and a socket for each worker. It is gone when the value is dropped, unless it is kept.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use tempfile::TempDir;

use crate::artifact::PYTHON_WORKER;
use crate::error::Error;

/// `sun_path` holds 108 bytes with its NUL (unix(7)); what a name in the folder needs is taken off.
const LONGEST_FOLDER_BYTES: usize = 108 - "/worker-9999.socket\0".len();

/// The folder of the Python worker.
const WORKER: &str = "allocert_worker";

#[derive(Debug)]
pub struct RunDir {
    folder: Folder,
    workers: AtomicUsize,
}

#[derive(Debug)]
enum Folder {
    Temporary(TempDir),
    Kept(PathBuf),
}

impl RunDir {
    /// Lays out a temporary folder around `driver`, the path of the recording driver.
    ///
    /// # Errors
    /// [`Error::Temporary`] when it cannot be made.
    pub fn create(driver: &Path) -> Result<Self, Error> {
        let folder = temporary().map_err(Error::temporary)?;
        Self::lay_out(Folder::Temporary(folder), driver)
    }

    /// Lays out `folder`, which is made or empty, and which stays with all that the run leaves in
    /// it.
    ///
    /// # Errors
    /// [`Error::Keep`] where the folder cannot be used, and those of [`RunDir::create`].
    pub fn keep(folder: &Path, driver: &Path) -> Result<Self, Error> {
        let unusable = |reason: String| Error::Keep { folder: folder.to_owned(), reason };
        fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
        let folder = folder.canonicalize().map_err(|error| unusable(error.to_string()))?;
        let mut entries = folder.read_dir().map_err(|error| unusable(error.to_string()))?;
        if entries.next().is_some() {
            return Err(unusable("it is not empty".to_owned()));
        }
        if folder.as_os_str().len() > LONGEST_FOLDER_BYTES {
            let reason = format!(
                "its path is longer than the {LONGEST_FOLDER_BYTES} bytes that leave room for the \
                 name of a socket"
            );
            return Err(unusable(reason));
        }
        Self::lay_out(Folder::Kept(folder), driver)
    }

    fn lay_out(folder: Folder, driver: &Path) -> Result<Self, Error> {
        let run = Self { folder, workers: AtomicUsize::new(0) };
        let driver = driver.canonicalize().map_err(|source| {
            Error::io(format!("find the recording driver {}", driver.display()), source)
        })?;
        run.link_driver(&driver).map_err(|source| run.unwritable(source))?;
        run.write(WORKER, PYTHON_WORKER)?;
        Ok(run)
    }

    /// Writes files given as `(name, text)` into a folder of this name, for an interpreter to find.
    ///
    /// # Errors
    /// [`Error::Temporary`] or [`Error::Keep`] when one of them cannot be written.
    pub fn write(&self, folder: &str, files: &[(&str, &str)]) -> Result<PathBuf, Error> {
        let folder = self.path().join(folder);
        for (name, text) in files {
            let path = folder.join(name);
            let written = fs::create_dir_all(path.parent().unwrap_or(&folder))
                .and_then(|()| fs::write(&path, text));
            written.map_err(|source| self.unwritable(source))?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        match &self.folder {
            Folder::Temporary(folder) => folder.path(),
            Folder::Kept(folder) => folder,
        }
    }

    /// What is said of a file that could not be written here.
    pub(crate) fn unwritable(&self, source: io::Error) -> Error {
        match &self.folder {
            Folder::Temporary(folder) => {
                let parent = folder.path().parent().unwrap_or(folder.path());
                Error::Temporary { folder: parent.to_owned(), source }
            }
            Folder::Kept(folder) => {
                Error::Keep { folder: folder.clone(), reason: source.to_string() }
            }
        }
    }

    /// Whether the folder stays after the run.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.folder, Folder::Kept(_))
    }

    /// Where a loader finds `libcuda.so` and `libcuda.so.1`.
    pub fn library_folder(&self) -> PathBuf {
        self.path().join("lib")
    }

    /// What a Python interpreter is asked to run.
    pub fn python_worker(&self) -> PathBuf {
        self.path().join(WORKER)
    }

    /// Where the next worker is listened for; no two get the same.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path().join(format!("worker-{}.socket", self.workers.fetch_add(1, Ordering::Relaxed)))
    }

    fn link_driver(&self, driver: &Path) -> io::Result<()> {
        fs::create_dir(self.library_folder())?;
        symlink(driver, self.library_folder().join("libcuda.so"))?;
        symlink(driver, self.library_folder().join("libcuda.so.1"))
    }
}

fn temporary() -> io::Result<TempDir> {
    let folder = TempDir::with_prefix("allocert-")?;
    if folder.path().as_os_str().len() <= LONGEST_FOLDER_BYTES {
        return Ok(folder);
    }
    TempDir::with_prefix_in("allocert-", "/tmp")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::NamedTempFile;

    #[test]
    fn both_driver_names_resolve_and_nothing_stays_behind() {
        let driver = NamedTempFile::new().expect("a file");
        let run = RunDir::create(driver.path()).expect("a run folder");
        let place = run.path().to_owned();
        for name in ["libcuda.so", "libcuda.so.1"] {
            let target =
                run.library_folder().join(name).canonicalize().expect("a link that resolves");
            assert_eq!(target, driver.path().canonicalize().expect("it exists"));
        }
        drop(run);
        assert!(!place.exists());
    }

    #[test]
    fn a_kept_folder_stays_and_is_not_used_twice() {
        let (driver, parent) = (NamedTempFile::new().expect("a file"), TempDir::new());
        let folder = parent.as_ref().expect("a folder").path().join("kept");
        drop(RunDir::keep(&folder, driver.path()).expect("a run folder"));
        assert!(folder.join("lib/libcuda.so.1").exists());
        let error = RunDir::keep(&folder, driver.path()).expect_err("it is not empty");
        assert!(error.to_string().ends_with("it is not empty"), "{error}");
    }
}
