//! Lists every file of `catalogue/` and `sets/`, and of the Python mutants and variants, so that a
//! new file is picked up without editing a list.
//!
//! `embedded` holds links to files of other crates: `cargo package` puts what they lead to into the
//! package.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    list(&own.join("catalogue"), "yaml", "catalogue.rs")?;
    list(&own.join("sets"), "txt", "sets.rs")?;
    list(&own.join("embedded/mutants"), "py", "mutants.rs")?;
    list(&own.join("embedded/variants"), "py", "variants.rs")
}

/// Writes the table of `(path below root, text)` of all files below `root` that end so.
fn list(root: &Path, extension: &str, table: &str) -> io::Result<()> {
    // Cargo watches the files that a link leads to, and not those behind a link.
    let root = &root.canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(root, extension, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(root).expect("found below it").display().to_string();
        writeln!(list, "    ({name:?}, include_str!({:?})),", file.display().to_string())
            .expect("writing to a string cannot fail");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join(table);
    fs::write(out, list)
}

fn collect(folder: &Path, wanted: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, wanted, files)?;
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            files.push(path);
        }
    }
    Ok(())
}
