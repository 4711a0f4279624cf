//! What tests need and their own crate does not have: the software driver, the program, a Python
//! interpreter, `cuda.h`.
//!
//! Everything is found where it usually lies, or built there, so that `cargo test -p CRATE` needs
//! no preparation. A variable that names another place wins:
//!
//! | variable | names |
//! |---|---|
//! | `ALLOCERT_PROGRAM` | the [`program`] |
//! | `ALLOCERT_LIBCUDA` | the [`driver`] |
//! | `ALLOCERT_PYTHON` | the [`interpreter`] |
//! | `ALLOCERT_CUDA_INCLUDE` | the folder of `cuda.h`, see [`cuda_include`] |

#![forbid(unsafe_code)]

mod build_folder;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use build_folder::BuildFolder;

/// The software driver and recorder, `liballocert_libcuda.so`. This crate depends on it, so cargo
/// has built it for whoever depends on this crate.
///
/// # Panics
/// When `ALLOCERT_LIBCUDA` names a file that is not there.
#[must_use]
pub fn driver() -> PathBuf {
    let Some(named) = env::var_os("ALLOCERT_LIBCUDA").map(PathBuf::from) else {
        return library("liballocert_libcuda.so");
    };
    // Links to it are made in other folders.
    named.canonicalize().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; ALLOCERT_LIBCUDA names it: correct it, or unset it to use the driver of \
             this build",
            named.display()
        )
    })
}

/// A shared library of the crate under test or of a crate that it depends on.
///
/// # Panics
/// When cargo has not built it for this test.
#[must_use]
pub fn library(file: &str) -> PathBuf {
    let program = env::current_exe().expect("a running program has a path");
    let path = program.with_file_name(file);
    assert!(
        path.is_file(),
        "{} is missing: the crate of this test depends on no crate that makes it",
        path.display()
    );
    path
}

/// The program `allocert`, built like this test, with the driver, the reference manager, the
/// mutants and the variants beside it. `ALLOCERT_PROGRAM` names one that is built already.
///
/// # Panics
/// When they cannot be built; the message holds cargo's own words.
#[must_use]
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match env::var_os("ALLOCERT_PROGRAM") {
        Some(named) => named.into(),
        None => build_program(),
    })
}

fn build_program() -> PathBuf {
    const PACKAGES: [&str; 5] = [
        "allocert",
        "allocert-libcuda",
        "allocert-emm-so",
        "allocert-mutants",
        "allocert-variants",
    ];
    let build = BuildFolder::of_this_program();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(repository()).args(["build", "--quiet"]).args(build.arguments());
    cargo.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    let output = cargo.output().expect("cargo runs, because it runs this test");
    assert!(
        output.status.success(),
        "the program cannot be built:\n{}\n`cargo build -p {}` shows why",
        String::from_utf8_lossy(&output.stderr),
        PACKAGES.join(" -p ")
    );
    build.folder().join("allocert")
}

/// A Python interpreter that has numba-cuda: the one in `.venv`.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn interpreter() -> PathBuf {
    let named = env::var_os("ALLOCERT_PYTHON").map(PathBuf::from);
    let path = named.unwrap_or_else(|| repository().join(".venv/bin/python"));
    assert!(
        path.is_file(),
        "no Python interpreter at {}: run `cargo xtask package`, which makes .venv, or name an \
         interpreter that has numba-cuda in ALLOCERT_PYTHON",
        path.display()
    );
    path
}

/// The folder of `cuda.h`: the one in the package nvidia-cuda-runtime of the [`interpreter`].
///
/// # Panics
/// When there is none.
#[must_use]
pub fn cuda_include() -> PathBuf {
    const FIND: &str = "import importlib.metadata as m\n\
        files = m.files('nvidia-cuda-runtime')\n\
        print(next(f.locate().parent for f in files if f.name == 'cuda.h'))";
    if let Some(folder) = env::var_os("ALLOCERT_CUDA_INCLUDE") {
        return folder.into();
    }
    let python = interpreter();
    let output = Command::new(&python).args(["-c", FIND]).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    assert!(
        output.status.success(),
        "{} has no package nvidia-cuda-runtime, which brings cuda.h: run `cargo xtask package`, or \
         name a folder with cuda.h in ALLOCERT_CUDA_INCLUDE",
        python.display()
    );
    String::from_utf8_lossy(&output.stdout).trim().into()
}

/// The root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("this crate lies two folders below the root").to_owned()
}
