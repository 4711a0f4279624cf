//! Every embedded fixture is planned; every refused one gives exactly its message.

use std::collections::BTreeMap;
use std::path::Path;

use allocert_suite::{Catalogue, Refusal, fixture};

#[test]
fn every_fixture_is_planned() {
    let catalogue =
        Catalogue::embedded().unwrap_or_else(|refusals| panic!("{}", joined(&refusals)));
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    let cases =
        fixture::plan(files, &catalogue).unwrap_or_else(|refusals| panic!("{}", joined(&refusals)));
    assert!(cases.len() >= allocert_fixtures::files().len(), "a fixture without a case");
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    let before = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), before, "two cases share an id");
}

/// With `ALLOCERT_BLESS=1` the messages are written instead of compared; read the difference before
/// it is committed.
#[test]
fn every_refused_fixture_gives_its_message() {
    let catalogue =
        Catalogue::embedded().unwrap_or_else(|refusals| panic!("{}", joined(&refusals)));
    let files: BTreeMap<&str, &str> =
        allocert_fixtures::refused().iter().map(|file| (file.path, file.text)).collect();
    let bless = std::env::var_os("ALLOCERT_BLESS").is_some();
    let mut wrong = Vec::new();
    let fixtures = files.iter().filter(|(path, _)| path.ends_with(".yaml"));
    assert!(fixtures.clone().count() >= 10, "the refused fixtures are gone");
    for (path, text) in fixtures {
        let message = match fixture::plan_file(path, text, &catalogue) {
            Ok(_) => panic!("{path} was accepted"),
            Err(refusal) => format!("{refusal}\n"),
        };
        let expected = path.replace(".yaml", ".txt");
        if bless {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
            std::fs::write(root.join(&expected), &message).expect("the checkout can be written");
        } else if files.get(expected.as_str()).copied() != Some(&message) {
            wrong.push(format!("{expected}:\n{message}"));
        }
    }
    assert!(wrong.is_empty(), "messages that differ from their files:\n{}", wrong.join("\n"));
}

fn joined(refusals: &[Refusal]) -> String {
    refusals.iter().map(|refusal| format!("{refusal}\n\n")).collect()
}
