//! What is written can be read, and means the same.

use allocert_explore::write_fixture::{self, Origin};
use allocert_suite::fixture::plan_file;

use crate::{catalogue, exploration, handler_exploration, sent_and_expected};

fn origin() -> Origin {
    Origin {
        subject: "./lib my\npool.so".to_owned(),
        abi: None,
        seed: 3,
        ops: 20_000,
        version: "0.1.0".to_owned(),
    }
}

/// Every step that can be drawn survives being written, in every sequence with all that it expects.
#[test]
fn every_sequence_can_be_written_and_read_again() {
    let catalogue = catalogue();
    let listed = catalogue.get("EMM-DEFER-04").expect("it is listed");
    // Of each machine, with one manager and with several, and one that ends as a program ends.
    let exploration = exploration(3, 20_000);
    for number in [0, 1, 7, 8, 9, 16] {
        let sequence = exploration.sequence(number);
        let text = write_fixture::text(&sequence, listed, "some-name", &origin());
        let read = plan_file("cases/emm/explored/some-name.yaml", &text, &catalogue);
        let read = read.unwrap_or_else(|refusal| panic!("sequence {number}:\n{refusal}"));
        let meant = sequence.planned("emm/explored/some-name", "x");
        assert_eq!(read.len(), 1);
        assert_eq!(sent_and_expected(&read[0]), sent_and_expected(&meant), "sequence {number}");
        assert_eq!(
            (&read[0].needs, &read[0].driver, read[0].teardown),
            (&meant.needs, &meant.driver, meant.teardown)
        );
    }
}

/// The same for a side without a driver.
#[test]
fn every_sequence_of_a_handler_can_be_written_and_read_again() {
    let catalogue = catalogue();
    let listed = catalogue.get("NEP49-REALLOC-01").expect("it is listed");
    let exploration = handler_exploration(3, 20_000);
    for number in [0, 1, 7, 8] {
        let sequence = exploration.sequence(number);
        let text = write_fixture::text(&sequence, listed, "some-name", &origin());
        let read = plan_file("cases/nep49/explored/some-name.yaml", &text, &catalogue);
        let read = read.unwrap_or_else(|refusal| panic!("sequence {number}:\n{refusal}"));
        let meant = sequence.planned("nep49/explored/some-name", "x");
        assert_eq!(sent_and_expected(&read[0]), sent_and_expected(&meant), "sequence {number}");
        assert_eq!((&read[0].needs, read[0].teardown), (&meant.needs, meant.teardown));
    }
}

#[test]
fn a_fixture_says_where_it_came_from() {
    let catalogue = catalogue();
    let listed = catalogue.get("EMM-ALLOC-13").expect("it is listed");
    let text = write_fixture::text(
        &exploration(3, 6).sequence(0),
        listed,
        "emm-alloc-13-seed-3",
        &origin(),
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    assert_eq!(write_fixture::name("EMM-ALLOC-13", 7, 0), "emm-alloc-13-seed-7");
    assert_eq!(write_fixture::name("EMM-ALLOC-13", 7, 1), "emm-alloc-13-seed-7-2");
}
