//! Embeds the Python worker: every `.py` file below `runners/python/python/allocert/worker`, as (name, text).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const WORKER: &str = "../python/python/allocert/worker";

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let worker = manifest.join(WORKER);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", worker.display());
    let mut sources = Vec::new();
    if worker.is_dir() {
        collect(&worker, &worker, &mut sources)?;
    }
    sources.sort();
    fs::write(out.join("worker.rs"), table(&sources))
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            let name = path.strip_prefix(root).expect("found below root");
            sources.push((name.display().to_string(), path));
        }
    }
    Ok(())
}

fn table(sources: &[(String, PathBuf)]) -> String {
    let mut text = String::from("&[\n");
    for (name, path) in sources {
        writeln!(text, "    ({name:?}, include_str!({:?})),", path.display().to_string())
            .expect("writing to a String cannot fail");
    }
    text.push_str("]\n");
    text
}
