//! What a producer of arrays gives to a consumer in the matrix of libraries.

use allocert_requirements::Side;
use serde_json::{Value, json};

use crate::interface::exchange::{
    CONSUMER, ExchangeDefinition, ExchangePattern, ExchangeStep, HARNESS, PRODUCER,
};

/// What a case demands of the consumer. The catalogue names the requirement of each.
const DATA: &str = "matrix.data";
const MASK: &str = "matrix.mask";
const FORWARD: &str = "matrix.forward_order";
const BACK: &str = "matrix.return_order";

pub(super) const EXCHANGE: ExchangeDefinition = ExchangeDefinition {
    producer: Side::CaiProducer,
    consumer: Side::CaiConsumer,
    setup,
    teardown,
    patterns,
};

fn setup() -> Vec<ExchangeStep> {
    let adapters = [PRODUCER, CONSUMER]
        .map(|role| ExchangeStep::new(role, json!({"instantiate": {"as": role}})));
    let attach = ExchangeStep::new(HARNESS, json!({"attach": {"device": 0}}));
    [attach].into_iter().chain(adapters).collect()
}

fn teardown(names: &[String]) -> Vec<ExchangeStep> {
    // The consumer drops what it took before the producer drops what it made.
    let drops = names.iter().rev().map(|name| json!({"drop": {"name": name}}));
    drops.chain([json!({"detach": {}})]).map(|r#do| ExchangeStep::new(HARNESS, r#do)).collect()
}

/// All cases, in the order of the report.
fn patterns() -> Vec<ExchangePattern> {
    [data(), refusals(), forward(), back()].concat()
}

/// Arrays without pending work: the consumer reads what the producer wrote.
fn data() -> Vec<ExchangePattern> {
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
        vec![made(array), ExchangeStep::new(PRODUCER, json!({"derive": derive}))]
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

/// A mask: the consumer obeys it or refuses the array.
fn refusals() -> Vec<ExchangePattern> {
    let mask = made(json!({"shape": [4], "typestr": "|b1", "counting": true, "as": "mask"}));
    let masked = made(json!({"shape": [4], "counting": true, "mask": "mask", "as": "a"}));
    let obeyed = json!({"valid": {"is": [false, true, false, true]}});
    let refused = import().expect(MASK, json!({"returns": obeyed, "raises": ["any"]}));
    vec![ExchangePattern {
        name: "masked",
        about: "a mask, obeyed or refused",
        steps: vec![mask, masked, refused],
    }]
}

/// The consumer gets the array while work of the producer is pending.
fn forward() -> Vec<ExchangePattern> {
    let after = |use_: ExchangeStep| {
        use_.expect(
            FORWARD,
            json!({"returns": {"uniform": {"is": 7}}, "ordered": {"after": "work"}}),
        )
    };
    let launched =
        || launch().expect(FORWARD, json!({"returns": {}, "ordered": {"after": "work"}}));
    let on_stream =
        |rest: Vec<ExchangeStep>| [vec![stream(), on_stream(), work("s", 7)], rest].concat();
    let by_default = |rest: Vec<ExchangeStep>| [vec![zeros(), work_by_default(7)], rest].concat();
    vec![
        ExchangePattern {
            name: "pending",
            about: "work is pending on a stream of the producer's",
            steps: on_stream(vec![import(), after(access())]),
        },
        ExchangePattern {
            name: "pending-default",
            about: "work is pending where the producer works by default",
            steps: by_default(vec![import(), after(access())]),
        },
        ExchangePattern {
            name: "launch",
            about: "work is pending on a stream, and a kernel is given the array",
            steps: on_stream(vec![launched()]),
        },
        ExchangePattern {
            name: "launch-default",
            about: "work is pending by default, and a kernel is given the array",
            steps: by_default(vec![launched()]),
        },
    ]
}

/// The producer writes again as soon as the consumer's call has returned.
fn back() -> Vec<ExchangePattern> {
    let next = || work("s", 9).expect(BACK, json!({"returns": {}, "ordered": {"after": "use"}}));
    let next_by_default =
        || work_by_default(9).expect(BACK, json!({"returns": {}, "ordered": {"after": "use"}}));
    let write = || ExchangeStep::new(CONSUMER, json!({"access": {"on": "i", "write": 5}}));
    let with_stream = |rest: Vec<ExchangeStep>| [vec![stream(), on_stream()], rest].concat();
    vec![
        ExchangePattern {
            name: "next-after-read",
            about: "the producer writes after the consumer has read",
            steps: with_stream(vec![import(), access().labelled("use"), next()]),
        },
        ExchangePattern {
            name: "next-after-write",
            about: "the producer writes after the consumer has written",
            steps: with_stream(vec![import(), write().labelled("use"), next()]),
        },
        ExchangePattern {
            name: "next-after-write-default",
            about: "the producer writes after the consumer has written, both by default",
            steps: vec![zeros(), import(), write().labelled("use"), next_by_default()],
        },
        ExchangePattern {
            name: "next-after-launch",
            about: "the producer writes after the consumer's kernel",
            steps: with_stream(vec![launch().labelled("use"), next()]),
        },
    ]
}

fn read(
    name: &'static str,
    about: &'static str,
    mut steps: Vec<ExchangeStep>,
    values: Value,
) -> ExchangePattern {
    steps.push(import());
    steps.push(access().expect(DATA, json!({"returns": {"values": {"is": values}}})));
    ExchangePattern { name, about, steps }
}

fn made(array: Value) -> ExchangeStep {
    ExchangeStep::new(PRODUCER, json!({"array": array}))
}

/// Thirty-two bytes, all 0: every library has arrays of bytes.
fn zeros() -> ExchangeStep {
    made(json!({"shape": [32], "typestr": "|u1", "as": "a"}))
}

fn on_stream() -> ExchangeStep {
    made(json!({"shape": [32], "typestr": "|u1", "stream": "s", "as": "a"}))
}

fn stream() -> ExchangeStep {
    ExchangeStep::new(PRODUCER, json!({"subject_stream": {"kind": "new", "as": "s"}}))
}

fn work(stream: &str, byte: u8) -> ExchangeStep {
    ExchangeStep::new(PRODUCER, json!({"work": {"on": "a", "stream": stream, "byte": byte}}))
        .labelled("work")
}

fn work_by_default(byte: u8) -> ExchangeStep {
    ExchangeStep::new(PRODUCER, json!({"work": {"on": "a", "byte": byte}})).labelled("work")
}

fn import() -> ExchangeStep {
    ExchangeStep::new(CONSUMER, json!({"import": {"of": "a", "as": "i"}}))
}

fn access() -> ExchangeStep {
    ExchangeStep::new(CONSUMER, json!({"access": {"on": "i"}}))
}

fn launch() -> ExchangeStep {
    ExchangeStep::new(CONSUMER, json!({"launch": {"on": ["a"]}}))
}
