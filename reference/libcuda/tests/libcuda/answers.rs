//! Single calls in situations that random sequences meet seldom: the software driver beside an
//! H200.

use std::collections::{BTreeMap, BTreeSet};

use crate::instrument;

/// What `answers.cpp` printed on an H200.
const MEASURED: &str = include_str!("../answers/answers_h200.tsv");
/// What `checks.cpp` printed on an H200.
const CHECKED: &str = "answers/checks_h200.tsv.gz";
/// The situations in which the software driver answers something else, by reason.
const DIFFERENCES: &str = include_str!("../answers/differences.tsv");

/// Scene and situation to the answer.
fn answers(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once('\t')).collect()
}

#[test]
fn every_answer_equals_the_h200_but_for_the_listed_situations() {
    let here = instrument::run("answers/answers.cpp", &[], &[]);
    let two_devices = [("ALLOCERT_DEVICES", "2")];
    let here = here + &instrument::run("answers/answers.cpp", &["two devices"], &two_devices);
    let (ours, theirs) = (answers(&here), answers(MEASURED));
    let unasked: Vec<_> =
        theirs.keys().filter(|situation| !ours.contains_key(*situation)).collect();
    assert!(unasked.is_empty(), "answers.cpp does not ask {unasked:#?}");
    let mut unlisted: BTreeSet<&str> =
        DIFFERENCES.lines().filter(|line| !line.starts_with('#')).collect();
    // What was not measured is asked, too.
    let wrong: Vec<_> = theirs
        .iter()
        .filter(|(situation, theirs)| ours[*situation] != **theirs && !unlisted.remove(*situation))
        .map(|(situation, theirs)| format!("{situation}: here {}, H200 {theirs}", ours[situation]))
        .collect();
    assert!(wrong.is_empty(), "answers unlike the H200:\n{}", wrong.join("\n"));
    assert!(unlisted.is_empty(), "take these out of answers/differences.tsv: {unlisted:#?}");
}

#[test]
fn arguments_are_checked_in_the_order_of_the_h200() {
    let here = instrument::run("answers/checks.cpp", &[], &[]);
    let measured = instrument::measured(CHECKED);
    let (ours, theirs) = (answers(&here), answers(&measured));
    let calls = ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>();
    let unlike = calls.into_iter().filter(|call| ours.get(**call) != theirs.get(**call));
    let wrong: Vec<_> = unlike
        .map(|call| format!("{call}: here {:?}, H200 {:?}", ours.get(*call), theirs.get(*call)))
        .collect();
    assert!(wrong.is_empty(), "{} answers unlike the H200:\n{}", wrong.len(), wrong.join("\n"));
    assert!(theirs.len() > 14_000, "{CHECKED} has {} lines", theirs.len());
}
