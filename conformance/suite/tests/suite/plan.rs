//! The planned cases of a fixture: with the steps of setup and teardown, one for each combination
//! of axes.

use allocert_suite::fixture;
use serde_json::json;

use crate::observation_builder::{case, catalogue};

fn script(rest: &str) -> Vec<String> {
    let planned = case(rest);
    let step = |step: &allocert_suite::plan::PlannedStep| {
        format!(
            "{} {} {}",
            step.index,
            serde_json::to_string(&step.r#do).expect("plain data"),
            step.on
        )
    };
    planned.steps.iter().map(step).collect()
}

#[test]
fn a_manager_case_drops_in_order_of_birth_then_resets_and_destroys() {
    insta::assert_snapshot!(script(
        "steps:\n  - do: {memalloc: {size: 64, as: a}}\n  - do: {create: {as: n, device: 1}}\n  \
         - do: {memalloc: {size: 64, as: b}}\n    on: n\n  \
         - do: {memalloc: {size: 8, as: c}}\n  - do: {drop: {name: a}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n"
    ).join("\n"), @r#"
    0 {"attach":{"device":0}} m
    1 {"create":{"as":"m","device":0}} m
    2 {"memalloc":{"size":64,"as":"a"}} m
    3 {"create":{"as":"n","device":1}} m
    4 {"memalloc":{"size":64,"as":"b"}} n
    5 {"memalloc":{"size":8,"as":"c"}} m
    6 {"drop":{"name":"a"}} m
    7 {"drop":{"name":"b"}} n
    8 {"drop":{"name":"c"}} m
    9 {"reset":{}} m
    10 {"destroy":{}} m
    11 {"reset":{}} n
    12 {"destroy":{}} n
    13 {"detach":{}} m
    "#);
}

#[test]
fn a_host_case_registers_and_closes() {
    insta::assert_snapshot!(script(
        "operations: emm-host\nsteps:\n  - do: {device_array: {size: 64, as: a}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n"
    ).join("\n"), @r#"
    0 {"register":{}} m
    1 {"device_array":{"size":64,"as":"a"}} m
    2 {"drop":{"name":"a"}} m
    3 {"close":{}} m
    "#);
}

#[test]
fn the_wire_form_expects_nothing() {
    let planned = case(
        "teardown: exit\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    thread: fresh\n    \
         expect: {EMM-T-01: {returns: {}}}\n",
    );
    let wire = serde_json::to_value(planned.wire()).expect("plain data");
    assert_eq!(
        wire,
        json!({
            "id": "emm/test/case",
            "side": "emm",
            "operations": "emm",
            "driver": {},
            "ending": "exit",
            "steps": [
                {"index": 0, "do": {"attach": {"device": 0}}, "on": "m"},
                {"index": 1, "do": {"create": {"as": "m", "device": 0}}, "on": "m"},
                {
                    "index": 2,
                    "do": {"memalloc": {"size": 64, "as": "a"}},
                    "on": "m",
                    "thread": "fresh",
                },
            ],
        })
    );
}

#[test]
fn axes_multiply_in_the_order_of_the_file() {
    let text = "# Axes.\ncase: emm/test/axes\nabout: a test\naxes:\n  size: [1, 255]\n  \
        mapped: [true, false]\nsteps:\n  \
        - do: {memhostalloc: {size: $size, mapped: $mapped, as: a}}\n    \
        expect: {EMM-T-01: {returns: {size_bytes: {is: $size}}}}\n";
    let planned =
        fixture::plan_file("cases/emm/test/axes.yaml", text, &catalogue()).expect("well formed");
    let ids: Vec<&str> = planned.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "emm/test/axes/size:1/mapped:true",
            "emm/test/axes/size:1/mapped:false",
            "emm/test/axes/size:255/mapped:true",
            "emm/test/axes/size:255/mapped:false",
        ]
    );
    assert_eq!(planned[2].steps[2].line, 8, "lines stay where they are");
}
