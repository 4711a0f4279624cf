//! What is drawn.

use allocert_explore::{LENGTH, write_fixture};
use allocert_suite::interface::{Operation, emm};
use allocert_suite::nouns::Need;

use crate::{exploration, handler_exploration, sent_and_expected};

#[test]
fn the_same_seed_makes_the_same_sequences() {
    let drawn = |seed| -> Vec<String> {
        let exploration = exploration(seed, 8 * LENGTH);
        (0..8)
            .map(|number| {
                sent_and_expected(&exploration.sequence(number).planned("emm/explored/x", "x"))
            })
            .collect()
    };
    let first = drawn(7);
    assert_eq!(first, drawn(7));
    let other = drawn(8);
    assert!(first.iter().all(|one| !other.contains(one)), "another seed makes other sequences");
}

/// On every machine, and until somebody means to change it: fixtures name the seed that makes them
/// again.
#[test]
fn a_seed_makes_this_sequence() {
    let sequence = exploration(7, 4_000).sequence(3);
    insta::assert_snapshot!(write_fixture::lines(&sequence)[..24].join("\n"));
}

#[test]
fn a_sequence_is_the_same_among_more_and_cut_among_fewer() {
    let long = write_fixture::lines(&exploration(7, 100_000).sequence(0));
    let short = write_fixture::lines(&exploration(7, 100).sequence(0));
    assert!(short.len() >= 100 && short.len() < 120, "{}", short.len());
    assert_eq!(short[..100], long[..100]);
}

#[test]
fn every_operation_of_a_model_is_drawn() {
    for (exploration, least_threads, names) in [
        (exploration(1, 70 * LENGTH), 20, MANAGER_OPERATIONS),
        (handler_exploration(1, 70 * LENGTH), 100, HANDLER_OPERATIONS),
    ] {
        let mut drawn: Vec<&'static str> = Vec::new();
        let mut threads = 0;
        for number in 0..70 {
            let planned = exploration.sequence(number).planned("emm/explored/x", "x");
            threads += planned.steps.iter().filter(|step| step.thread.is_some()).count();
            drawn.extend(planned.steps.iter().map(|step| step.r#do.name()));
        }
        for name in names {
            let times = drawn.iter().filter(|other| *other == name).count();
            assert!(times >= 20, "{name} is drawn {times} times in 28,000");
        }
        assert!(threads >= least_threads, "{threads} steps on threads of their own");
    }
}

const MANAGER_OPERATIONS: &[&str] = &[
    "attach",
    "churn",
    "create",
    "defer_enter",
    "defer_exit",
    "destroy",
    "detach",
    "drop",
    "fill",
    "get_ipc_handle",
    "get_memory_info",
    "host_buffer",
    "initialize",
    "memalloc",
    "memhostalloc",
    "mempin",
    "read",
    "reset",
    "view",
];

const HANDLER_OPERATIONS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "realloc_null",
    "realloc_too_much",
    "drop",
    "free_with_size",
    "free_null",
    "fill",
    "read",
    "churn",
    "stress",
];

#[test]
fn what_is_not_offered_is_not_asked_for() {
    let mut exploration = exploration(1, 40 * LENGTH);
    exploration.offer.clear();
    for number in 0..40 {
        let planned = exploration.sequence(number).planned("emm/explored/x", "x");
        assert_eq!(planned.needs, [], "sequence {number}");
        assert_eq!(planned.driver.devices, None, "sequence {number}");
        let asks = planned
            .steps
            .iter()
            .any(|step| matches!(step.r#do, Operation::Emm(emm::Operation::GetMemoryInfo { .. })));
        assert!(!asks, "sequence {number}");
    }
}

#[test]
fn a_case_needs_what_it_asks_for() {
    let exploration = exploration(1, 70 * LENGTH);
    let all: Vec<Need> = (0..70)
        .flat_map(|number| exploration.sequence(number).planned("emm/explored/x", "x").needs)
        .collect();
    for need in [Need::HostMemory, Need::MemoryInfo, Need::Ipc, Need::TwoDevices] {
        assert!(all.contains(&need), "{need}");
    }
}

/// A process has one machine, and all sequences are run once.
#[test]
fn chunks_hold_every_sequence_once_and_one_machine_each() {
    let exploration = exploration(1, 100 * LENGTH - 7);
    let chunks = exploration.chunks();
    let all: Vec<u64> = chunks.iter().cloned().flatten().collect();
    assert_eq!(all, (0..100).collect::<Vec<u64>>());
    for chunk in chunks {
        let driver = |number| exploration.sequence(number).planned("emm/explored/x", "x").driver;
        let first = driver(chunk.start);
        assert!(chunk.clone().all(|number| driver(number) == first), "{chunk:?}");
    }
}
