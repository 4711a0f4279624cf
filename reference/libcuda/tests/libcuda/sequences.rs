//! Random call sequences: the software driver answers each call as an H200 did.

use std::collections::BTreeMap;

use crate::instrument;

/// The sequences that an H200 answered: the file, the first number, how many numbers, and the
/// environment. The first file has 3,478 of its sequences.
type Recorded = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);
const RECORDED: [Recorded; 2] = [
    ("answers_h200.txt.gz", "0", "4000", &[]),
    ("further_answers_h200.txt.gz", "10000000", "1500", &[("QUICK", "1")]),
];
/// The kinds of answers in which the software driver still differs: function, result here, result
/// on the H200. A kind that is mended leaves the list.
const DIFFERENCES: &str = include_str!("../sequences/differences.tsv");

/// `NUMBER.CALL` to the call and its answer.
fn answers(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// The kind of a difference; `None` if the calls themselves differ, because an earlier answer did.
fn kind(ours: &str, theirs: &str) -> Option<String> {
    let (call, answer) = ours.split_once(" = ")?;
    let (their_call, their_answer) = theirs.split_once(" = ")?;
    let function = call.split('(').next()?;
    let result = |answer: &str| answer.split(' ').next().unwrap_or_default().to_owned();
    let same_call = call == their_call;
    same_call.then(|| format!("{function}\t{}\t{}", result(answer), result(their_answer)))
}

#[test]
fn every_answer_equals_the_h200_but_for_the_listed_kinds() {
    let listed: BTreeMap<&str, ()> =
        DIFFERENCES.lines().filter(|line| !line.starts_with('#')).map(|line| (line, ())).collect();
    let mut met = BTreeMap::new();
    let mut equal = 0;
    for (file, first, count, variables) in RECORDED {
        let here = instrument::run("sequences/sequences.cpp", &[first, count, "full"], variables);
        let there = instrument::measured(&format!("sequences/{file}"));
        let theirs = answers(&there);
        for (place, ours) in answers(&here) {
            let Some(theirs) = theirs.get(place).filter(|text| !text.starts_with("ended")) else {
                continue;
            };
            if ours == *theirs {
                equal += 1;
            } else if let Some(kind) = kind(ours, theirs) {
                let difference = || format!("{place}\n  here: {ours}\n  H200: {theirs}");
                met.entry(kind).or_insert_with(difference);
            }
        }
    }
    let unlisted: Vec<_> =
        met.iter().filter(|(kind, _)| !listed.contains_key(kind.as_str())).collect();
    assert!(unlisted.is_empty(), "not in sequences/differences.tsv: {unlisted:#?}");
    let mended: Vec<_> = listed.keys().filter(|kind| !met.contains_key(**kind)).collect();
    assert!(mended.is_empty(), "take these out of sequences/differences.tsv: {mended:#?}");
    assert!(equal > 190_000, "only {equal} answers could be compared");
}
