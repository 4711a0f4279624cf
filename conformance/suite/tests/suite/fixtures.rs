//! Every embedded fixture is planned; every refused one gives exactly its message.

use allocert_suite::{Catalogue, fixture};

#[test]
fn every_fixture_is_planned() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|refusals| panic!("{}", joined(&refusals)));
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    let cases = fixture::plan(files, &catalogue).unwrap_or_else(|refusals| panic!("{}", joined(&refusals)));
    assert!(cases.len() >= allocert_fixtures::files().len(), "a fixture without a case");
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    let before = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), before, "two cases share an id");
}

fn joined(refusals: &[allocert_suite::Refusal]) -> String {
    refusals.iter().map(|refusal| format!("{refusal}\n\n")).collect()
}
