//! Rules for the sources of every crate.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use crate::workspace::members;

/// The crates that call C or are called by it. All others forbid unsafe code.
const UNSAFE_CRATES: [&str; 12] = [
    "allocert-abi",
    "allocert-cuda",
    "allocert-emm-so",
    "allocert-libcuda",
    "allocert-mutants",
    "allocert-native",
    "allocert-nep49",
    "allocert-nep49-pinned",
    "allocert-place",
    "allocert-python",
    "allocert-recorder",
    "allocert-variants",
];

#[test]
fn only_crates_that_meet_c_may_be_unsafe() {
    for (name, member) in members() {
        let head = ["src/lib.rs", "src/main.rs"]
            .iter()
            .find_map(|file| fs::read_to_string(member.folder.join(file)).ok())
            .unwrap_or_else(|| panic!("{name} has neither src/lib.rs nor src/main.rs"));
        let forbids = head.contains("#![forbid(unsafe_code)]");
        let listed = UNSAFE_CRATES.contains(&name.as_str());
        assert!(
            forbids || listed,
            "{name} is not in UNSAFE_CRATES: its crate root must forbid unsafe_code"
        );
        assert!(!(forbids && listed), "{name} forbids unsafe code: take it out of UNSAFE_CRATES");
    }
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for (name, member) in members() {
        let manifest =
            fs::read_to_string(member.folder.join("Cargo.toml")).expect("a member has a manifest");
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{name} does not take the workspace lints"
        );
    }
}

/// `cargo package` takes only what lies in the folder of a crate, or what a link there leads to.
#[test]
fn a_published_crate_embeds_no_file_of_another_folder() {
    /// Compiled for the unit tests alone, which a package is not built with.
    const TESTS_ONLY: &str = "effect/cuda/order/measured.rs";
    for (name, member) in members() {
        let manifest =
            fs::read_to_string(member.folder.join("Cargo.toml")).expect("a member has a manifest");
        if manifest.contains("publish = false") {
            continue;
        }
        for file in rust_files(&member.folder.join("src")) {
            if file.ends_with(TESTS_ONLY) {
                continue;
            }
            for path in literals_of(&file).iter().filter(|text| text.starts_with("../")) {
                let depth = file.strip_prefix(&member.folder).expect("below it").iter().count();
                let up = path.matches("../").count();
                assert!(up < depth, "{name}: {} embeds {path}", file.display());
            }
        }
    }
}

/// The judge reads calls of every boundary. What only CUDA has lies in two folders.
#[test]
fn only_the_folders_of_cuda_name_driver_functions() {
    let src = members()["allocert-suite"].folder.join("src");
    let of_cuda = [src.join("effect/cuda"), src.join("judge/cuda")];
    for file in rust_files(&src) {
        if of_cuda.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let mut named = Vec::new();
        flatten(tokens(&file), &mut |token| named.extend(driver_function(token)));
        assert!(
            named.is_empty(),
            "{}: {named:?} belong to src/effect/cuda, which tells what a driver call does",
            file.display()
        );
    }
}

/// `cuMemAlloc_v2`, as a name or in a string.
fn driver_function(token: &TokenTree) -> Option<String> {
    let text = match token {
        TokenTree::Ident(ident) => ident.to_string(),
        TokenTree::Literal(literal) => literal.to_string().trim_matches('"').to_owned(),
        TokenTree::Group(_) | TokenTree::Punct(_) => return None,
    };
    let rest = text.strip_prefix("cu")?;
    let is_name = rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (rest.starts_with(|c: char| c.is_ascii_uppercase()) && is_name).then_some(text)
}

/// The string literals in a folder of Rust files.
pub(crate) fn literals(folder: &Path) -> Vec<String> {
    rust_files(folder).iter().flat_map(|file| literals_of(file)).collect()
}

/// The string literals in a Rust file.
fn literals_of(file: &Path) -> Vec<String> {
    let mut literals = Vec::new();
    flatten(tokens(file), &mut |token| {
        if let TokenTree::Literal(literal) = token {
            let text = literal.to_string();
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            literals.extend(inner.map(str::to_owned));
        }
    });
    literals
}

/// Calls `each` on every token that is no group. Comments on items are attributes, and left out.
fn flatten(tokens: TokenStream, each: &mut impl FnMut(&TokenTree)) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(ref punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| match next {
                    TokenTree::Group(group) => group.stream().to_string().starts_with("doc"),
                    TokenTree::Punct(punct) => punct.as_char() == '!',
                    _ => false,
                });
            }
            TokenTree::Group(ref group) if group.stream().to_string().starts_with("doc =") => {}
            TokenTree::Group(ref group) => flatten(group.stream(), each),
            ref token => each(token),
        }
    }
}

pub(crate) fn tokens(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).expect("a source file is text");
    text.parse().unwrap_or_else(|error| panic!("{}: not Rust: {error}", file.display()))
}

/// The Rust files of a folder and of those in it.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a folder is readable").path());
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
