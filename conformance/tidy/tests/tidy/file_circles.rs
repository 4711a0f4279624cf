//! No circle of files that spans two modules.
//!
//! File A knows file B if A declares B as its child (`mod b;`) or names a path of B after `crate`,
//! `self` or `super`, in a `use` or in an expression. A path belongs to its longest prefix that is
//! a file. Not counted are:
//!
//! - what a file knows of the modules that it lies in: `m/child.rs` may use `m.rs`, which declares
//!   it;
//! - what a file knows of the crate root, which re-exports and belongs to all;
//! - modules under `#[cfg(test)]`.
//!
//! What is left must have no circle. Two children of one parent may not know each other both ways,
//! and neither may two files of different folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::sources::{rust_files, tokens};
use crate::workspace::members;

#[test]
fn no_circle_of_files_spans_two_modules() {
    let circles: Vec<(String, Vec<String>)> = members()
        .into_iter()
        .flat_map(|(name, member)| {
            let circles = Graph::read(&member.folder.join("src")).circles();
            circles.into_iter().map(move |circle| (name.clone(), circle))
        })
        .collect();
    assert!(
        circles.is_empty(),
        "these files import each other in a circle; move what they share to a file below them all: \
         {circles:#?}"
    );
}

/// The modules of a crate that are files, and which of them knows which.
#[derive(Default)]
struct Graph {
    /// By module path, `judge::cuda` for `src/judge/cuda.rs`; the root is empty.
    knows: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read(src: &Path) -> Self {
        let files: BTreeMap<String, PathBuf> = rust_files(src)
            .into_iter()
            .map(|file| (module(file.strip_prefix(src).expect("it was found there")), file))
            .collect();
        let names: BTreeSet<&str> = files.keys().map(String::as_str).collect();
        let mut graph = Self::default();
        for (own, file) in files.iter().filter(|(own, _)| !own.is_empty()) {
            let mut paths = Vec::new();
            collect(tokens(file), own, &mut paths);
            let known = paths.iter().filter_map(|path| longest(path, &names));
            let known = known.filter(|known| known != own && !lies_in(own, known));
            graph.knows.insert(own.clone(), known.collect());
        }
        graph
    }

    /// The strongly connected components of more than one file, each sorted.
    fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.knows.keys().map(|file| (file.as_str(), self.reached(file))).collect();
        let mut circles: Vec<Vec<String>> = Vec::new();
        for (file, all) in &reached {
            let circle: Vec<String> = all
                .iter()
                .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)))
                .map(|other| (*other).to_owned())
                .collect();
            if circle.len() > 1 && !circles.contains(&circle) {
                circles.push(circle);
            }
        }
        circles
    }

    /// What a file knows, what that knows, and so on.
    fn reached(&self, file: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&str> = self.known_by(file).collect();
        while let Some(file) = next.pop() {
            if reached.insert(file) {
                next.extend(self.known_by(file));
            }
        }
        reached
    }

    fn known_by(&self, file: &str) -> impl Iterator<Item = &str> {
        self.knows.get(file).into_iter().flatten().map(String::as_str)
    }
}

/// `judge/cuda.rs` to `judge::cuda`; the roots to nothing.
fn module(file: &Path) -> String {
    let path = file.with_extension("");
    let mut parts: Vec<&str> =
        path.iter().map(|part| part.to_str().expect("a module's name is text")).collect();
    if matches!(parts.as_slice(), ["lib" | "main"]) || parts.last() == Some(&"mod") {
        parts.pop();
    }
    parts.join("::")
}

/// Whether a module is another one's child, or a child of that. All lie in the root.
fn lies_in(module: &str, other: &str) -> bool {
    let below = module.strip_prefix(other);
    other.is_empty() || below.is_some_and(|below| below.starts_with("::"))
}

/// The module file that a path leads to.
fn longest(path: &str, files: &BTreeSet<&str>) -> Option<String> {
    let mut path = path;
    loop {
        if files.contains(path) {
            return Some(path.to_owned());
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// All paths after `crate`, `self` and `super`, and all modules that are declared, as paths from
/// the crate's root. `own` is the module of the tokens.
fn collect(tokens: TokenStream, own: &str, paths: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match word(&tokens, at).as_deref() {
            Some("mod") if is_test(&tokens, at) => {
                at += 2; // neither the name nor the body
            }
            Some("mod") => {
                let name = word(&tokens, at + 1).unwrap_or_default();
                let child = join(own, &name);
                match tokens.get(at + 2) {
                    Some(TokenTree::Group(body)) => collect(body.stream(), &child, paths),
                    _ => paths.push(child),
                }
                at += 2;
            }
            Some("crate" | "self" | "super") if is_path(&tokens, at + 1) => {
                let mut base = own.to_owned();
                while is_path(&tokens, at + 1) {
                    match word(&tokens, at).as_deref() {
                        Some("crate") => base.clear(),
                        Some("super") => {
                            base = base.rsplit_once("::").map_or("", |(up, _)| up).to_owned();
                        }
                        Some("self") => {}
                        _ => break,
                    }
                    at += 3;
                }
                at = tree(&tokens, at, &base, paths);
                continue;
            }
            _ => {
                if let TokenTree::Group(group) = &tokens[at] {
                    collect(group.stream(), own, paths);
                }
            }
        }
        at += 1;
    }
}

/// One path, or the paths of a `{a, b::c}`, from `base` on; where the tokens go on behind it.
fn tree(tokens: &[TokenTree], at: usize, base: &str, paths: &mut Vec<String>) -> usize {
    if let Some(TokenTree::Group(group)) = tokens.get(at)
        && group.delimiter() == Delimiter::Brace
    {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let mut next = 0;
        while next < inner.len() {
            next = tree(&inner, next, base, paths);
            // Up to the next comma: an `as` and its name.
            while next < inner.len() && !is_sign(&inner, next, ',') {
                next += 1;
            }
            next += 1;
        }
        return at + 1;
    }
    let Some(name) = word(tokens, at) else {
        paths.push(base.to_owned()); // a `*`
        return at + 1;
    };
    let path = if name == "self" { base.to_owned() } else { join(base, &name) };
    if is_path(tokens, at + 1) {
        return tree(tokens, at + 3, &path, paths);
    }
    paths.push(path);
    at + 1
}

fn join(base: &str, name: &str) -> String {
    if base.is_empty() { name.to_owned() } else { format!("{base}::{name}") }
}

fn word(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at)? {
        TokenTree::Ident(ident) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is_sign(tokens: &[TokenTree], at: usize, sign: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    is_sign(tokens, at, ':') && is_sign(tokens, at + 1, ':')
}

/// Whether `#[cfg(test)]` stands before the `mod` at this place, or before its `pub`.
fn is_test(tokens: &[TokenTree], at: usize) -> bool {
    let attribute = |at: usize| match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            group.stream().to_string().replace(' ', "") == "cfg(test)"
        }
        _ => false,
    };
    (1..=3).any(|back| at >= back && attribute(at - back))
}
