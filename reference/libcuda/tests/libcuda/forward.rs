//! Forward mode: over a copy of this library as the genuine driver, and over a small C library
//! whose every answer is known.

use std::{ffi::CStr, fs, path::Path, process::Command};

use allocert_contract::trace::{Event, Marker, What, cuda::Function};
use rstest::rstest;

use crate::{
    child_process::{printed_lines, run_task},
    fork::in_child,
    library::{self, Cuda},
    trace::{call, record_with},
};

/// A library in the genuine driver's place, in a folder of its own.
pub(crate) struct Genuine {
    _folder: tempfile::TempDir,
    path: String,
}

impl Genuine {
    /// A copy of this library, which simulates.
    pub(crate) fn software() -> Self {
        Self::make(|path| fs::copy(library::path(), path).map(|_| ()).expect("a copy"))
    }

    /// `tests/libcuda/genuine.c`
    fn small() -> Self {
        Self::make(|path| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libcuda/genuine.c");
            let mut compiler = Command::new("cc");
            compiler
                .args(["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"])
                .arg(path)
                .arg(source);
            assert!(compiler.status().expect("cc is installed").success());
        })
    }

    fn make(put: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("libcuda.so.1");
        put(&path);
        Self { path: path.to_str().expect("a path of ours").to_owned(), _folder: folder }
    }

    pub(crate) fn variables(&self) -> [(&'static str, &str); 2] {
        [("ALLOCERT_MODE", "forward"), ("ALLOCERT_REAL_DRIVER", &self.path)]
    }
}

#[test]
fn calls_are_written_down_once_with_what_the_genuine_driver_answered() {
    let genuine = Genuine::software();
    let (_, events) = record_with("work", &genuine.variables());
    let begin =
        events.iter().position(|event| event.what == What::Marker(Marker::StepBegin { step: 10 }));
    let step = &events[begin.expect("the first marker")..];
    let alloc = call(&step[1]).expect("the allocation");
    let data = alloc.output("dptr").expect("its result");
    assert_eq!(
        (alloc.function, alloc.arg("bytesize"), alloc.result),
        (Function::cuMemAlloc_v2.into(), Some(64), Some(0))
    );
    let frees: Vec<_> =
        step[2..4].iter().filter_map(call).map(|free| (free.arg("dptr"), free.result)).collect();
    assert_eq!(frees, [(Some(data), Some(0)), (Some(data), Some(1))]);
    assert_eq!(call(&step[4]).map(|query| query.result), Some(Some(400)));
    assert_eq!(
        step[5].what,
        What::PassedOn { function: Function::cuGraphCreate, per_thread: false }
    );
    assert!(
        call(&step[6])
            .is_some_and(|fill| fill.per_thread && fill.function == Function::cuMemsetD8Async)
    );
    assert_eq!(step[7].what, What::Marker(Marker::StepEnd { step: 10 }));
    assert_eq!(step.len(), 8, "the copy behind writes nothing: {step:?}");
    let contexts: Vec<u64> = step.iter().map(|event| event.context).collect();
    assert!(
        contexts[0] != 0 && contexts.iter().all(|context| *context == contexts[0]),
        "{contexts:?}"
    );
}

#[test]
fn a_fault_is_answered_and_flagged_and_not_passed_on() {
    let genuine = Genuine::software();
    let plan = ("ALLOCERT_FAULTS", "cuMemAlloc_v2@2x2=2,cuMemAlloc_v2@5+=1");
    let (output, events) = record_with("allocate", &[&genuine.variables()[..], &[plan]].concat());
    assert_eq!(printed_lines(&output), ["0 2 2 0 1 1"]);
    let allocations =
        events.iter().filter_map(call).filter(|call| call.function == Function::cuMemAlloc_v2);
    let injected: Vec<bool> = allocations.map(|call| call.injected).collect();
    assert_eq!(injected, [false, true, true, false, true, true]);
}

#[test]
fn a_restart_drops_the_faults_and_nothing_else() {
    let genuine = Genuine::software();
    assert_eq!(
        printed_lines(&run_task("restart", &genuine.variables())),
        ["fault=2 restart=0 alloc=0 free=0"]
    );
}

pub(crate) fn restart() {
    let cuda = Cuda::up();
    let first = cuda.alloc(64);
    cuda.allocert_fault_add(c"cuMemAlloc_v2".as_ptr(), 1, 0, 2);
    let fault = cuda.cuMemAlloc_v2(&mut 0, 8);
    let restart = cuda.allocert_driver_restart();
    let alloc = cuda.cuMemAlloc_v2(&mut 0, 8);
    println!("\n>fault={fault} restart={restart} alloc={alloc} free={}", cuda.cuMemFree_v2(first));
}

#[test]
fn looked_up_symbols_are_this_librarys() {
    let genuine = Genuine::software();
    let symbols = ["cuMemAlloc_v2", "cuMemAlloc", "cuMemcpyDtoH_v2_ptds", "cuGetProcAddress_v2"];
    let expected = symbols.map(|symbol| format!("{symbol}=0 0 ours"));
    let printed = printed_lines(&run_task("look-up", &genuine.variables()));
    assert_eq!(printed[..4], expected);
    assert_eq!(printed[4..], ["cuNothing=0 1 null", "table=801"]);
}

#[test]
fn what_is_not_in_the_table_is_left_as_it_came() {
    let genuine = Genuine::small();
    let printed = printed_lines(&run_task("look-up", &genuine.variables()));
    // The small driver answers every name with an entrance that it does not export, and so do
    // drivers with two entrances.
    assert_eq!(printed[0], "cuMemAlloc_v2=0 0 ours");
    assert_eq!(printed[2], "cuMemcpyDtoH_v2_ptds=0 0 theirs", "it does not export that one");
    assert_eq!(printed[4], "cuNothing=0 0 theirs");
}

pub(crate) fn look_up() {
    let cuda = Cuda::load();
    println!();
    let wanted: [(&CStr, i32, u64, &str); 5] = [
        (c"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"),
        (c"cuMemAlloc", 2000, 0, "cuMemAlloc"),
        (c"cuMemcpyDtoH", 7000, 2, "cuMemcpyDtoH_v2_ptds"),
        (c"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"),
        (c"cuNothing", 12000, 0, "cuNothing"),
    ];
    for (name, version, flags, symbol) in wanted {
        let (mut address, mut status) = (0, 9);
        let result =
            cuda.cuGetProcAddress_v2(name.as_ptr(), &mut address, version, flags, &mut status);
        let whose = match address {
            0 => "null",
            _ if symbol != "cuNothing" && address == cuda.address(symbol) => "ours",
            _ => "theirs",
        };
        println!(">{symbol}={result} {status} {whose}");
    }
    println!(">table={}", cuda.cuGetExportTable(&mut 0, [0; 16].as_ptr()));
}

#[test]
fn unknown_parameters_arrive_as_they_were_given() {
    let genuine = Genuine::small();
    let (output, events) = record_with("words", &genuine.variables());
    assert_eq!(printed_lines(&output), ["3185", "3185", "302"]);
    let passed = |event: &&Event| matches!(event.what, What::PassedOn { .. });
    let found: Vec<_> = events.iter().filter(passed).map(|event| &event.what).collect();
    let expected = What::PassedOn { function: Function::cuGraphCreate, per_thread: false };
    assert_eq!(
        found,
        [&expected, &expected],
        "one for each call, none for what the driver does not have"
    );
}

/// Nine words in registers and on the stack and eight numbers beside them: the small driver weighs
/// and adds them up.
pub(crate) fn words() {
    type Words = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        u64,
        u64,
        u64,
        u64,
        u64,
        u64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
    ) -> i32;
    let cuda = Cuda::load();
    let function: Words = cuda.function("cuGraphCreate");
    println!();
    for _ in 0..2 {
        // SAFETY: the small driver's function takes exactly these.
        let sum =
            unsafe { function(1, 2, 3, 4, 5, 6, 7, 8, 9, 10., 11., 12., 13., 14., 15., 16., 17.) };
        println!(">{sum}");
    }
    let missing: unsafe extern "C" fn() -> i32 = cuda.function("cuGraphDestroy");
    // SAFETY: the small driver has no such function, so nothing is called.
    println!(">{}", unsafe { missing() });
}

#[test]
fn the_genuine_driver_is_loaded_by_the_first_call_and_not_by_the_recorder() {
    let genuine = Genuine::software();
    let (output, events) = record_with("lazy", &genuine.variables());
    assert_eq!(printed_lines(&output), ["marked=false forked=true parent=false"]);
    assert_eq!(events[0].what, What::Marker(Marker::StepBegin { step: 1 }));
    assert_eq!((events[0].context, events[1].context), (0, 0));
    assert!(call(&events[1]).is_some_and(|call| call.function.cuda().is_none()));
    let inside = events.iter().find(|event| event.process != events[0].process);
    assert!(inside.is_some(), "the child's calls are recorded as its own");
}

pub(crate) fn lazy() {
    let cuda = Cuda::load();
    cuda.allocert_trace_marker(1, 1);
    let call = cuda.begin_call(c"plugin.reset", &[1, 1]);
    cuda.end_call(call, 0, &[]);
    let marked = is_loaded();
    in_child(|| {
        Cuda::up();
        assert!(is_loaded());
    });
    println!("\n>marked={marked} forked=true parent={}", is_loaded());
}

fn is_loaded() -> bool {
    let path = std::env::var("ALLOCERT_REAL_DRIVER").expect("set by the test");
    fs::read_to_string("/proc/self/maps").expect("Linux").contains(&path)
}

#[rstest]
#[case::missing(
    "/nonexistent/libcuda.so.1",
    "/nonexistent/libcuda.so.1: cannot open shared object file"
)]
#[case::relative("libcuda.so.1", "ALLOCERT_REAL_DRIVER=libcuda.so.1: not an absolute path")]
#[case::itself("SELF", "that is this library itself")]
#[case::not_cuda(
    "/lib/x86_64-linux-gnu/libm.so.6",
    "libm.so.6: has no cuInit, so it is too old or no CUDA driver"
)]
fn a_driver_that_cannot_be_used_is_named_once(#[case] path: &str, #[case] reason: &str) {
    let own = library::path();
    let path = if path == "SELF" { own.to_str().expect("ASCII") } else { path };
    let output = run_task("init", &[("ALLOCERT_MODE", "forward"), ("ALLOCERT_REAL_DRIVER", path)]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = errors.lines().filter(|line| line.starts_with("allocert: ")).collect();
    assert_eq!(lines.len(), 1, "{errors}");
    assert!(
        lines[0].contains(reason) && lines[0].contains("ALLOCERT_MODE=forward"),
        "{}",
        lines[0]
    );
    assert_eq!(printed_lines(&output)[..2], ["init=303", "count=303 -1"]);
}

#[test]
fn an_unknown_mode_is_named_and_fails_init() {
    let output = run_task("init", &[("ALLOCERT_MODE", "real")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("allocert: ALLOCERT_MODE=real: expected simulate or forward"),
        "{errors}"
    );
    assert_eq!(printed_lines(&output)[0], "init=1");
}
