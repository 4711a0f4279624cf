//! Tasks that tests run in a process of their own, because the library reads the environment once a
//! process, and because some crash.

use std::process::{Command, Output};

use crate::{
    forward, launches,
    library::{Cuda, IpcHandle},
    sharing, trace,
};

const VARIABLE: &str = "ALLOCERT_TEST_TASK";

/// Runs a task in a new process with these variables.
pub(crate) fn run_task(task: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
    command.args(["--exact", "child_process::perform_task", "--ignored", "--nocapture", "--quiet"]);
    command.env(VARIABLE, task).envs(variables.iter().copied());
    command.output().expect("this program starts")
}

/// The lines that a task printed behind `>`.
pub(crate) fn printed_lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.strip_prefix('>')).map(str::to_owned).collect()
}

#[test]
#[ignore = "the process that other tests start, not a test"]
fn perform_task() {
    let task = std::env::var(VARIABLE).expect("set by `run_task`");
    let (name, argument) = task.split_once(' ').unwrap_or((&task, ""));
    match name {
        "init" => init(),
        "work" => work(),
        "crash" => crash(),
        "allocate" => allocate(),
        "import" => import(IpcHandle(sharing::decode(argument))),
        "restart" => forward::restart(),
        "look-up" => forward::look_up(),
        "words" => forward::words(),
        "launch" => launches::launch(),
        "launch-arguments" => launches::launch_arguments(),
        "lazy" => forward::lazy(),
        "plugin" => trace::call_a_plugin(),
        other => panic!("no task {other}"),
    }
}

/// Prints what cuInit, the device count, the version and the memory are.
fn init() {
    let cuda = Cuda::load();
    let (mut count, mut version) = (-1, -1);
    println!("\n>init={}", cuda.cuInit(0));
    println!(">count={} {count}", { cuda.cuDeviceGetCount(&mut count) });
    println!(">version={} {version}", { cuda.cuDriverGetVersion(&mut version) });
    println!(">devices={count} driver={version}");
}

/// A known sequence of calls.
fn work() {
    let cuda = Cuda::up();
    cuda.allocert_trace_marker(1, 10);
    let data = cuda.alloc(64);
    cuda.cuMemFree_v2(data);
    cuda.cuMemFree_v2(data);
    cuda.cuStreamQuery(0x1234);
    cuda.cuGraphCreate(&mut 0, 0);
    cuda.cuMemsetD8Async_ptsz(0, 1, 1, 0);
    cuda.allocert_trace_marker(2, 10);
}

/// Dies inside a call.
fn crash() {
    let cuda = Cuda::up();
    let data = cuda.alloc(64);
    cuda.cuMemcpyDtoH_v2(std::ptr::without_provenance_mut(16), data, 64);
}

/// Says what six allocations answer, as faults may have it.
fn allocate() {
    let cuda = Cuda::up();
    let results: Vec<_> = (0..6).map(|_| cuda.cuMemAlloc_v2(&mut 0, 64).to_string()).collect();
    println!("\n>{}", results.join(" "));
}

fn import(handle: IpcHandle) {
    let cuda = Cuda::up();
    let (mut address, mut again) = (0, 0);
    let opened = cuda.cuIpcOpenMemHandle_v2(&mut address, handle, 1);
    println!("\n>open={opened}");
    if opened != 0 {
        return;
    }
    println!(
        ">again={} same={}",
        cuda.cuIpcOpenMemHandle_v2(&mut again, handle, 1),
        again == address
    );
    println!(">read={:?}", cuda.read(address, 4));
    println!(">write={}", cuda.cuMemcpyHtoD_v2(address, [9, 8, 7, 6].as_ptr(), 4));
    println!(">free={}", cuda.cuMemFree_v2(address));
    println!(
        ">close={} {} {}",
        cuda.cuIpcCloseMemHandle(address),
        cuda.cuIpcCloseMemHandle(address),
        cuda.cuIpcCloseMemHandle(address)
    );
}
