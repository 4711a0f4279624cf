//! Which calls wait for which streams: the software driver beside an H200.

use std::collections::{BTreeMap, BTreeSet};

use crate::instrument;

/// What `order table` measured on an H200.
const MEASURED: &str = include_str!("../order/order_h200.tsv");
/// The rows in which the software driver still answers otherwise. A row that is mended leaves the
/// list.
const DIFFERENCES: &str = include_str!("../order/differences.tsv");
/// The calls that this test asks about; the whole table takes minutes.
const ASKED: [&str; 7] = [
    "(none)",
    "cuMemFree",
    "cuMemHostUnregister",
    "cuMemcpyPeer",
    "cuMemcpyDtoD_v2",
    "cuStream",
    "cuEvent",
];
/// `CUDA_ERROR_NOT_SUPPORTED`: the software driver does not implement the call.
const NOT_SUPPORTED: &str = "801";

/// Call, what, busy stream and given stream, to result, host and later streams.
fn rows(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cells = lines.map(|line| line.splitn(5, '\t').collect::<Vec<_>>());
    cells.map(|cells| (cells[..4].join("\t"), cells[4].to_owned())).collect()
}

#[test]
fn every_row_equals_the_h200_but_for_the_listed_ones() {
    let measured = rows(MEASURED);
    let listed: BTreeSet<&str> =
        DIFFERENCES.lines().filter(|line| !line.starts_with('#')).collect();
    let mut unlisted = Vec::new();
    let mut equal = BTreeSet::new();
    for prefix in ASKED {
        let ours = rows(&instrument::run("order/order.cpp", &["table", prefix], &[]));
        assert!(!ours.is_empty(), "no call begins with {prefix}");
        for (row, ours) in &ours {
            let Some(theirs) = measured.get(row) else { continue };
            let [result, host, later] = cells(ours);
            let [their_result, their_host, their_later] = cells(theirs);
            if result == NOT_SUPPORTED {
                continue;
            }
            let same = result == their_result
                && host == their_host
                && (host == "waits" || words(later) == words(their_later));
            if same {
                equal.insert(row.clone());
            } else if !listed.contains(row.as_str()) {
                unlisted.push(format!("{row}\n  here: {ours}\n  H200: {theirs}"));
            }
        }
    }
    assert!(unlisted.is_empty(), "not in order/differences.tsv:\n{}", unlisted.join("\n"));
    let mended: Vec<_> = listed.iter().filter(|row| equal.contains(**row)).collect();
    assert!(mended.is_empty(), "take these out of order/differences.tsv: {mended:#?}");
    assert!(equal.len() > 300, "only {} rows could be compared", equal.len());
}

fn cells(row: &str) -> [&str; 3] {
    let mut cells = row.split('\t');
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

fn words(later: &str) -> BTreeSet<&str> {
    later.split(' ').filter(|word| *word != "-").collect()
}
