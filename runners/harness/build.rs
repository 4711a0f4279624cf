//! Embeds the Python worker: every `.py` file below `runners/python/python/allocert/worker`, as
//! (name, text), and the adapters as its folder `adapters`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Links to the folders: `cargo package` puts what they lead to into the package.
const EMBEDDED: &str = "embedded";

fn main() -> io::Result<()> {
    let manifest =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let package = manifest.join(EMBEDDED);
    println!("cargo::rerun-if-changed=build.rs");
    let mut sources = Vec::new();
    for (folder, prefix) in [("worker", ""), ("adapters", "adapters")] {
        // Cargo watches the files that a link leads to, and not those behind a link.
        let folder = package.join(folder).canonicalize()?;
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &folder, Path::new(prefix), &mut sources)?;
    }
    sources.sort();
    fs::write(out.join("worker.rs"), table(&sources))
}

fn collect(
    root: &Path,
    folder: &Path,
    prefix: &Path,
    sources: &mut Vec<(String, PathBuf)>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, prefix, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            let name = prefix.join(path.strip_prefix(root).expect("found below root"));
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
