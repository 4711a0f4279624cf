//! Which calls wait for which streams, and when copies arrive: the software driver beside an H200.
//!
//! The software driver may keep less order than the GPU, with a reason. It never keeps more: then
//! its data would hide a race that a GPU shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::instrument;

/// What `order table` measured on an H200.
const MEASURED: &str = include_str!("../order/order_h200.tsv");
/// What `order further` measured on an H200.
const FURTHER: &str = include_str!("../order/further_h200.tsv");
/// What `order remaining` measured on an H200.
const REMAINING: &str = include_str!("../order/remaining_h200.tsv");
/// What `order devices` measured on two H200s.
const DEVICES: &str = include_str!("../order/devices_h200.tsv");
/// The rows in which the software driver keeps less order, by reason.
const DIFFERENCES: &str = include_str!("../order/differences.tsv");
/// The same of two devices.
const DEVICES_DIFFERENCES: &str = include_str!("../order/devices_differences.tsv");
/// What `order copies` measured on an H200.
const COPIES: &str = include_str!("../order/copies_h200.tsv");
/// What `order remaining-copies` measured on an H200.
const REMAINING_COPIES: &str = include_str!("../order/remaining_copies_h200.tsv");
/// The rows in which bytes arrive later here than on the H200, by reason.
const LATER_COPIES: &str = include_str!("../order/copies_differences.tsv");
/// The calls that the software driver answers with `CUDA_ERROR_NOT_SUPPORTED`: graphs and capture,
/// waits for values in memory, and virtual memory.
const REFUSED: [&str; 14] = [
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemMap",
    "cuMemRelease",
    "cuMemSetAccess",
    "cuMemUnmap",
    "cuStreamBatchMemOp_v2",
    "cuStreamBeginCapture_v2",
    "cuStreamWaitValue32_v2",
    "cuStreamWaitValue64_v2",
    "cuStreamWriteValue32_v2",
    "cuStreamWriteValue64_v2",
];
const NOT_SUPPORTED: &str = "801";
const HUGE_PAGES: [(&str, &str); 1] = [("ORDER_HUGE_PAGES", "1")];

/// The lines of a table: the first cells, which say what was asked, and the others.
fn rows(text: &str, key_cells: usize) -> BTreeMap<String, Vec<String>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cells = lines.map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    cells
        .filter(|cells| cells.len() > key_cells)
        .map(|mut cells| {
            let rest = cells.split_off(key_cells);
            (cells.join("\t"), rest)
        })
        .collect()
}

fn listed(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

/// How the software driver answers a row.
#[derive(Debug, PartialEq)]
enum Order {
    Same,
    Refused,
    Less,
    /// The driver waits, or lets work wait, where the H200 does not; or the results differ.
    MoreOrOther,
}

fn compare(ours: &[String], theirs: &[String]) -> Order {
    let waits = |row: &[String]| row[1] == "waits";
    let later = |row: &[String]| -> BTreeSet<String> {
        row[2].split(' ').filter(|word| *word != "-").map(str::to_owned).collect()
    };
    let (our_later, their_later) = (later(ours), later(theirs));
    match (waits(ours), waits(theirs)) {
        _ if ours[0] == NOT_SUPPORTED && theirs[0] != NOT_SUPPORTED => Order::Refused,
        _ if ours[0] != theirs[0] => Order::MoreOrOther,
        (true, true) => Order::Same,
        (false, true) => Order::Less,
        (false, false) if our_later == their_later => Order::Same,
        (false, false) if our_later.is_subset(&their_later) => Order::Less,
        _ => Order::MoreOrOther,
    }
}

/// What a comparison of all rows found.
struct Compared {
    equal: usize,
    refused: BTreeSet<String>,
}

/// Compares what `order MODE` prints here with what was measured: each row is equal, refused, or
/// listed as one that keeps less order.
fn compare_all(modes: &[&str], variables: &[(&str, &str)], text: &str, less: &str) -> Compared {
    let measured = rows(text, 4);
    let mut unlisted = listed(less);
    let asked = modes.iter().map(|mode| instrument::run("order/order.cpp", &[mode], variables));
    let ours = rows(&asked.collect::<String>(), 4);
    let (mut equal, mut refused, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for (row, theirs) in &measured {
        let Some(ours) = ours.get(row) else {
            wrong.push(format!("the program prints no such row: {row}"));
            continue;
        };
        match compare(ours, theirs) {
            Order::Same => equal += 1,
            Order::Refused => {
                refused.extend(row.split('\t').next().map(str::to_owned));
            }
            Order::Less if unlisted.remove(row.as_str()) => {}
            order => wrong.push(format!("{order:?}: {row}\n  here: {ours:?}\n  H200: {theirs:?}")),
        }
    }
    wrong.extend(ours.keys().filter(|row| !measured.contains_key(*row)).cloned());
    assert!(wrong.is_empty(), "rows unlike the H200:\n{}", wrong.join("\n"));
    assert!(unlisted.is_empty(), "take these out of the list of differences: {unlisted:#?}");
    Compared { equal, refused }
}

#[test]
fn every_row_equals_the_h200_but_for_the_listed_ones() {
    let measured = [MEASURED, FURTHER].concat();
    let Compared { equal, refused } =
        compare_all(&["table", "further"], &HUGE_PAGES, &measured, DIFFERENCES);
    assert!(refused.iter().eq(REFUSED), "calls that are not supported: {refused:?}");
    assert!(equal > 8_600, "only {equal} rows are equal");
}

#[test]
fn every_remaining_row_equals_the_h200() {
    let Compared { equal, refused } = compare_all(&["remaining"], &[], REMAINING, "");
    assert!(refused.is_empty(), "calls that are not supported: {refused:?}");
    assert!(equal > 1_000, "only {equal} rows are equal");
}

#[test]
fn every_row_of_two_devices_equals_two_h200s_but_for_the_listed_ones() {
    let Compared { equal, refused } =
        compare_all(&["devices"], &[("ALLOCERT_DEVICES", "2")], DEVICES, DEVICES_DIFFERENCES);
    assert!(refused.is_empty(), "calls that are not supported: {refused:?}");
    assert!(equal > 4_000, "only {equal} rows are equal");
}

#[test]
fn no_copy_arrives_earlier_than_on_the_h200() {
    let measured = rows(&[COPIES, REMAINING_COPIES].concat(), 3);
    let mut unlisted = listed(LATER_COPIES);
    let asked =
        ["copies", "remaining-copies"].map(|mode| instrument::run("order/order.cpp", &[mode], &[]));
    let ours = rows(&asked.concat(), 3);
    assert_eq!(ours.len(), measured.len(), "rows that were measured");
    let mut wrong = Vec::new();
    for (row, ours) in &ours {
        let theirs = &measured[row];
        // Either `staged` or `read later`, or rounds and counts of arrived bytes.
        let count = |cell: &String| cell.parse::<u32>().ok();
        let counts = ours.iter().map(count).zip(theirs.iter().map(count));
        let same = ours == theirs;
        let later = counts.clone().all(|(ours, theirs)| ours.is_some() && ours <= theirs);
        // Bytes that arrived in some rounds on the H200 may not arrive in any here.
        let by_chance = counts.clone().all(|(ours, theirs)| {
            ours == theirs || ours == Some(0) && theirs.is_some_and(|count| count < 6)
        });
        if !(same || by_chance || later && unlisted.remove(row.as_str())) {
            wrong.push(format!("{row}\n  here: {ours:?}\n  H200: {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "copies unlike those on the H200:\n{}", wrong.join("\n"));
    assert!(unlisted.is_empty(), "take these out of order/copies_differences.tsv: {unlisted:#?}");
}
