//! Which findings count.

use allocert_explore::{BrokenRequirement, Summary, declined};
use allocert_suite::Level;
use allocert_suite::nouns::Need;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};

use crate::{judgement, requirements};

fn summary_of(order: &[u64]) -> Summary {
    let mut summary = Summary::new(&requirements());
    for number in order {
        let found: &[(&str, Level, Option<u32>)] = match number {
            1 => &[("EMM-ALLOC-11", Level::Should, Some(9))],
            3 => &[("EMM-ALLOC-13", Level::Must, Some(5)), ("EMM-ALLOC-01", Level::Must, Some(7))],
            4 => &[("EMM-LEDGER-01", Level::Must, None)],
            5 => &[("EMM-DEFER-04", Level::Should, Some(2))],
            _ => &[],
        };
        summary.add(*number, 400, &judgement("emm/explored/x", found));
    }
    summary
}

#[test]
fn the_first_sequence_that_breaks_a_must_counts_in_whatever_order_they_come() {
    let broken = |requirement: &str, level, sequence| BrokenRequirement {
        requirement: requirement.to_owned(),
        level,
        sequence,
    };
    let violation = broken("EMM-ALLOC-13", Level::Must, 3);
    let warnings = [broken("EMM-ALLOC-11", Level::Should, 1)];
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [4, 0, 5, 1, 3, 2]] {
        let summary = summary_of(&order);
        assert_eq!(summary.violation(), Some(&violation), "{order:?}");
        assert_eq!(summary.warnings(), warnings, "{order:?}");
        assert_eq!((summary.operations, summary.sequences, summary.incomplete), (2400, 6, 0));
    }
}

#[test]
fn a_violation_that_is_forgotten_gives_way_to_the_next_one() {
    let mut summary = summary_of(&[0, 1, 2, 3, 4, 5]);
    for requirement in ["EMM-ALLOC-13", "EMM-LEDGER-01"] {
        let violation = summary.violation().cloned().expect("two sequences violate");
        assert_eq!(violation.requirement, requirement);
        summary.forget(&violation);
    }
    assert_eq!(summary.violation(), None);
    assert_eq!(summary.warnings().len(), 2, "none is over");
}

/// A request that fails breaks what is only said of memory, too.
#[test]
fn what_follows_a_violation_is_no_finding_of_its_own() {
    let mut summary = Summary::new(&requirements());
    let found = [("EMM-ALLOC-11", Level::Should, Some(5)), ("EMM-ALLOC-01", Level::Must, Some(5))];
    summary.add(0, 400, &judgement("emm/explored/x", &found));
    assert!(summary.violation().is_some());
    assert_eq!(summary.warnings(), []);
}

#[test]
fn a_record_that_is_worthless_finds_nothing_and_is_counted() {
    let mut summary = Summary::new(&requirements());
    let found = judgement("emm/explored/x", &[("EMM-ALLOC-01", Level::Must, Some(5))]);
    let lost = Judgement {
        verdict: Verdict::HarnessError { message: "the worker is gone".to_owned() },
        ..found
    };
    summary.add(0, 400, &lost);
    assert_eq!(
        (summary.violation(), summary.worthless, summary.incomplete, summary.reason.as_deref()),
        (None, 1, 1, Some("the worker is gone"))
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
