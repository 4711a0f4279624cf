//! What is counted and which findings count.

use allocert_explore::{Broken, Tally, declined};
use allocert_suite::Level;
use allocert_suite::nouns::Need;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};

use crate::judgement;

fn tally(order: &[u64]) -> Tally {
    let mut tally = Tally::default();
    for number in order {
        let found: &[(&str, Level, Option<u32>)] = match number {
            1 => &[("EMM-ALLOC-11", Level::Should, Some(9))],
            3 => &[("EMM-ALLOC-13", Level::Must, Some(5)), ("EMM-ALLOC-01", Level::Must, Some(7))],
            4 => &[("EMM-LEDGER-01", Level::Must, None)],
            5 => &[("EMM-DEFER-04", Level::Should, Some(2))],
            _ => &[],
        };
        tally.take(*number, 400, &judgement("emm/explored/x", found));
    }
    tally
}

#[test]
fn the_first_sequence_that_breaks_a_must_counts_in_whatever_order_they_come() {
    let broken = |requirement: &str, level, sequence| Broken {
        requirement: requirement.to_owned(),
        level,
        sequence,
    };
    let expected =
        [broken("EMM-ALLOC-13", Level::Must, 3), broken("EMM-ALLOC-11", Level::Should, 1)];
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [4, 0, 5, 1, 3, 2]] {
        let tally = tally(&order);
        assert_eq!(tally.end(), Some(3), "{order:?}");
        assert_eq!(tally.broken(), expected, "{order:?}");
        assert_eq!((tally.operations, tally.sequences, tally.unseen), (2400, 6, 0));
    }
}

/// A request that fails breaks what is only said of memory, too.
#[test]
fn what_follows_a_violation_is_no_finding_of_its_own() {
    let mut tally = Tally::default();
    let found = [("EMM-ALLOC-11", Level::Should, Some(5)), ("EMM-ALLOC-01", Level::Must, Some(5))];
    tally.take(0, 400, &judgement("emm/explored/x", &found));
    assert_eq!(tally.broken().len(), 1);
}

#[test]
fn a_record_that_is_worthless_finds_nothing_and_is_counted() {
    let mut tally = Tally::default();
    let found = judgement("emm/explored/x", &[("EMM-ALLOC-01", Level::Must, Some(5))]);
    let lost = Judgement {
        verdict: Verdict::HarnessError { message: "the worker is gone".to_owned() },
        ..found
    };
    tally.take(0, 400, &lost);
    assert_eq!(
        (tally.broken().len(), tally.unseen, tally.reason.as_deref()),
        (0, 1, Some("the worker is gone"))
    );
}

#[test]
fn a_capability_that_is_declined_is_known() {
    let declines = |operation: &str| {
        let operation = operation.to_owned();
        let reason = Reason::Declined { step: 3, operation, message: "not supported".to_owned() };
        declined(&Judgement {
            verdict: Verdict::NotApplicable { reason },
            ..judgement("emm/explored/x", &[])
        })
    };
    assert_eq!(declines("get_memory_info"), Some(Need::MemoryInfo));
    assert_eq!(declines("get_ipc_handle"), Some(Need::Ipc));
    assert_eq!(declines("mempin"), Some(Need::HostMemory));
    assert_eq!(declined(&judgement("emm/explored/x", &[])), None);
}
