//! Every requirement is stated by a case, every case states a requirement, every mutant breaks one
//! that exists.

use std::collections::BTreeSet;

use allocert_suite::plan::PlannedCase;

use crate::embedded::{cases, catalogue};
use crate::sources;
use crate::workspace::members;

#[test]
fn every_requirement_has_a_case_or_a_reason() {
    let catalogue = catalogue();
    let cases = cases(&catalogue);
    let stated: BTreeSet<&str> = cases.iter().flat_map(PlannedCase::requirements).collect();
    let orphans: Vec<&str> = catalogue
        .iter()
        // An always-on check is part of every case, a defect of every export; an operation's own
        // requirement is part of every case that has the step.
        .filter(|requirement| requirement.excluded.is_none() && !requirement.always_on())
        .filter(|requirement| !stated.contains(requirement.id.as_str()))
        .filter(|requirement| !performed(&cases, requirement.operation.as_deref()))
        .map(|requirement| requirement.id.as_str())
        .collect();
    assert!(
        orphans.is_empty(),
        "no case states {orphans:?}: write one, or `excluded:` with the reason"
    );
}

fn performed(cases: &[PlannedCase], operation: Option<&str>) -> bool {
    let Some(operation) = operation else { return false };
    cases.iter().flat_map(|case| &case.steps).any(|step| step.r#do.name() == operation)
}

/// A tool names what it demands of a subject, and the catalogue says which requirement stands for
/// it: neither knows a name that the other does not.
#[test]
fn each_demand_of_a_tool_has_a_requirement() {
    let catalogue = catalogue();
    let known: BTreeSet<&str> = catalogue.demands().collect();
    let literals = sources::literals(&members()["allocert-suite"].folder.join("src"));
    let written: BTreeSet<String> = literals
        .into_iter()
        .filter(|literal| {
            let tool = literal.split_once('.').map(|(tool, _)| tool);
            matches!(tool, Some("sweep" | "matrix"))
        })
        .chain(allocert_explore::demand_names())
        .collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    assert_eq!(written, known, "left: named in Rust; right: `demands` of the catalogue");
}
