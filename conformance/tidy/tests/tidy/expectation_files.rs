//! Every expectation file names requirements and cases that there are, and of the cases that a glob
//! matches, one at least looks at the requirement.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use allocert_requirements::{Requirement, Side};
use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::plan::PlannedCase;

use crate::embedded::{cases, catalogue};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/expectations");
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{}: no file", folder.display());
    files
}

#[test]
fn every_expectation_is_about_a_case_that_looks_at_its_requirement() {
    let catalogue = catalogue();
    let cases = cases(&catalogue);
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    for file in files() {
        let name = file.display().to_string();
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut read = ExpectationFile::read(&name, &text, &catalogue)
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        assert!(
            read.seen_on.contains(|sign: char| sign.is_ascii_digit()),
            "{name}: `seen_on` names no version"
        );
        read.check_cases(&text, &ids).unwrap_or_else(|refusal| panic!("{refusal}"));
        let sides: BTreeSet<Option<Side>> = read
            .entries
            .iter()
            .filter_map(|entry| Some(catalogue.get(entry.requirement()?)?.side()))
            .collect();
        assert_eq!(
            sides.len(),
            1,
            "{name}: a subject has one side, and the requirements are of {sides:?}"
        );
        for entry in &read.entries {
            let Some(id) = entry.requirement() else { continue };
            let requirement = catalogue.get(id).expect("it was read");
            let at = format!("{name}:{}: {id}", entry.line);
            let looking: Vec<&str> = cases
                .iter()
                .filter(|case| looks(case, requirement))
                .map(|case| case.id.as_str())
                .collect();
            // A glob that matches none of the cases names swept ones.
            let swept = entry.idle(&ids);
            let mut blind = entry.idle(&looking);
            blind.retain(|glob| !swept.contains(glob));
            assert!(blind.is_empty(), "{at}: no case of {blind:?} looks at it");
        }
    }
}

/// Whether a finding under the requirement can come of the case.
fn looks(case: &PlannedCase, requirement: &Requirement) -> bool {
    let performs = |operation: &String| case.steps.iter().any(|step| step.r#do.name() == operation);
    case.side == requirement.side().expect("every requirement has one")
        && (requirement.always_on()
            || requirement.operation.as_ref().is_some_and(performs)
            || case.requirements().any(|stated| stated == requirement.id))
}
