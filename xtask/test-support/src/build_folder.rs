//! How the running test was built, so that what it needs is built the same way.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of a build: `target/debug`, or `target/x86_64-unknown-linux-gnu/debug`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BuildFolder {
    folder: PathBuf,
    /// `target`.
    target: PathBuf,
    /// Where cargo was given `--target`.
    triple: Option<String>,
}

impl BuildFolder {
    /// That of the running test, which lies in `deps/` of its folder.
    pub(crate) fn of_this_program() -> Self {
        let program = env::current_exe().expect("a running program has a path");
        let folder = program.ancestors().nth(2).expect("cargo runs a test in target/*/deps");
        // Cargo marks the folder of all its builds.
        Self::of(folder, |folder| folder.join("CACHEDIR.TAG").is_file())
    }

    fn of(folder: &Path, is_target: impl Fn(&Path) -> bool) -> Self {
        let above = folder.parent().unwrap_or(folder);
        let triple = above.file_name().map(|name| name.to_string_lossy().into_owned());
        let (target, triple) = match above.parent() {
            Some(target) if !is_target(above) && is_target(target) => (target, triple),
            _ => (above, None),
        };
        Self { folder: folder.to_owned(), target: target.to_owned(), triple }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What makes cargo build into the same folder.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let profile = if name == "debug" { "dev".to_owned() } else { name.into_owned() };
        let target = self.target.display().to_string();
        let mut arguments =
            vec!["--profile".to_owned(), profile, "--target-dir".to_owned(), target];
        arguments.extend(self.triple.iter().flat_map(|triple| ["--target".into(), triple.clone()]));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_build_is_asked_for() {
        let arguments = |folder: &str| {
            let is_target = |folder: &Path| folder == Path::new("/work/target");
            BuildFolder::of(Path::new(folder), is_target).arguments().join(" ")
        };
        let same = "--target-dir /work/target";
        assert_eq!(arguments("/work/target/debug"), format!("--profile dev {same}"));
        assert_eq!(arguments("/work/target/release"), format!("--profile release {same}"));
        assert_eq!(
            arguments("/work/target/x86_64-unknown-linux-gnu/debug"),
            format!("--profile dev {same} --target x86_64-unknown-linux-gnu")
        );
    }
}
