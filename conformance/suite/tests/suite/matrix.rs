//! The matrix of producers and consumers: its cases, their results, and its two formats.

use std::collections::BTreeSet;

use allocert_requirements::Role;
use allocert_suite::matrix::{Cell, Exchange, Library, Matrix, Missing, Pattern, State, patterns};
use allocert_suite::observation::{Ending, Outcome, Raised};
use allocert_suite::offer::Driver;
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::{Catalogue, judge};
use rstest::rstest;
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::observation_builder::Recorder;
use crate::trace_builder::{A, B, E, X, after, fill, non_blocking, record, two, wait};

fn pattern(name: &str) -> Pattern {
    patterns().into_iter().find(|one| one.name == name).expect("a case of the matrix")
}

#[test]
fn each_step_is_one_librarys_and_each_label_is_an_earlier_steps() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|refusals| panic!("{refusals:#?}"));
    let cases: Vec<PlannedCase> =
        patterns().iter().map(|one| one.plan(&catalogue, "a+b")).collect();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len());
    for case in &cases {
        let mut labels = BTreeSet::new();
        for (index, step) in case.steps.iter().enumerate() {
            assert_eq!(step.index as usize, index);
            if step.part == Part::Step {
                assert!(
                    ["producer", "consumer"].contains(&step.on.as_str()),
                    "{}: {}",
                    case.id,
                    step.on
                );
            }
            let after = step.expect.values().filter_map(|one| one.ordered.as_ref());
            assert!(after.into_iter().all(|one| labels.contains(&one.after)), "{}", case.id);
            labels.extend(step.label.clone());
        }
        assert!(case.requirements().next().is_some(), "{} expects nothing", case.id);
        for id in case.requirements() {
            let requirement =
                catalogue.get(id).unwrap_or_else(|| panic!("{}: there is no {id}", case.id));
            assert_eq!(requirement.role, Role::Consumer, "{}: {id}", case.id);
        }
    }
}

/// The state of a case whose own steps went like this; they begin after attach and two adapters.
fn seen(name: &str, steps: impl FnOnce(Recorder) -> Recorder) -> (State, String) {
    let catalogue = Catalogue::embedded().unwrap_or_else(|refusals| panic!("{refusals:#?}"));
    let recorder = steps(Recorder::new(pattern(name).plan(&catalogue, "a+b")).step(&[], json!({})));
    let judgement = judge::judge(&catalogue, &recorder.case, &recorder.seen);
    let exchange = Exchange::of(name, &recorder.case, &recorder.seen, &judgement);
    (exchange.state, exchange.text)
}

fn raised(class: &str, message: &str) -> Raised {
    Raised {
        r#type: class.to_owned(),
        bases: [class.to_owned()].into(),
        message: message.to_owned(),
        ..Raised::default()
    }
}

#[rstest]
#[case(json!([0, 1, 2, 3, 4, 5]), State::Exchanges)]
#[case(json!([0, 2, 4, 1, 3, 5]), State::Misreads)]
fn data_are_compared(#[case] values: Value, #[case] state: State) {
    let read = |recorder: Recorder| {
        recorder
            .step(&[], json!({}))
            .step(&[], json!({}))
            .step(&[], json!({"values": values}))
            .rest()
    };
    assert_eq!(seen("plain", read).0, state);
}

#[test]
fn errors_are_the_librarys_that_raised_them() {
    let declined = |because: &str| Outcome::Declined { because: because.to_owned() };
    let (state, text) =
        seen("plain", |recorder| recorder.outcome(&[], declined("no such array")).rest());
    assert_eq!((state, text.as_str()), (State::Unavailable, "producer: no such array"));
    let refused = raised("BufferError", "only version 3");
    let (state, text) =
        seen("plain", |recorder| recorder.step(&[], json!({})).raise(&[], refused).rest());
    assert_eq!(
        (state, text.as_str()),
        (State::Refuses, "import of the consumer raised BufferError: only version 3")
    );
    let unable = raised("NotImplementedError", "immutable");
    let write = |recorder: Recorder| {
        let made = recorder.step(&[], json!({})).step(&[], json!({})).step(&[], json!({}));
        made.raise(&[], unable).rest()
    };
    assert_eq!(
        seen("next-after-write", write),
        (State::Unavailable, "consumer: immutable".to_owned())
    );
    let write = |recorder: Recorder| {
        let made = recorder.step(&[], json!({})).step(&[], json!({})).step(&[], json!({}));
        made.raise(&[], raised("ValueError", "read-only")).rest()
    };
    assert_eq!(seen("next-after-write", write).0, State::Refuses, "read-only data are not written");
    let read = |recorder: Recorder| {
        let taken = recorder.step(&[], json!({})).step(&[], json!({}));
        taken.raise(&[], raised("CudaAPIError", "invalid value")).rest()
    };
    assert_eq!(seen("plain", read).0, State::Misreads, "what was taken cannot be read");
    let takes = |facts: Value| {
        seen("masked", |recorder| {
            recorder.step(&[], json!({})).step(&[], json!({})).step(&[], facts).rest()
        })
        .0
    };
    assert_eq!(
        takes(json!({"valid": null})),
        State::Misreads,
        "a mask that is neither obeyed nor refused"
    );
    assert_eq!(takes(json!({})), State::Unseen, "nobody says what became of the mask");
}

#[test]
fn a_crash_is_a_state_like_others() {
    let dies = |recorder: Recorder| recorder.step(&[], json!({})).dies(&[], Ending::Signal(11));
    let (state, text) = seen("plain", dies);
    assert_eq!(state, State::Crashes, "{text}");
    assert!(text.contains("signal 11"), "{text}");
}

/// In a stream of the producer's the work, in one of the consumer's the access.
#[rstest]
#[case::forward("pending", State::RacesForward)]
#[case::back("next-after-write", State::RacesBack)]
fn order_is_judged(#[case] name: &str, #[case] race: State) {
    let exchange = |edge: bool| {
        seen(name, |recorder| {
            let first = after(two(non_blocking), vec![fill(X, A), record(E, A)]);
            let then = vec![wait(B, E).when(edge), fill(X, B)];
            let made = recorder.does(vec![], json!({})).does(vec![], json!({}));
            let facts = json!({"uniform": 7});
            match name {
                "pending" => {
                    made.does(first, json!({})).does(vec![], json!({})).does(then, facts).rest()
                }
                _ => made.does(vec![], json!({})).does(first, json!({})).does(then, facts).rest(),
            }
        })
    };
    assert_eq!(exchange(true), (State::Exchanges, String::new()));
    let (state, text) = exchange(false);
    assert_eq!(state, race, "{text}");
    assert!(text.contains("nothing orders the two; expected: "), "{text}");
}

#[test]
fn what_the_trace_does_not_show_is_not_called_an_exchange() {
    let silent = |recorder: Recorder| {
        let pending = recorder
            .step(&[], json!({}))
            .step(&[], json!({}))
            .step(&[], json!({}))
            .step(&[], json!({}));
        pending.step(&[], json!({"uniform": 7})).rest()
    };
    let (state, text) = seen("pending", silent);
    assert_eq!(state, State::Unseen, "{text}");
}

fn exchange(case: &str, state: State, text: &str) -> Exchange {
    Exchange { case: case.to_owned(), about: format!("about {case}"), state, text: text.to_owned() }
}

/// Two producers, two consumers; one of them says things that would be markup.
fn made_up() -> Matrix {
    let library = |adapter: &str, version: &str| Library {
        adapter: adapter.to_owned(),
        version: version.to_owned(),
    };
    let well = || exchange("plain", State::Exchanges, "");
    let hostile = "<script>alert('1')</script> | `a` [b](c) & \"d\" \u{1b}[31m\n\u{202e}";
    Matrix {
        allocert: "0.1.0".to_owned(),
        driver: Driver::Sim,
        date: "2026-11-21".to_owned(),
        producers: vec![library("one:Producer", "one 1.0"), library("two:Producer", hostile)],
        consumers: vec![library("one:Consumer", "one 1.0"), library("three:Consumer", "")],
        pairs: vec![
            vec![
                vec![
                    well(),
                    exchange("sliced", State::Exchanges, ""),
                    exchange("masked", State::Unavailable, "no masks"),
                ],
                vec![
                    well(),
                    exchange("pending", State::RacesForward, "#1 writes, #2 reads"),
                    exchange("next", State::RacesBack, "#3 reads, #4 writes"),
                ],
            ],
            vec![
                vec![
                    exchange("plain", State::Refuses, hostile),
                    exchange("sliced", State::Refuses, hostile),
                    exchange("masked", State::Misreads, "it returned"),
                ],
                vec![Exchange::broken(
                    State::Crashes,
                    "the worker was ended by signal 11".to_owned(),
                )],
            ],
        ],
        missing: vec![Missing {
            adapter: "four".to_owned(),
            reason: "no module named `four` <b>".to_owned(),
        }],
    }
}

#[test]
fn the_matrix_as_markdown() {
    insta::assert_snapshot!(made_up().markdown());
}

#[test]
fn the_matrix_as_a_page() {
    let page = made_up().html();
    let (_, after_style) = page.split_once("</style>").expect("a page has its style with it");
    insta::assert_snapshot!(after_style);
    for forbidden in
        ["<script", "http://", "https://", "url(", "@import", " onclick", "\u{1b}", "\u{202e}"]
    {
        assert!(!page.contains(forbidden), "the page has {forbidden:?}");
    }
}

#[test]
fn a_cell_shows_the_worst() {
    let cell =
        Cell::of(&[exchange("a", State::Exchanges, ""), exchange("b", State::RacesBack, "")]);
    assert_eq!(
        (cell.state, cell.words().as_str()),
        (State::RacesBack, "races back: 1, exchanges: 1")
    );
    assert_eq!(Cell::of(&[]).state, State::Unavailable);
    let letters: BTreeSet<char> = State::VARIANTS.iter().copied().map(State::letter).collect();
    assert_eq!(letters.len(), State::VARIANTS.len());
}
