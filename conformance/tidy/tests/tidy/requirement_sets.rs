//! Frozen requirement sets, and the digest of each. A name means the same requirements for ever.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use allocert_requirements::{RequirementSet, Side};
use sha2::{Digest, Sha256};

use crate::{embedded, workspace};

/// In the format of the program `sha256sum`.
const DIGESTS: &str = "SHA256SUMS";

/// The version of the sets that [`freeze`] writes.
const VERSION: &str = "ALLOCERT_FREEZE";

fn folder() -> PathBuf {
    workspace::root().join("conformance/requirements/sets")
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Name of each file to its digest, as the list says.
fn digests() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join(DIGESTS)).expect("the list of digests");
    let row = |line: &str| {
        let (digest, file) = line.split_once("  ").expect("a digest and a file name");
        (file.to_owned(), digest.to_owned())
    };
    text.lines().map(row).collect()
}

#[test]
fn a_frozen_set_never_changes() {
    let listed = digests();
    for (file, listed) in &listed {
        let text = fs::read_to_string(folder().join(file));
        let text = text.unwrap_or_else(|error| panic!("the frozen set {file} is gone: {error}"));
        assert!(
            digest(&text) == *listed,
            "{file} is frozen and was changed: restore it, and freeze a new set with \
             `{VERSION}=YEAR.NUMBER cargo test -p allocert-tidy freeze -- --ignored`"
        );
    }
    let there = fs::read_dir(folder()).expect("the folder of sets");
    let there = there.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
    let unlisted: Vec<String> =
        there.filter(|file| file != DIGESTS && !listed.contains_key(file)).collect();
    assert!(unlisted.is_empty(), "{DIGESTS} does not list {unlisted:?}");
}

/// A line that is no entry would be passed over when the set is read.
#[test]
fn each_frozen_set_is_read_back_whole() {
    let mut read = 0;
    for set in Side::all().flat_map(RequirementSet::frozen) {
        let file = format!("{}.txt", set.name);
        let text = fs::read_to_string(folder().join(&file)).expect("it was built in");
        assert_eq!(set.text(), text, "{file}");
        read += 1;
    }
    assert_eq!(read, digests().len(), "a file of sets is of no side");
}

/// `ALLOCERT_FREEZE=2026.2 cargo test -p allocert-tidy freeze -- --ignored` writes a set of this
/// version for each side whose requirements are not those of a frozen set.
#[test]
#[ignore = "it writes files, when somebody decides to freeze the requirements"]
fn freeze() {
    let version = std::env::var(VERSION).unwrap_or_else(|_| panic!("{VERSION} has the version"));
    let catalogue = embedded::catalogue();
    for side in Side::all() {
        let text = RequirementSet::of_catalogue(&catalogue, side).text();
        let frozen = RequirementSet::frozen(side);
        let path = folder().join(format!("{side}-{version}.txt"));
        assert!(!path.exists(), "{} is frozen; choose a later version", path.display());
        if !frozen.iter().any(|set| set.text() == text) {
            fs::write(&path, &text).expect("the checkout can be written");
            let row = format!("{}  {side}-{version}.txt\n", digest(&text));
            let list = folder().join(DIGESTS);
            let rows = fs::read_to_string(&list).unwrap_or_default() + &row;
            fs::write(&list, rows).expect("the checkout can be written");
        }
    }
}
