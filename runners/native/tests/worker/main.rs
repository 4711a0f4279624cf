//! The worker over real sockets: a C plugin that may lie, and the reference over the software
//! driver.
#![forbid(unsafe_code)]

mod harness;

use harness::{Worker, case, outcomes, plugin, threaded_handler};
use rstest::rstest;
use serde_json::{Value, json};

fn memalloc(name: &str) -> Value {
    json!({"memalloc": {"size": 4096, "as": name}})
}

#[rstest]
#[case("nowhere.so", "open", "nowhere.so: cannot be opened")]
#[case(&plugin("absent"), "symbol", "plugin.so: has no symbol `absent`")]
#[case(&plugin("nothing"), "table", "`nothing` answered no usable table: NULL")]
#[case(&plugin("stub"), "table", "its size is 8, too little for an interface_version")]
#[case(
    "reference:best",
    "symbol",
    "no reference manager `best`; there are pool, deferred and host-only"
)]
fn a_subject_that_cannot_run_is_refused(
    #[case] subject: &str,
    #[case] stage: &str,
    #[case] message: &str,
) {
    let line = Worker::start().load(subject);
    assert_eq!(line["refused"]["stage"], stage, "{line}");
    assert!(
        line["refused"]["message"].as_str().is_some_and(|text| text.contains(message)),
        "{line}"
    );
}

#[rstest]
#[case(&plugin("absent"), "symbol", "plugin.so: has no symbol `absent`")]
#[case(&plugin("nothing"), "table", "`nothing` answered no usable table: NULL")]
#[case(&plugin("stub"), "table", "its size is 8, too little for an interface_version")]
fn an_allocator_by_place_without_a_table_is_refused(
    #[case] subject: &str,
    #[case] stage: &str,
    #[case] message: &str,
) {
    let line = Worker::start().load_as("place", subject);
    assert_eq!(line["refused"]["stage"], stage, "{line}");
    let text = line["refused"]["message"].as_str().expect("a message");
    assert!(text.contains(message), "{text}");
}

#[test]
fn a_plugin_is_called_and_the_last_holder_releases() {
    let steps = [
        memalloc("a"),
        json!({"view": {"of": "a", "offset": 256, "size": 16, "as": "v"}}),
        json!({"drop": {"name": "a"}}),
        json!({"drop": {"name": "v"}}),
        json!({"drop": {"name": "v"}}),
        json!({"pickle": {"handle": "h"}}),
    ];
    let (outcomes, ended) = outcomes(&plugin("allocert_emm_plugin_v1"), &steps);
    let pointer = |at: usize| outcomes[at]["returned"]["pointer"].as_u64();
    assert_eq!(outcomes[0]["returned"]["kind"], "device");
    assert_eq!(outcomes[0]["returned"]["size_bytes"], 4096);
    assert_eq!(pointer(1), pointer(0).map(|pointer| pointer + 256));
    assert_eq!(outcomes[2], json!({"returned": {"finalized": false}}));
    assert_eq!(outcomes[3], json!({"returned": {"finalized": true}}));
    assert_eq!(outcomes[4], json!({"skipped": {"because": "v"}}));
    assert_eq!(outcomes[5], json!({"unsupported": {"operation": "pickle"}}));
    assert_eq!(ended["exit"], json!({"code": 0}));
}

#[rstest]
#[case("unknown", "UNKNOWN(99)", "not \u{fffd} utf-8")]
#[case(
    "wild",
    "UNKNOWN(99)",
    "memalloc answered UNKNOWN(99), and last_error 0x40, which cannot be read"
)]
fn an_error_is_passed_on_as_data(
    #[case] symbol: &str,
    #[case] status: &str,
    #[case] message: &str,
) {
    let (outcomes, _) = outcomes(&plugin(symbol), &[memalloc("a"), json!({"drop": {"name": "a"}})]);
    assert_eq!(outcomes[0]["raised"]["status"], status);
    assert_eq!(outcomes[0]["raised"]["message"], message);
    assert_eq!(outcomes[1], json!({"skipped": {"because": "a"}}));
}

/// The table calls of the steps, without those of the setup.
fn table_calls(subject: &str, steps: &[Value]) -> Vec<Value> {
    let mut worker = Worker::start();
    worker.load(&plugin(subject));
    let lines = worker.run(&[case("leave", steps)]);
    lines.iter().filter_map(|line| Some(line.get("step")?["table_calls"].clone())).skip(2).collect()
}

#[test]
fn what_a_call_does_besides_its_answer_is_told() {
    let told = table_calls(
        "careless",
        &[memalloc("a"), json!({"describe": {}}), json!({"get_memory_info": {}})],
    );
    assert_eq!((&told[0], &told[1]), (&json!({"calls": 1}), &Value::Null));
    let defect = |defect: &str, observed: &str| {
        let call = "get_memory_info";
        json!({"call": call, "defect": defect, "observed": observed})
    };
    let defects = [
        defect("size_changed", "size was 24 and is 1"),
        defect("written_beyond_size", "byte 24 of a structure of 24"),
    ];
    assert_eq!(told[2], json!({"calls": 1, "defects": defects}));
}

#[test]
fn a_table_is_called_as_it_is_written() {
    let call = |call: Value| json!({"call": call});
    let steps = [
        memalloc("a"),
        json!({"drop": {"name": "a"}}),
        call(json!({"release": {"of": "a"}})),
        call(json!({"memalloc": {"size": 64, "extra_bytes": 8}})),
        call(json!({"destroy": {}})),
        call(json!({"mempin": {"size": 64}})),
        call(json!({"release": {"of": "b"}})),
    ];
    let (native, _) = outcomes(&plugin("allocert_emm_plugin_v1"), &steps);
    assert_eq!(native[2]["raised"]["status"], "INVALID_VALUE");
    assert_eq!(native[3..5], [json!({"returned": {}}), json!({"returned": {}})]);
    assert_eq!(
        native[5]["raised"]["status"], "NOT_SUPPORTED",
        "the capability is not declared: {}",
        native[5]
    );
    assert_eq!(native[6], json!({"skipped": {"because": "b"}}));
    let (builtin, _) = outcomes("reference", &steps);
    assert_eq!(builtin[2], json!({"unsupported": {"operation": "call"}}));
}

#[test]
fn a_table_that_is_another_each_time_is_told() {
    let describe = [json!({"describe": {}})];
    let told = |symbol| outcomes(&plugin(symbol), &describe).0[0]["returned"].clone();
    assert_eq!(told("careless")["same_table"], false);
    assert_eq!(told("allocert_emm_plugin_v1")["same_table"], true);
    assert_eq!(told("rubbish")["name"], Value::Null);
}

#[test]
fn a_capability_that_is_not_declared_needs_no_function() {
    let steps = [
        json!({"get_memory_info": {}}),
        memalloc("a"),
        json!({"get_ipc_handle": {"memory": "a", "as": "h"}}),
    ];
    let (plain, _) = outcomes(&plugin("allocert_emm_plugin_v1"), &steps);
    assert_eq!(plain[0]["raised"]["status"], "NOT_SUPPORTED", "{}", plain[0]);
    let (careless, _) = outcomes(&plugin("careless"), &steps);
    assert_eq!(careless[2]["raised"]["type"], "NullMember");
    assert_eq!(careless[2]["raised"]["status"], Value::Null, "it is declared: {}", careless[2]);
}

#[test]
fn rubbish_in_a_structure_is_reported_and_hurts_nobody() {
    let rubbish = u64::from_ne_bytes([0x4d; 8]);
    let fill = json!({"fill": {"memory": "a", "byte": 7}});
    let (outcomes, ended) = outcomes(&plugin("rubbish"), &[memalloc("a"), fill]);
    assert_eq!(
        outcomes[0]["returned"]["kind"],
        format!("unknown({})", u32::from_ne_bytes([0x4d; 4]))
    );
    assert_eq!(outcomes[0]["returned"]["size_bytes"], rubbish);
    assert_eq!(outcomes[1]["raised"]["type"], "MemoryFault");
    assert_eq!(ended["exit"], json!({"code": 0}));
}

#[test]
fn a_crash_loses_no_line_and_not_the_server() {
    let mut worker = Worker::start();
    worker.load(&plugin("crash"));
    for _ in 0..2 {
        let lines = worker.run(&[case("leave", &[json!({"initialize": {}}), memalloc("a")])]);
        let kinds: Vec<&str> = lines
            .iter()
            .filter_map(|line| Some(line.as_object()?.keys().next()?.as_str()))
            .collect();
        assert_eq!(kinds, ["child", "case", "step", "step", "step", "ended"]);
        assert_eq!(lines[5]["ended"]["exit"], json!({"signal": 11}));
    }
}

#[test]
fn a_forged_line_goes_no_further_than_the_pipes() {
    let (outcomes, ended) = outcomes(&plugin("forge"), &[memalloc("a")]);
    assert_eq!(outcomes[0]["raised"]["status"], "OUT_OF_MEMORY");
    let printed =
        |stream: &str| ended[stream]["text"].as_str().is_some_and(|text| text.contains("forged"));
    assert!(printed("stdout") && printed("stderr"), "{ended}");
}

#[test]
fn a_flood_is_counted_and_its_ends_kept() {
    let (outcomes, ended) = outcomes(&plugin("flood"), &[memalloc("a")]);
    assert!(outcomes[0].get("returned").is_some());
    assert_eq!(ended["stdout"]["bytes"], 1 << 20);
    assert!(ended["stdout"]["text"].as_str().is_some_and(|text| text.len() < 17 * 1024));
}

#[rstest]
#[case("exit", "farewell\n")]
#[case("leave", "")]
fn only_an_exit_runs_the_exit_handlers(#[case] ending: &str, #[case] printed: &str) {
    let mut worker = Worker::start();
    worker.load(&plugin("farewell_at_exit"));
    let lines = worker.run(&[case(ending, &[memalloc("a")])]);
    let ended = &lines.last().expect("it ends with `ended`")["ended"];
    assert_eq!(ended["exit"], json!({"code": 0}));
    assert_eq!(ended["stdout"]["text"], printed);
}

#[test]
fn a_table_of_another_version_is_looked_at_and_never_called() {
    let mut worker = Worker::start();
    let loaded = worker.load(&plugin("future"));
    assert_eq!(loaded["loaded"]["capabilities"], json!(["native"]));
    assert_eq!(loaded["loaded"]["subject"]["interface_version"], 7);
    let lines = worker.run(&[case("leave", &[json!({"describe": {}}), memalloc("a")])]);
    assert_eq!(lines[3]["step"]["outcome"]["raised"]["status"], "VERSION_MISMATCH");
    assert_eq!(lines[4]["step"]["outcome"]["returned"]["interface_version"], 7);
    assert_eq!(lines[5]["step"]["outcome"], json!({"skipped": {"because": "m"}}));
}

#[test]
fn a_table_that_is_cut_off_says_what_is_missing() {
    let describe = json!({"describe": {}});
    let (outcomes, _) =
        outcomes(&plugin("cut"), &[describe, memalloc("a"), json!({"drop": {"name": "a"}})]);
    let missing = json!(["release", "reset", "defer_begin", "defer_end", "last_error"]);
    assert_eq!(outcomes[0]["returned"]["abstract"], missing);
    assert_eq!(outcomes[0]["returned"]["instantiable"], false);
    assert_eq!(outcomes[2]["raised"]["type"], "NullMember");
}

#[rstest]
fn the_reference_serves_what_it_claims(
    #[values("", ":pool", ":deferred", ":host-only")] kind: &str,
) {
    let steps = [
        json!({"initialize": {}}),
        memalloc("a"),
        json!({"fill": {"memory": "a", "byte": 7}}),
        json!({"fill": {"memory": "a", "byte": 8, "offset": 100, "size": 50}}),
        json!({"read": {"memory": "a"}}),
        json!({"read": {"memory": "a", "offset": 100, "size": 50}}),
        json!({"memhostalloc": {"size": 64, "mapped": true, "as": "h"}}),
        json!({"fill": {"memory": "h", "byte": 9}}),
        json!({"read": {"memory": "h"}}),
        json!({"host_buffer": {"size": 8192, "as": "b"}}),
        json!({"mempin": {"buffer": "b", "as": "p"}}),
        json!({"churn": {"size": 1000, "times": 50, "hold": 8}}),
        json!({"stress": {"threads": 3, "size": 512, "times": 20}}),
        json!({"drop": {"name": "p"}}),
        json!({"drop": {"name": "a"}}),
        json!({"reset": {}}),
        json!({"destroy": {}}),
        json!({"drop": {"name": "h"}}),
        json!({"detach": {}}),
    ];
    let (outcomes, ended) = outcomes(&format!("reference{kind}"), &steps);
    let returned = |at: usize| {
        outcomes[at].get("returned").unwrap_or_else(|| panic!("step {at}: {}", outcomes[at]))
    };
    assert_eq!(returned(4), &json!({"uniform": null, "bytes_read": 4096}));
    assert_eq!(returned(5), &json!({"uniform": 8, "bytes_read": 50}));
    assert_eq!(returned(8), &json!({"uniform": 9, "bytes_read": 64}));
    assert_eq!(returned(10)["host_pointer"], returned(9)["host_pointer"]);
    let served = json!({"failed": 0, "overlaps": 0, "misaligned": 0, "out_of_memory": false});
    assert_eq!(returned(11), &served);
    assert_eq!(returned(12), &json!({"failed": 0, "overlaps": 0, "out_of_memory": false}));
    assert_eq!(returned(13), &json!({"finalized": true}));
    assert_eq!(returned(17), &json!({"finalized": false}));
    assert_eq!(ended["stderr"]["text"], "");
}

#[test]
fn a_peer_reads_a_view_through_its_handle() {
    let steps = [
        memalloc("a"),
        json!({"fill": {"memory": "a", "byte": 1}}),
        json!({"fill": {"memory": "a", "byte": 2, "offset": 1024, "size": 512}}),
        json!({"view": {"of": "a", "offset": 1024, "size": 512, "as": "v"}}),
        json!({"get_ipc_handle": {"memory": "v", "as": "h"}}),
        json!({"peer_read": {"handle": "h", "size": 512}}),
        json!({"peer_read": {"handle": "h", "size": 513}}),
    ];
    let (outcomes, _) = outcomes("reference", &steps);
    assert_eq!(outcomes[4]["returned"]["source_matches"], true, "{}", outcomes[4]);
    assert_eq!(outcomes[5], json!({"returned": {"uniform": 2}}));
    assert_eq!(outcomes[6], json!({"returned": {"uniform": null}}));
}

#[test]
fn a_new_thread_has_no_context_and_a_fault_is_the_drivers() {
    let mut worker = Worker::start();
    worker.load("reference:deferred");
    let mut case = case(
        "leave",
        &[
            json!({"memalloc": {"size": 64, "as": "a"}}),
            json!({"fault": {"call": "cuMemAlloc_v2", "count": 2, "error": 2}}),
            json!({"memalloc": {"size": 64, "as": "b"}}),
        ],
    );
    case["steps"][2]["thread"] = json!("fresh");
    let lines = worker.run(&[case.clone(), case]);
    let outcomes: Vec<&Value> =
        lines.iter().filter_map(|line| Some(&line.get("step")?["outcome"])).collect();
    for case in outcomes.chunks(5) {
        assert_eq!(case[2]["raised"]["status"], "DRIVER_ERROR", "{}", case[2]);
        assert_eq!(case[2]["raised"]["code"], 201);
        assert_eq!(case[4]["raised"]["status"], "OUT_OF_MEMORY", "{}", case[4]);
    }
}

/// A fork has only the thread that forks.
#[test]
fn a_handler_that_starts_a_thread_while_it_is_loaded_is_loaded_in_each_child() {
    let (_folder, library) = threaded_handler();
    let mut worker = Worker::start();
    // The second time, the server was executed anew before.
    for _ in 0..2 {
        let loaded = worker.load_as("nep49", &library);
        assert_eq!(loaded["loaded"]["subject"]["name"], "threaded", "{loaded}");
        for _ in 0..2 {
            let steps = json!([{"index": 0, "do": {"malloc": {"size": 8, "as": "a"}}, "on": "m"}]);
            let lines = worker.run(&[json!({
                "id": "case",
                "side": "nep49",
                "operations": "nep49",
                "driver": {},
                "ending": "leave",
                "steps": steps,
            })]);
            let outcome = lines.iter().find_map(|line| Some(line.get("step")?["outcome"].clone()));
            let kind = outcome.map(|outcome| outcome["returned"]["kind"].clone());
            assert_eq!(kind, Some(json!("block")), "{lines:?}");
        }
    }
}
