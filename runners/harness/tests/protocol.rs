//! The harness against a worker that lies, dies and babbles (`tests/worker.py`).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocert_harness::{
    AtFault, Error, Harness, Interrupt, Isolation, Launch, Request, RunDir, RunOutput, Subject,
};
use allocert_suite::RefusalCode;
use allocert_suite::observation::Ending;
use allocert_suite::plan::PlannedCase;
use rstest::rstest;
use serde_json::json;

/// Three cases of one group; the scripted worker misbehaves in `b`.
fn plan() -> Vec<PlannedCase> {
    let case = |name: &str| {
        let step = json!({"index": 0, "do": {"reset": {}}, "on": "m", "part": "step", "line": 3});
        let case = json!({
            "id": format!("emm/test/{name}"),
            "file": format!("cases/emm/test/{name}.yaml"),
            "about": "x",
            "side": "emm",
            "operations": "emm",
            "teardown": "none",
            "timeout_s": 1,
            "steps": [step],
        });
        serde_json::from_value(case).expect("a planned case")
    };
    ["a", "b", "c"].map(case).to_vec()
}

fn request(scenario: &str, isolation: Isolation) -> Request {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worker.py");
    Request {
        run: RunDir::create(&script).expect("a run folder"),
        launch: Launch::new(PathBuf::from("python3"), vec![script.into()]),
        interface: "emm".to_owned(),
        subject: Subject::Python {
            module: "scripted".to_owned(),
            attribute: Some(scenario.to_owned()),
        },
        isolation,
        jobs: NonZeroUsize::MIN,
        timeout_s: None,
        end: None,
        alone: None,
        interrupt: Interrupt::default(),
    }
}

fn run(request: Request) -> Result<RunOutput, Error> {
    let plan = plan();
    Harness::load(&Arc::new(request))?.run(&plan.iter().collect::<Vec<_>>(), &mut ())
}

fn endings(output: &RunOutput) -> Vec<&Ending> {
    output.observations.iter().map(|observation| &observation.ending).collect()
}

#[rstest]
#[case("crashes", Ending::Signal(11))]
#[case("dies_in_a_line", Ending::Signal(11))]
#[case("exits", Ending::Code(5))]
#[case("hangs", Ending::TimedOut { after_s: 1 })]
fn a_broken_case_is_told_and_the_others_run(
    #[case] scenario: &str,
    #[case] ending: Ending,
    #[values(Isolation::Case, Isolation::Group, Isolation::None)] isolation: Isolation,
) {
    let output = run(request(scenario, isolation)).expect("a run");
    assert_eq!(endings(&output), [&Ending::Done, &ending, &Ending::Done]);
    assert_eq!(
        output.observations.iter().map(|case| case.done).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert!(output.warnings.is_empty(), "it breaks alone too: {:?}", output.warnings);
}

#[test]
fn the_last_words_of_a_crash_are_kept() {
    let output = run(request("crashes", Isolation::Group)).expect("a run");
    assert_eq!(output.observations[1].stderr.text, "about to crash\n");
    assert_eq!(output.observations[0].stderr.bytes, 0);
}

#[test]
fn a_crash_that_needs_an_earlier_case_is_told_with_the_shortest_sequence() {
    let output = run(request("crashes_after_a", Isolation::Group)).expect("a run");
    assert_eq!(endings(&output), [&Ending::Done, &Ending::Signal(6), &Ending::Done]);
    let warnings: Vec<String> = output.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["emm/test/b breaks only when run after emm/test/a in one process"]);
}

#[rstest]
#[case("garbage", "not json")]
#[case("endless_line", "a line of more than 16777216 bytes")]
#[case("forges_done", "case emm/test/b was called done before its last step")]
#[case("forges_ended", "the process of the batch was called ended while it lived")]
#[case("kills_the_server", "the worker was ended by signal 9")]
fn a_lie_costs_the_case_and_nothing_else(#[case] scenario: &str, #[case] message: &str) {
    let began = Instant::now();
    let output = run(request(scenario, Isolation::Case)).expect("a run");
    let Ending::Lost { message: told } = &output.observations[1].ending else {
        panic!("{:?}", output.observations[1]);
    };
    assert!(told.contains(message), "{told}");
    assert_eq!([endings(&output)[0], endings(&output)[2]], [&Ending::Done; 2]);
    assert!(began.elapsed() < Duration::from_secs(60), "no child was waited for to the end");
}

#[test]
fn a_server_that_dies_is_started_again() {
    let output = run(request("server_dies", Isolation::Case)).expect("a run");
    let Ending::Lost { message } = &output.observations[1].ending else { panic!("{output:?}") };
    assert!(
        message.starts_with("the case never began: the worker was ended by signal 9"),
        "{message}"
    );
    assert_eq!(*endings(&output)[2], Ending::Done);
}

#[test]
fn what_a_case_left_behind_is_ended_with_it() {
    let note = tempfile::NamedTempFile::new().expect("a file");
    let mut request = request("leaves_a_daemon", Isolation::Case);
    request.launch.environment.push(("ALLOCERT_TEST_PID".into(), note.path().into()));
    let plan = plan();
    let mut harness = Harness::load(&Arc::new(request)).expect("a worker");
    let output = harness.run(&plan.iter().collect::<Vec<_>>(), &mut ()).expect("a run");
    assert_eq!(endings(&output), [&Ending::Done; 3]);
    let pid = std::fs::read_to_string(note.path()).expect("the daemon's process id");
    // The server, which runs on, has not waited for it.
    let dead = |stat: &str| stat.is_empty() || stat.contains(") Z ");
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let until = Instant::now() + Duration::from_secs(10);
    while !dead(&stat()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(dead(&stat()), "it lives: {}", stat());
}

#[test]
fn a_destroyed_trace_costs_its_worker_and_no_other_case() {
    let output = run(request("deletes_the_trace", Isolation::Case)).expect("a run");
    let Ending::Lost { message } = &output.observations[1].ending else { panic!("{output:?}") };
    assert!(
        message.starts_with("the trace of its driver calls was destroyed; only a subject that"),
        "{message}"
    );
    assert_eq!([endings(&output)[0], endings(&output)[2]], [&Ending::Done; 2]);
}

#[test]
fn the_drivers_settings_are_a_cases_to_choose() {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "the_drivers_settings_reach_no_worker", "--ignored"]);
    for name in [
        "ALLOCERT_DEVICES",
        "ALLOCERT_MEMORY_BYTES",
        "ALLOCERT_DRIVER_VERSION",
        "ALLOCERT_PEER_ACCESS",
        "ALLOCERT_FAULTS",
    ] {
        command.env(name, "rubbish");
    }
    let output = command.output().expect("this test again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "the_drivers_settings_are_a_cases_to_choose runs it with the settings set"]
fn the_drivers_settings_reach_no_worker() {
    assert_eq!(std::env::var("ALLOCERT_DEVICES").as_deref(), Ok("rubbish"));
    let output = run(request("settings", Isolation::Case)).expect("a run");
    assert_eq!(*endings(&output)[1], Ending::Code(0));
}

#[test]
fn a_process_that_is_not_the_workers_is_never_ended() {
    let mut stranger = Stranger(Command::new("sleep").arg("600").spawn().expect("sleep"));
    let mut request = request("announces_a_stranger", Isolation::Case);
    request
        .launch
        .environment
        .push(("ALLOCERT_TEST_PID".into(), stranger.0.id().to_string().into()));
    let output = run(request).expect("a run");
    assert_eq!(*endings(&output)[1], Ending::TimedOut { after_s: 1 });
    assert!(stranger.0.try_wait().expect("its status").is_none(), "the stranger was ended");
}

/// A process that is ended with the test.
struct Stranger(Child);

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[rstest]
#[case(
    "refuses",
    RefusalCode::SubjectRefused,
    "the subject scripted:refuses cannot be loaded (import): No module named 'pool'\n  Traceback"
)]
#[case(
    "crashes_loading",
    RefusalCode::SubjectUnloadable,
    "the subject scripted:crashes_loading cannot be loaded: the worker was ended by signal 11, \
     while it loaded it"
)]
#[case(
    "hangs_loading",
    RefusalCode::SubjectUnloadable,
    "the subject scripted:hangs_loading cannot be loaded: the worker said nothing for 1 s, while \
     it loaded it"
)]
fn a_subject_that_cannot_be_loaded_is_the_subjects_fault(
    #[case] scenario: &str,
    #[case] code: RefusalCode,
    #[case] message: &str,
) {
    let mut request = request(scenario, Isolation::Case);
    request.launch.load_timeout =
        Duration::from_secs(if scenario == "hangs_loading" { 1 } else { 60 });
    let error = run(request).expect_err("refused");
    assert_eq!((error.at_fault(), error.to_string().as_str()), (AtFault::Request(code), message));
}

#[rstest]
#[case("dies", "ended with exit code 7 before it connected\n  no such module: pool")]
#[case("never_connects", "did nothing for 0.3 s before it connected")]
fn a_worker_that_never_connects_is_told(#[case] start: &str, #[case] message: &str) {
    let mut request = request("", Isolation::Case);
    request.launch.connect_timeout =
        Duration::from_millis(if start == "dies" { 10_000 } else { 300 });
    request.launch.environment.push(("ALLOCERT_TEST_START".into(), start.into()));
    let error = run(request).expect_err("no connection");
    assert_eq!(error.at_fault(), AtFault::Harness);
    assert!(error.to_string().ends_with(message), "{error}");
}

#[test]
fn a_worker_loads_one_subject_after_the_other() {
    let plan = plan();
    let cases = [&plan[1]];
    let mut harness = Harness::load(&Arc::new(request("fine", Isolation::Case))).expect("it loads");
    let subject = |scenario: &str| Subject::Python {
        attribute: Some(scenario.to_owned()),
        module: "scripted".to_owned(),
    };
    let mut ending = |scenario: &str| {
        harness.load_other(subject(scenario))?;
        harness.run(&cases, &mut ()).map(|output| output.observations[0].ending.clone())
    };
    assert_eq!(ending("exits").expect("a run"), Ending::Code(5));
    let fault = ending("refuses").expect_err("refused").at_fault();
    assert_eq!(fault, AtFault::Request(RefusalCode::SubjectRefused));
    let fault = ending("crashes_loading").expect_err("it crashed").at_fault();
    assert_eq!(fault, AtFault::Request(RefusalCode::SubjectUnloadable));
    assert_eq!(ending("fine").expect("a new worker"), Ending::Done);
}

#[test]
fn another_protocol_version_is_refused() {
    let error = run(request("other_version", Isolation::Case)).expect_err("refused").to_string();
    assert_eq!(
        error,
        "the worker speaks protocol 2, this program speaks 1; both must come from one build"
    );
}

#[test]
fn an_interpreter_that_is_not_there_is_named() {
    let mut request = request("", Isolation::Case);
    request.launch.program = "/nonexistent/python".into();
    request.launch.interpreter = true;
    let error = run(request).expect_err("no such program");
    assert_eq!(error.at_fault(), AtFault::Request(RefusalCode::CannotStart));
    assert!(
        error.to_string().contains("`/nonexistent/python`")
            && error.to_string().ends_with("--python"),
        "{error}"
    );
}

#[test]
fn an_interrupt_ends_the_run_at_once() {
    let request = request("hangs", Isolation::Case);
    let interrupt = request.interrupt.clone();
    let watch = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        interrupt.raise();
    });
    let began = Instant::now();
    assert!(matches!(run(request), Err(Error::Interrupted)));
    assert!(
        began.elapsed() < Duration::from_millis(1300),
        "it did not wait for the case's time to run out"
    );
    watch.join().expect("no panic");
}

#[test]
fn a_case_that_needs_a_fresh_numba_shares_its_process_with_none() {
    let mut cases = plan();
    // Crashes after `a` in the same process; through the host and without setup it has a process of
    // its own.
    cases[1].operations = allocert_suite::Side::EmmHost;
    let mut harness =
        Harness::load(&Arc::new(request("crashes_after_a", Isolation::None))).expect("a worker");
    let output = harness.run(&cases.iter().collect::<Vec<_>>(), &mut ()).expect("a run");
    assert_eq!(endings(&output), [&Ending::Done; 3]);
}

#[test]
fn the_order_is_the_plans_however_many_workers() {
    let mut request = request("", Isolation::Case);
    request.jobs = NonZeroUsize::new(3).expect("not zero");
    let output = run(request).expect("a run");
    let ids: Vec<&str> =
        output.observations.iter().map(|observation| observation.case.as_str()).collect();
    assert_eq!(ids, ["emm/test/a", "emm/test/b", "emm/test/c"]);
}

#[rstest]
#[case::beside_others(3, Ending::Done)]
#[case::by_itself(1, Ending::TimedOut { after_s: 1 })]
fn what_is_late_beside_others_has_another_try_by_itself(
    #[case] jobs: usize,
    #[case] ending: Ending,
) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut request = request("hangs_once", Isolation::Case);
    request.jobs = NonZeroUsize::new(jobs).expect("not zero");
    request
        .launch
        .environment
        .push(("ALLOCERT_TEST_PID".into(), folder.path().join("hung").into()));
    let output = run(request).expect("a run");
    assert_eq!(endings(&output), [&Ending::Done, &ending, &Ending::Done]);
    let warnings: Vec<String> = output.warnings.iter().map(ToString::to_string).collect();
    let told = "emm/test/b timed out beside other cases and not when run again alone: the machine \
                is slow, for which fewer --jobs help, or threads of the subject wait for each \
                other now and then, which --repeat shows";
    assert_eq!(warnings, if ending == Ending::Done { vec![told] } else { vec![] });
}

#[test]
fn what_is_late_by_itself_too_stays_late() {
    let mut request = request("hangs", Isolation::Case);
    request.jobs = NonZeroUsize::new(3).expect("not zero");
    let output = run(request).expect("a run");
    assert_eq!((endings(&output)[1], output.warnings.len()), (&Ending::TimedOut { after_s: 1 }, 0));
}

/// A case that works for more than half of its second, beside programs that leave it a fraction of
/// a core.
#[rstest]
#[case::works("works", Ending::Done)]
#[case::loops("loops", Ending::TimedOut { after_s: 1 })]
fn a_busy_machine_uses_up_nobodys_time(#[case] scenario: &str, #[case] ending: Ending) {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
    let _others: Vec<Stranger> = (0..2 * cores).map(|_| Stranger(busy())).collect();
    let output = run(request(scenario, Isolation::Case)).expect("a run");
    assert_eq!(endings(&output)[1], &ending);
}
