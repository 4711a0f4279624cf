//! Expectations on the calls of a host into its plugin: their number, their order among driver
//! calls, and their arguments.

use allocert_contract::trace::{Function, Marker, What, cuda, plugin};
use allocert_suite::observation::StepOutcome;
use rstest::rstest;
use serde_json::{Value, json};

use crate::observation_builder::{Recorder, alloc, call, case_of};

/// An array whose memory is asked of the plugin, as call 1 and, at its end, as call 2; then a
/// driver call of the host.
fn host(expect: &str) -> Recorder {
    let text = format!(
        "teardown: none\nsteps:\n  - do: {{device_array: {{size: 64, as: a}}}}\n    \
         expect: {expect}\n"
    );
    let case = case_of("emm-host", &text).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut recorder = Recorder::bare(case).step(&[], json!({}));
    recorder.marker(Marker::StepBegin { step: 1 });
    into_plugin(&mut recorder, 1, plugin::Function::Initialize);
    into_plugin(&mut recorder, 2, plugin::Function::Memalloc);
    recorder.event(What::Call(call(cuda::Function::cuStreamSynchronize, &[], &[], 0)));
    recorder.marker(Marker::StepEnd { step: 1 });
    let facts = |value: Value| serde_json::from_value(value).expect("an object");
    let outcome =
        serde_json::from_value(json!({"returned": {"size_bytes": 64, "pointer": 0x1000}}))
            .expect("an outcome");
    let plugin_calls = vec![
        facts(json!({"number": 1})),
        facts(json!({"number": 2, "size_bytes": 64, "pointer": 0x1000})),
    ];
    recorder.seen.steps.push(StepOutcome { index: 1, outcome, plugin_calls, table_calls: None });
    recorder.rest()
}

fn into_plugin(recorder: &mut Recorder, number: u64, function: plugin::Function) {
    recorder.event(What::Call(call(Function::Plugin(function), &[number, 1, 64], &[], 0)));
    recorder.marker(Marker::HarnessBegin);
    recorder.event(What::Call(alloc(0x1000 * number, 64)));
    recorder.marker(Marker::HarnessEnd);
}

#[rstest]
#[case::counted("{count: {memalloc: 1, initialize: 1}}", false)]
#[case::miscounted("{count: {memalloc: 2}}", true)]
#[case::none("{none_of: [memhostalloc, reset]}", false)]
#[case::one_of_none("{none_of: [memalloc]}", true)]
#[case::named_with_its_boundary(
    "{count: {plugin.memalloc: 1, cuda.cuStreamSynchronize: 1}}",
    false
)]
#[case::ordered("{in_order: [initialize, memalloc, cuStreamSynchronize]}", false)]
#[case::disordered("{in_order: [memalloc, initialize]}", true)]
#[case::after_the_driver_call("{in_order: [cuStreamSynchronize, memalloc]}", true)]
#[case::the_plugins_own_driver_calls("{none_of: [cuMemAlloc]}", false)]
#[case::with("{with: {memalloc: {size_bytes: {is: 64}}}}", false)]
#[case::with_the_same("{with: {memalloc: {pointer: {same_as: a.pointer}}}}", false)]
#[case::with_another_size("{with: {memalloc: {size_bytes: {is: 65}}}}", true)]
#[case::with_a_fact_that_is_not_there("{with: {initialize: {device: {is: 0}}}}", true)]
#[case::with_of_no_call("{with: {memhostalloc: {size_bytes: {is: 64}}}}", true)]
#[case::only("{only: {memalloc: {size_bytes: {is: 64}}}, count: {memalloc: 1}}", false)]
#[case::only_of_another_size(
    "{only: {memalloc: {size_bytes: {is: 65}}}, count: {memalloc: 1}}",
    true
)]
#[case::only_leaves_other_functions(
    "{only: {memalloc: {size_bytes: {is: 65}}}, count: {memalloc: 0, initialize: 1}}",
    false
)]
#[case::only_of_the_calls_that_are_looked_at(
    "{only: {memalloc: {size_bytes: {is: 65}}}, with: {memalloc: {pointer: {not: 0}}}}",
    true
)]
#[case::open("{open: {memalloc: reset}}", false)]
#[case::not_open("{open: {memalloc: initialize}}", true)]
#[case::never_opened("{open: {reset: initialize}}", true)]
fn calls_into_the_plugin_are_expected(#[case] calls: &str, #[case] broken: bool) {
    let recorder = host(&format!("{{EMM-T-03: {{calls: {calls}}}}}"));
    assert_eq!(recorder.found() == ["EMM-T-03"], broken, "{:?}", recorder.judged());
}

#[test]
fn a_host_that_has_a_plugin_allocates_nothing_itself() {
    let mut recorder = host("{EMM-T-03: {returns: {size_bytes: {is: 64}}}}");
    assert_eq!(recorder.found(), [""; 0]);
    recorder.event(What::Call(alloc(0x9000, 64)));
    assert_eq!(recorder.found(), ["EMM-T-04"]);
}

#[rstest]
#[case::plugin("emm", "memalloc", "there is no driver function `initialize`")]
#[case::misspelt("emm-host", "device_array", "there is no driver function `initialise`")]
fn what_no_host_can_show_is_refused(
    #[case] side: &str,
    #[case] operation: &str,
    #[case] message: &str,
) {
    let (name, id) =
        if side == "emm" { ("initialize", "EMM-T-01") } else { ("initialise", "EMM-T-03") };
    let text = format!(
        "steps:\n  - do: {{{operation}: {{size: 64, as: a}}}}\n    \
         expect: {{{id}: {{calls: {{count: {{{name}: 1}}}}}}}}\n"
    );
    assert_eq!(case_of(side, &text).expect_err("it cannot be seen").message, message);
}
