//! What each pair is asked: cases that are planned here, because no fixture has two subjects.

use allocert_requirements::{Catalogue, Side};
use serde_json::{Value, json};

use crate::nouns::Teardown;

use crate::expectation::Expectation;
use crate::operation::Operation;
use crate::plan::{Part, PlannedCase, PlannedStep};

/// The adapters' names, and what a step's `on` says.
pub(crate) const PRODUCER: &str = "producer";
pub(crate) const CONSUMER: &str = "consumer";
/// What a case demands of the consumer. The catalogue says which requirement stands for each; a
/// finding under it is the pair's.
const DATA: &str = "matrix.data";
const MASK: &str = "matrix.mask";
const FORWARD: &str = "matrix.forward_order";
const BACK: &str = "matrix.return_order";

/// One case without its libraries.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// `sliced`
    pub name: &'static str,
    pub about: &'static str,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
struct Step {
    on: &'static str,
    r#do: Value,
    label: Option<&'static str>,
    /// A demand and what it expects.
    expect: Option<(&'static str, Value)>,
}

impl Pattern {
    /// The case for one pair; `pair` tells it from those of the other pairs. What no requirement
    /// of the catalogue stands for is not expected.
    #[must_use]
    pub fn plan(&self, catalogue: &Catalogue, pair: &str) -> PlannedCase {
        let id = format!("{}/pair/{}/{pair}", Side::CaiConsumer, self.name);
        let planned = |part, step: &Step| planned(catalogue, part, step);
        let attach = planned(Part::Setup, &Step::new("m", json!({"attach": {"device": 0}})));
        let instantiate = [PRODUCER, CONSUMER]
            .map(|party| Step::new(party, json!({"instantiate": {"as": party}})));
        let mut steps = vec![attach];
        steps.extend(instantiate.iter().map(|step| planned(Part::Setup, step)));
        steps.extend(self.steps.iter().map(|step| planned(Part::Step, step)));
        let names: Vec<String> = steps[3..]
            .iter()
            .filter_map(|step| step.r#do.binds())
            .map(|(name, _)| name.to_owned())
            .collect();
        // The consumer lets go before the producer does.
        let drops = names.iter().rev().map(|name| Step::new("m", json!({"drop": {"name": name}})));
        steps.extend(drops.map(|step| planned(Part::Teardown, &step)));
        steps.push(planned(Part::Teardown, &Step::new("m", json!({"detach": {}}))));
        for (step, index) in steps.iter_mut().zip(0..) {
            step.index = index;
        }
        PlannedCase {
            file: id.clone(),
            id,
            about: self.about.to_owned(),
            side: Side::CaiConsumer,
            operations: Side::CaiConsumer,
            needs: Vec::new(),
            driver: Default::default(),
            teardown: Teardown::Clean,
            timeout_s: 60,
            steps,
            r#finally: Default::default(),
        }
    }
}

impl Step {
    fn new(on: &'static str, r#do: Value) -> Self {
        Self { on, r#do, label: None, expect: None }
    }

    fn labelled(self, label: &'static str) -> Self {
        Self { label: Some(label), ..self }
    }

    fn expect(self, demand: &'static str, expectation: Value) -> Self {
        Self { expect: Some((demand, expectation)), ..self }
    }
}

/// All cases, in the order of the report.
#[must_use]
pub fn patterns() -> Vec<Pattern> {
    [data(), refusals(), forward(), back()].concat()
}

/// Arrays on which no work is left: what the consumer reads is what the producer wrote.
fn data() -> Vec<Pattern> {
    let counting = |shape: &[u64]| json!({"shape": shape, "counting": true, "as": "a"});
    let with = |mut array: Value, key: &str, value: Value| {
        array[key] = value;
        vec![made(array)]
    };
    let derived = |shape: &[u64], way: &str, value: Value| {
        let mut array = counting(shape);
        array["as"] = json!("whole");
        let mut derive = json!({"of": "whole", "as": "a"});
        derive[way] = value;
        vec![made(array), Step::new(PRODUCER, json!({"derive": derive}))]
    };
    let slice = |axes: Value| derived(&[4, 6], "slice", axes);
    vec![
        read(
            "plain",
            "two rows of three numbers",
            vec![made(counting(&[2, 3]))],
            json!([0, 1, 2, 3, 4, 5]),
        ),
        read(
            "bytes",
            "eight bytes",
            with(counting(&[8]), "typestr", json!("|u1")),
            json!([0, 1, 2, 3, 4, 5, 6, 7]),
        ),
        read(
            "fortran",
            "rows and columns in Fortran's order",
            with(counting(&[2, 3]), "layout", json!("fortran")),
            json!([0, 1, 2, 3, 4, 5]),
        ),
        read(
            "sliced",
            "every other row and column",
            slice(json!([[null, null, 2], [1, 5, 2]])),
            json!([1, 3, 13, 15]),
        ),
        read(
            "reversed",
            "negative strides",
            derived(&[4], "slice", json!([[null, null, -1]])),
            json!([3, 2, 1, 0]),
        ),
        read(
            "transposed",
            "a transposed view",
            derived(&[2, 3], "transpose", json!(true)),
            json!([0, 3, 1, 4, 2, 5]),
        ),
        read(
            "broadcast",
            "one row twice, with a stride of 0",
            derived(&[3], "broadcast_to", json!([2, 3])),
            json!([0, 1, 2, 0, 1, 2]),
        ),
        read("zero-size", "no elements", vec![made(counting(&[0, 3]))], json!([])),
        read(
            "big-endian",
            "the other byte order",
            with(counting(&[4]), "typestr", json!(">f4")),
            json!([0, 1, 2, 3]),
        ),
        read(
            "managed",
            "managed memory",
            with(counting(&[4]), "memory", json!("managed")),
            json!([0, 1, 2, 3]),
        ),
        read(
            "read-only",
            "an array that may only be read",
            with(counting(&[4]), "read_only", json!(true)),
            json!([0, 1, 2, 3]),
        ),
    ]
}

/// What a consumer should refuse if it cannot obey it.
fn refusals() -> Vec<Pattern> {
    let mask = made(json!({"shape": [4], "typestr": "|b1", "counting": true, "as": "mask"}));
    let masked = made(json!({"shape": [4], "counting": true, "mask": "mask", "as": "a"}));
    let obeyed = json!({"valid": {"is": [false, true, false, true]}});
    let refused = import().expect(MASK, json!({"returns": obeyed, "raises": ["any"]}));
    vec![Pattern {
        name: "masked",
        about: "a mask, obeyed or refused",
        steps: vec![mask, masked, refused],
    }]
}

/// The producer's work is still pending when the consumer is given the array.
fn forward() -> Vec<Pattern> {
    let after = |use_: Step| {
        use_.expect(
            FORWARD,
            json!({"returns": {"uniform": {"is": 7}}, "ordered": {"after": "work"}}),
        )
    };
    let launched =
        || launch().expect(FORWARD, json!({"returns": {}, "ordered": {"after": "work"}}));
    let on_stream = |rest: Vec<Step>| [vec![stream(), on_stream(), work("s", 7)], rest].concat();
    let by_default = |rest: Vec<Step>| [vec![zeros(), work_by_default(7)], rest].concat();
    vec![
        Pattern {
            name: "pending",
            about: "work is pending on a stream of the producer's",
            steps: on_stream(vec![import(), after(access())]),
        },
        Pattern {
            name: "pending-default",
            about: "work is pending where the producer works by default",
            steps: by_default(vec![import(), after(access())]),
        },
        Pattern {
            name: "launch",
            about: "work is pending on a stream, and a kernel is given the array",
            steps: on_stream(vec![launched()]),
        },
        Pattern {
            name: "launch-default",
            about: "work is pending by default, and a kernel is given the array",
            steps: by_default(vec![launched()]),
        },
    ]
}

/// The producer goes on as soon as control has come back to it.
fn back() -> Vec<Pattern> {
    let next = || work("s", 9).expect(BACK, json!({"returns": {}, "ordered": {"after": "use"}}));
    let next_by_default =
        || work_by_default(9).expect(BACK, json!({"returns": {}, "ordered": {"after": "use"}}));
    let write = || Step::new(CONSUMER, json!({"access": {"on": "i", "write": 5}}));
    let with_stream = |rest: Vec<Step>| [vec![stream(), on_stream()], rest].concat();
    vec![
        Pattern {
            name: "next-after-read",
            about: "the producer writes after the consumer has read",
            steps: with_stream(vec![import(), access().labelled("use"), next()]),
        },
        Pattern {
            name: "next-after-write",
            about: "the producer writes after the consumer has written",
            steps: with_stream(vec![import(), write().labelled("use"), next()]),
        },
        Pattern {
            name: "next-after-write-default",
            about: "the producer writes after the consumer has written, both by default",
            steps: vec![zeros(), import(), write().labelled("use"), next_by_default()],
        },
        Pattern {
            name: "next-after-launch",
            about: "the producer writes after the consumer's kernel",
            steps: with_stream(vec![launch().labelled("use"), next()]),
        },
    ]
}

fn read(name: &'static str, about: &'static str, mut steps: Vec<Step>, values: Value) -> Pattern {
    steps.push(import());
    steps.push(access().expect(DATA, json!({"returns": {"values": {"is": values}}})));
    Pattern { name, about, steps }
}

fn made(array: Value) -> Step {
    Step::new(PRODUCER, json!({"array": array}))
}

/// Thirty-two bytes, all 0: the type that every library has.
fn zeros() -> Step {
    made(json!({"shape": [32], "typestr": "|u1", "as": "a"}))
}

fn on_stream() -> Step {
    made(json!({"shape": [32], "typestr": "|u1", "stream": "s", "as": "a"}))
}

fn stream() -> Step {
    Step::new(PRODUCER, json!({"subject_stream": {"kind": "new", "as": "s"}}))
}

fn work(stream: &str, byte: u8) -> Step {
    Step::new(PRODUCER, json!({"work": {"on": "a", "stream": stream, "byte": byte}}))
        .labelled("work")
}

fn work_by_default(byte: u8) -> Step {
    Step::new(PRODUCER, json!({"work": {"on": "a", "byte": byte}})).labelled("work")
}

fn import() -> Step {
    Step::new(CONSUMER, json!({"import": {"of": "a", "as": "i"}}))
}

fn access() -> Step {
    Step::new(CONSUMER, json!({"access": {"on": "i"}}))
}

fn launch() -> Step {
    Step::new(CONSUMER, json!({"launch": {"on": ["a"]}}))
}

fn planned(catalogue: &Catalogue, part: Part, step: &Step) -> PlannedStep {
    let operation: Operation =
        serde_json::from_value(step.r#do.clone()).expect("an operation of the table above");
    let expect = step.expect.iter().filter_map(|(demand, expectation)| {
        let requirement = catalogue.by_demand(Side::CaiConsumer, demand)?;
        let read: Expectation =
            serde_json::from_value(expectation.clone()).expect("an expectation of the table above");
        Some((requirement.id.as_str().into(), read))
    });
    PlannedStep {
        index: 0,
        r#do: operation,
        on: step.on.into(),
        thread: None,
        label: step.label.map(str::to_owned),
        expect: expect.collect(),
        part,
        line: 1,
    }
}
