//! The folder of one run: the recording driver under the names that libraries look for, the Python
//! worker, and a socket for each worker. It is gone when the value is dropped.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::artifact::PYTHON_WORKER;
use crate::error::Error;

/// `sun_path` holds 108 bytes with its NUL (unix(7)); what a name in the folder needs is taken off.
const LONGEST_FOLDER_BYTES: usize = 108 - "/worker-9999.socket\0".len();

/// The folder of the Python worker.
const WORKER: &str = "allocert_worker";

#[derive(Debug)]
pub struct RunDir {
    folder: TempDir,
    workers: AtomicUsize,
}

impl RunDir {
    /// Lays out the folder around `driver`, the path of the recording driver.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be made.
    pub fn create(driver: &Path) -> Result<Self, Error> {
        let folder =
            folder().map_err(|source| Error::io("make the run's temporary folder", source))?;
        let run = Self { folder, workers: AtomicUsize::new(0) };
        run.link_driver(driver).map_err(|source| {
            Error::io(format!("link the recording driver {}", driver.display()), source)
        })?;
        run.write(WORKER, PYTHON_WORKER)?;
        Ok(run)
    }

    /// Writes files given as `(name, text)` into a folder of this name, for an interpreter to find.
    ///
    /// # Errors
    /// [`Error::Io`] when one of them cannot be written.
    pub fn write(&self, folder: &str, files: &[(&str, &str)]) -> Result<PathBuf, Error> {
        let folder = self.path().join(folder);
        for (name, text) in files {
            let path = folder.join(name);
            let written = fs::create_dir_all(path.parent().unwrap_or(&folder))
                .and_then(|()| fs::write(&path, text));
            written.map_err(|source| Error::io(format!("write {}", path.display()), source))?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
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

    fn link_driver(&self, driver: &Path) -> std::io::Result<()> {
        let driver = driver.canonicalize()?;
        fs::create_dir(self.library_folder())?;
        symlink(&driver, self.library_folder().join("libcuda.so"))?;
        symlink(&driver, self.library_folder().join("libcuda.so.1"))
    }
}

fn folder() -> std::io::Result<TempDir> {
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
}
