//! The judge beside an H200, row by row: which calls wait for a busy stream, and which streams'
//! next work comes after it.
//!
//! The judge may never assume order that the GPU does not keep. Where it assumes less, one of
//! [`MORE_THAN_PROMISED`] gives the reason.

mod row;
mod scene;

use std::collections::BTreeMap;

use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, judge};
use serde_json::json;

use crate::observation_builder::{Recorder, duty};
use crate::trace_builder::one_step;
use row::{Row, StreamKind, rows};
use scene::Scene;

/// What `order table`, `order further` and `order remaining` print on an H200. Their columns are
/// described in `order.cpp`.
const TABLES: [&str; 3] = [
    include_str!("../../../../reference/libcuda/tests/order/order_h200.tsv"),
    include_str!("../../../../reference/libcuda/tests/order/further_h200.tsv"),
    include_str!("../../../../reference/libcuda/tests/order/remaining_h200.tsv"),
];
/// What `order devices` prints on two H200s: context B is of the second device.
const DEVICES: &str = include_str!("../../../../reference/libcuda/tests/order/devices_h200.tsv");

const LOADED_AT_FIRST_USE: &str = "code is loaded at the first use alone, and the trace does not \
                                   show whether it is loaded already";

/// Order that the H200 keeps and the judge does not assume: function, part of the second column,
/// reason.
const MORE_THAN_PROMISED: &[(&str, &str, &str)] = &[
    (
        "cuModuleLoadData",
        "PTX",
        "no text promises a wait, the wait is that of the compiler, and the trace does not show \
         whether an image must be compiled",
    ),
    (
        "cuModuleGetFunction",
        "-",
        "code is loaded at the first look-up alone (the second time keeps no order), and the trace \
         does not show whether it is loaded already: \"CUDA_MODULE_LOADING\" decides",
    ),
    ("cuKernelGetFunction", "the first time", LOADED_AT_FIRST_USE),
    ("cuKernelGetFunction", "its module was made", LOADED_AT_FIRST_USE),
    ("cuLibraryGetModule", "of a new library", LOADED_AT_FIRST_USE),
    ("cuKernelGetParamInfo", "of a new library", LOADED_AT_FIRST_USE),
    ("cuKernelGetParamInfo", "its module was made", LOADED_AT_FIRST_USE),
    ("cuKernelSetAttribute", "of a new library", LOADED_AT_FIRST_USE),
    // The call loads the kernel in all contexts of the device.
    ("cuKernelSetAttribute", "was made", LOADED_AT_FIRST_USE),
    (
        "cuLibraryUnload",
        "its",
        "no text promises a wait, only a library whose code is loaded waits, and the trace does \
         not show whether it is",
    ),
    (
        "cuCtxSetLimit",
        "size",
        "no text promises a wait, only a change of the size can need one, and the trace does not \
         show the size before",
    ),
    (
        "cuMemcpyHtoD_v2_ptds",
        "pageable to device of B",
        "the call waits for the stream of the thread; that it waits for the legacy stream too was \
         seen with two devices alone",
    ),
    (
        "cuMemcpyHtoDAsync",
        "managed to device of B",
        "the call waits for the stream of the copy; that it waits for the legacy stream too was \
         seen with two devices alone",
    ),
];

/// What the judge says of a row: the streams whose next work comes after the busy one's.
struct Answer {
    after: BTreeMap<String, bool>,
    is_doubtful: bool,
}

fn ask(row: &Row) -> Answer {
    thread_local! {
        /// The check for races alone: the scenes free nothing.
        static CATALOGUE: Catalogue = {
            let text = duty("EMM-T-01", "MUST", "plugin", "")
                + &duty("EMM-CHECK-RACE", "MUST", "plugin", "  check: race\n");
            Catalogue::from_files([("emm/race.yaml", text.as_str())]).expect("written here")
        };
        static CASE: PlannedCase = one_step();
    }
    let (mut after, mut is_doubtful) = (BTreeMap::new(), false);
    for Scene { calls, probes } in Scene::of(row) {
        let recorder = Recorder::new(CASE.with(Clone::clone));
        let recorder = recorder.does(calls, scene::exchanged()).rest();
        let judgement =
            CATALOGUE.with(|catalogue| judge::judge(catalogue, &recorder.case, &recorder.seen));
        is_doubtful |= matches!(judgement.verdict, Verdict::NotObserved { .. });
        for probe in probes {
            let is_unordered = judgement.findings.iter().any(|finding| {
                let later = finding.events.last().expect("two accesses").seq;
                probe.is_work(&recorder.seen.events[later as usize])
            });
            after.insert(probe.name, !is_unordered);
        }
    }
    Answer { after, is_doubtful }
}

#[test]
fn the_judge_assumes_no_order_that_the_h200_does_not_keep() {
    let (mut too_much, mut too_little) =
        (Vec::new(), BTreeMap::<(String, String), Vec<String>>::new());
    let (mut compared, mut doubtful) = (0, 0);
    let of_two_devices = rows(DEVICES).into_iter().map(|row| Row { device_of_b: 1, ..row });
    for row in TABLES.iter().flat_map(|table| rows(table)).chain(of_two_devices) {
        let answer = ask(&row);
        let unseen = scene::may_leave_a_doubt(&row);
        if answer.is_doubtful {
            assert!(unseen, "{row:?}: only calls that nobody understands leave a doubt");
            doubtful += 1;
        }
        for (name, judged) in &answer.after {
            let Some(measured) = row.is_after(name) else { continue };
            compared += 1;
            if *judged && !measured && !answer.is_doubtful {
                too_much.push(format!("{row}: {name}"));
            }
            if !judged && measured {
                let key = (row.call.clone(), row.what.clone());
                too_little.entry(key).or_default().push(format!("{row}: {name}"));
            }
        }
    }
    assert!(too_much.is_empty(), "the judge assumes too much:\n{}", too_much.join("\n"));
    let reason = |call: &str, what: &str| {
        MORE_THAN_PROMISED
            .iter()
            .position(|(function, part, _)| call.starts_with(function) && what.contains(part))
    };
    let unexplained: Vec<_> = too_little
        .iter()
        .filter(|((call, what), _)| reason(call, what).is_none())
        .flat_map(|(_, rows)| rows.iter().map(String::as_str))
        .collect();
    assert!(
        unexplained.is_empty(),
        "the judge assumes less than the GPU keeps, without a reason:\n{}",
        unexplained.join("\n")
    );
    for (function, part, _) in MORE_THAN_PROMISED {
        assert!(
            too_little.keys().any(|(call, what)| call.starts_with(function) && what.contains(part)),
            "{function}, {part}: nothing is left that needs this reason"
        );
    }
    assert!(
        compared > 40_000 && doubtful > 400,
        "{compared} answers compared, {doubtful} doubtful"
    );
}

#[test]
fn a_row_without_a_call_shows_the_streams_alone() {
    let row = rows("(none)\t-\tlegacy\t-\t0\treturns\tblocking\n").remove(0);
    let answer = ask(&row);
    let expected = json!({
        "blocking": true, "non_blocking": false, "legacy": true, "per_thread": true,
        "other_thread": true, "blocking@B": false, "non_blocking@B": false, "legacy@B": false,
    });
    assert_eq!(serde_json::to_value(&answer.after).expect("names and booleans"), expected);
    assert!(!answer.is_doubtful);
    assert_eq!(row.busy, StreamKind::of("legacy"));
}
