//! What a launch leaves in the trace: its own record, and the memory that its parameters point
//! into.

use std::ptr;

use allocert_contract::trace::{
    Call, Event, What,
    cuda::{Function, Launch},
};
use rstest::rstest;

use crate::{
    child_process::printed_lines,
    fork::in_child,
    forward::Genuine,
    library::{Cuda, LaunchConfig},
    trace::{call, record_with},
};

const IMAGE: &[u8] = b".version 8.0\n.target sm_50\n.address_size 64\n\
    .visible .entry fill(.param .u64 p) { ret; }\n\
    .entry mix(.param .u8 c, .param .align 8 .b8 s[24], .param .u32 n, .param .u64 p) { ret; }\n\0";

fn launches(events: &[Event]) -> Vec<&Call> {
    events.iter().filter_map(call).filter(is_launch).collect()
}

fn is_launch(call: &&Call) -> bool {
    call.function.cuda().is_some_and(Function::is_launch)
}

#[rstest]
#[case::simulated(false)]
#[case::forwarded(true)]
fn every_way_to_launch_is_written_with_its_stream_and_its_dimensions(#[case] forward: bool) {
    let genuine = Genuine::software();
    let variables = genuine.variables();
    let (output, events) = record_with("launch", if forward { &variables } else { &[] });
    let stream = printed_lines(&output)[0].parse().expect("the stream's handle");
    let launches = launches(&events);
    let functions: Vec<_> = launches.iter().map(|call| call.function).collect();
    let ways =
        [Function::cuLaunchKernel, Function::cuLaunchCooperativeKernel, Function::cuLaunchKernelEx];
    assert_eq!(functions, [&ways[..], &ways[2..]].concat());
    for call in &launches[..3] {
        let launch = Launch::read(call.args);
        assert_eq!(
            (call.result, call.arg("stream"), launch.stream),
            (Some(0), Some(stream), stream),
            "{call:?}"
        );
        assert_eq!(
            (launch.grid, launch.block, launch.shared_bytes),
            ([7, 2, 3], [32, 5, 6], 64),
            "{call:?}"
        );
        assert_ne!(launch.function, 0);
    }
    assert_eq!(
        (launches[3].result, Launch::read(launches[3].args).stream),
        (Some(1), 0),
        "no config to read"
    );
}

/// Launches a kernel in every way, and once without a config.
pub(crate) fn launch() {
    let cuda = Cuda::up();
    let (mut stream, mut module, mut function) = (0, 0, 0);
    assert_eq!(cuda.cuStreamCreate(&mut stream, 1), 0);
    println!("\n>{stream}");
    assert_eq!(cuda.cuModuleLoadData(&mut module, IMAGE.as_ptr()), 0);
    assert_eq!(cuda.cuModuleGetFunction(&mut function, module, c"fill".as_ptr()), 0);
    let parameter = cuda.alloc(64);
    let parameters = [at(&parameter)];
    let parameters = parameters.as_ptr();
    cuda.cuLaunchKernel(function, 7, 2, 3, 32, 5, 6, 64, stream, parameters, ptr::null());
    cuda.cuLaunchCooperativeKernel(function, 7, 2, 3, 32, 5, 6, 64, stream, parameters);
    let (grid, block) = ([7, 2, 3], [32, 5, 6]);
    let config =
        LaunchConfig { grid, block, shared: 64, stream, attributes: 0, attribute_count: 0 };
    cuda.cuLaunchKernelEx(&config, function, parameters, ptr::null());
    let launch: unsafe extern "C" fn(u64, u64, u64, u64) -> i32 = cuda.function("cuLaunchKernelEx");
    // SAFETY: without a config, the function must refuse.
    unsafe { launch(0, function, 0, 0) };
}

/// The events of each launch's arguments: position, value, base, size.
fn arguments(events: &[Event]) -> Vec<Vec<[u64; 4]>> {
    let mut found = Vec::new();
    for launch in events.iter().filter(|event| call(event).is_some_and(|call| is_launch(&call))) {
        let mut its = Vec::new();
        for event in events {
            if let What::Argument { launch: seq, stream, position, value, base, size_bytes } =
                event.what
                && seq == launch.seq
            {
                assert_eq!(
                    Some(stream),
                    call(launch).and_then(|call| call.arg("stream")),
                    "of the same launch"
                );
                assert!(
                    event.seq > seq
                        && event.thread == launch.thread
                        && event.context == launch.context
                );
                its.push([position.into(), value, base, size_bytes]);
            }
        }
        found.push(its);
    }
    found
}

#[rstest]
#[case::simulated(false)]
#[case::forwarded(true)]
fn each_word_that_points_into_live_memory_is_written_with_its_allocation(#[case] forward: bool) {
    let genuine = Genuine::software();
    let variables = genuine.variables();
    let (output, events) = record_with("launch-arguments", if forward { &variables } else { &[] });
    let lines = printed_lines(&output);
    let numbers: Vec<u64> =
        lines[0].split(' ').map(|number| number.parse().expect("a number")).collect();
    let [device, pinned, managed, registered] = numbers[..] else {
        panic!("four addresses: {lines:?}")
    };
    let all = [
        // The structure begins at offset 8, so its words are 1 to 3; the number between the
        // pointers is none.
        vec![
            [1, device + 60, device, 64],
            [3, pinned, pinned, 4096],
            [5, managed + 8, managed, 100],
        ],
        vec![[0, registered + 1, registered, 512], [2, device, device, 64]],
        vec![],
        vec![],
        vec![[0, pinned, pinned, 4096]],
    ];
    assert_eq!(arguments(&events), all);
    assert_eq!(lines[1], "0 0 0 0 0");
}

/// Launches with parameters one by one and in a buffer; then with dead memory, with nothing behind
/// a parameter, and with dead memory elsewhere.
pub(crate) fn launch_arguments() {
    let cuda = Cuda::up();
    let (mut module, mut mix, mut fill) = (0, 0, 0);
    assert_eq!(cuda.cuModuleLoadData(&mut module, IMAGE.as_ptr()), 0);
    assert_eq!(cuda.cuModuleGetFunction(&mut mix, module, c"mix".as_ptr()), 0);
    assert_eq!(cuda.cuModuleGetFunction(&mut fill, module, c"fill".as_ptr()), 0);
    let (device, dead, mut pinned, mut managed) = (cuda.alloc(64), cuda.alloc(4 << 20), 0, 0);
    assert_eq!(cuda.cuMemFree_v2(dead), 0);
    assert_eq!(cuda.cuMemHostAlloc(&mut pinned, 4096, 0), 0);
    assert_eq!(cuda.cuMemAllocManaged(&mut managed, 100, 1), 0);
    let own = vec![0_u64; 64];
    let registered = own.as_ptr().expose_provenance() as u64;
    assert_eq!(cuda.cuMemHostRegister_v2(registered, 512, 0), 0);
    println!("\n>{device} {pinned} {managed} {registered}");

    let (c, s, n, p) = (7_u8, [device + 60, 1 << 30, pinned], 5_u32, managed + 8);
    let addresses = [at(&c), at(&s), at(&n), at(&p)];
    let run = |function, parameters, extra| {
        cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, extra)
    };
    let first = run(mix, addresses.as_ptr(), ptr::null());

    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
    let block = [registered + 1, 2, device, device];
    let size = 24_usize;
    let extra = [1, at(&block), 2, at(&size), 0];
    let second = run(mix, ptr::null(), extra.as_ptr());

    let third = run(fill, [at(&dead)].as_ptr(), ptr::null());
    let fourth = run(fill, [16].as_ptr(), ptr::null());
    let fifth = run(fill, [at(&pinned)].as_ptr(), ptr::null());
    println!(">{first} {second} {third} {fourth} {fifth}");
}

fn at<T>(value: &T) -> u64 {
    (&raw const *value).expose_provenance() as u64
}

#[test]
fn a_kernel_can_be_asked_for_its_parameters_and_told_its_block() {
    in_child(|| {
        let cuda = Cuda::up();
        let (mut module, mut mix, mut offset, mut size, mut count) = (0, 0, 0, 0, 0);
        assert_eq!(cuda.cuModuleLoadData(&mut module, IMAGE.as_ptr()), 0);
        assert_eq!(cuda.cuModuleGetFunction(&mut mix, module, c"mix".as_ptr()), 0);
        assert_eq!(cuda.cuFuncGetParamInfo(mix, 1, &mut offset, &mut size), 0);
        assert_eq!((offset, size), (8, 24));
        assert_eq!(cuda.cuFuncGetParamInfo(mix, 4, &mut offset, &mut size), 1, "there are four");
        assert_eq!((cuda.cuFuncGetParamCount(mix, &mut count), count), (0, 4));
        assert_eq!(cuda.cuFuncSetBlockShape(mix, 8, 1, 1), 0);
        assert_eq!(
            (cuda.cuFuncSetBlockShape(mix, 8, 0, 1), cuda.cuFuncSetBlockShape(8, 8, 1, 1)),
            (1, 400)
        );
        assert_eq!(cuda.cuKernelGetParamInfo(mix, 3, &mut offset, &mut size), 0);
        assert_eq!((offset, size), (40, 8));
    });
}
