//! The files that `allocert new` writes: those in `templates`, and the C header.

/// A file of a new project: its path below the project's folder, and its text.
pub(crate) type Template = (&'static str, &'static str);

/// Embeds files of the folder of a language.
macro_rules! templates {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!("../templates/", $folder, "/", $path)))),+]
    };
}

pub(crate) const PYTHON: &[Template] = &templates![
    "python":
    ".github/workflows/certify.yml",
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/emm_plugin/__init__.py",
    "tests/test_emm_plugin.py",
];

pub(crate) const C: &[Template] = &templates![
    "c":
    ".github/workflows/certify.yml",
    ".gitignore",
    "Makefile",
    "README.md",
    "src/emm_plugin.c",
];

/// The contract, which the project in C has a copy of.
pub(crate) const C_HEADER: Template = ("include/allocert_emm.h", allocert_abi::EMM_HEADER);

pub(crate) const RUST: &[Template] = &templates![
    "rust":
    ".github/workflows/certify.yml",
    ".gitignore",
    "README.md",
    "src/lib.rs",
    "tests/allocert.rs",
];

/// `cargo package` leaves out a folder that has a file of the name `Cargo.toml`.
pub(crate) const RUST_MANIFEST: Template =
    ("Cargo.toml", include_str!("../templates/rust/Cargo.toml.in"));
