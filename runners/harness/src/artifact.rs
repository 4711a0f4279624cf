//! The files that lie beside the program: in a wheel in `site-packages/allocert/bin/`, in a cargo
//! tree in `target/<profile>/`.

use std::path::{Path, PathBuf};
use std::{env, fmt};

use crate::error::Error;

/// The Python worker package as (file name, text), embedded so that any interpreter can be handed
/// it.
pub(crate) const PYTHON_WORKER: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/worker.rs"));

/// A file that is built by another crate of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    /// The recording driver that workers load in place of the real libcuda.
    Driver,
    /// The reference manager behind the C contract.
    EmmReference,
    /// The native subjects that are built to break requirements.
    Mutants,
    /// The native subjects that use what the texts leave open.
    Variants,
}

impl Artifact {
    fn file(self) -> &'static str {
        match self {
            Self::Driver => "liballocert_libcuda.so",
            Self::EmmReference => "liballocert_emm_reference.so",
            Self::Mutants => "liballocert_mutants.so",
            Self::Variants => "liballocert_variants.so",
        }
    }

    /// For crates that are built elsewhere and bring no driver along.
    fn variable(self) -> Option<&'static str> {
        match self {
            Self::Driver => Some("ALLOCERT_LIBCUDA"),
            Self::EmmReference | Self::Mutants | Self::Variants => None,
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Driver => "allocert-libcuda",
            Self::EmmReference => "allocert-emm-so",
            Self::Mutants => "allocert-mutants",
            Self::Variants => "allocert-variants",
        }
    }

    /// Finds the file where its variable (`ALLOCERT_LIBCUDA` for the driver) says, or beside the
    /// running executable where the variable is unset or empty.
    ///
    /// # Errors
    /// [`Error::MissingArtifact`], which names the file, the folder and the command that builds it.
    pub fn find(self) -> Result<PathBuf, Error> {
        let named = self.variable().and_then(env::var_os).filter(|path| !path.is_empty());
        if let Some(path) = named.map(PathBuf::from) {
            // A path that leads nowhere is reported by whoever opens it; it is not replaced by
            // another file.
            return Ok(path);
        }
        let executable = env::current_exe()
            .map_err(|source| Error::io("find the running executable", source))?;
        let folder = executable.parent().unwrap_or(Path::new("/"));
        self.find_in(folder)
    }

    /// Test executables lie in `deps/`, one level below, and cargo leaves libraries that only they
    /// need there too.
    fn find_in(self, folder: &Path) -> Result<PathBuf, Error> {
        let folders = [
            Some(folder.to_owned()),
            Some(folder.join("deps")),
            folder.parent().map(Path::to_owned),
        ];
        let paths = folders.into_iter().flatten().map(|folder| folder.join(self.file()));
        paths.into_iter().find(|path| path.is_file()).ok_or_else(|| Error::MissingArtifact {
            file: self.file(),
            folder: folder.to_owned(),
            build: self.build(folder),
        })
    }

    fn build(self, folder: &Path) -> String {
        let release = if folder.ends_with("release") { " --release" } else { "" };
        format!("cargo build{release} -p {}", self.package())
    }
}

impl fmt::Display for Artifact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_asset_names_the_command_that_builds_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let release = folder.path().join("release");
        let message = Artifact::Driver.find_in(&release).expect_err("nothing is there").to_string();
        assert!(
            message.contains("liballocert_libcuda.so")
                && message.contains(&release.display().to_string())
        );
        assert!(
            message.ends_with("`cargo build --release -p allocert-libcuda` builds it"),
            "{message}"
        );
    }
}
