//! What a launch leaves in the trace.

use std::ptr;

use allocert_contract::trace::{Call, Event, Function, Launch};
use rstest::rstest;

use crate::{
    forward::Genuine,
    library::{Cuda, LaunchConfig},
    role::said,
    trace::{call, record_with},
};

const IMAGE: &[u8] = b".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry fill(.param .u64 p) { ret; }\n\0";

fn launches(events: &[Event]) -> Vec<&Call> {
    events.iter().filter_map(call).filter(|call| Launch::is(call.function)).collect()
}

#[rstest]
#[case::simulated(false)]
#[case::forwarded(true)]
fn every_way_to_launch_is_written_with_its_stream_and_its_dimensions(#[case] forward: bool) {
    let genuine = Genuine::software();
    let variables = genuine.variables();
    let (output, events) = record_with("launch", if forward { &variables } else { &[] });
    let stream = said(&output)[0].parse().expect("the stream's handle");
    let launches = launches(&events);
    let functions: Vec<_> = launches.iter().map(|call| call.function).collect();
    let ways = [Function::cuLaunchKernel, Function::cuLaunchCooperativeKernel, Function::cuLaunchKernelEx];
    assert_eq!(functions, [&ways[..], &ways[2..]].concat());
    for call in &launches[..3] {
        let launch = Launch::read(call.args);
        assert_eq!((call.result, call.arg("stream"), launch.stream), (Some(0), Some(stream), stream), "{call:?}");
        assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([7, 2, 3], [32, 5, 6], 64), "{call:?}");
        assert_ne!(launch.function, 0);
    }
    assert_eq!((launches[3].result, Launch::read(launches[3].args).stream), (Some(1), 0), "no config to read");
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
    let parameters = [(&raw const parameter).expose_provenance() as u64];
    let parameters = parameters.as_ptr();
    cuda.cuLaunchKernel(function, 7, 2, 3, 32, 5, 6, 64, stream, parameters, ptr::null());
    cuda.cuLaunchCooperativeKernel(function, 7, 2, 3, 32, 5, 6, 64, stream, parameters);
    let (grid, block) = ([7, 2, 3], [32, 5, 6]);
    let config = LaunchConfig { grid, block, shared: 64, stream, attributes: 0, attribute_count: 0 };
    cuda.cuLaunchKernelEx(&config, function, parameters, ptr::null());
    let launch: unsafe extern "C" fn(u64, u64, u64, u64) -> i32 = cuda.function("cuLaunchKernelEx");
    // SAFETY: without a config, the function must refuse.
    unsafe { launch(0, function, 0, 0) };
}
