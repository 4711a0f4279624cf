//! Launches. A kernel takes its place in its stream and does nothing else.

use allocert_contract::{
    StreamHandle,
    trace::cuda::{ATTRIBUTES_WORD, Function, Launch},
};
use allocert_driver::{CudaError, Result};

use super::{copies::recorded_rows, text::read};
use crate::{
    c_api::{self, Call},
    kernel_arguments,
};

#[expect(clippy::too_many_arguments, reason = "CUDA's own prototype")]
pub(crate) fn cuLaunchKernel(
    call: &mut Call,
    function: u64,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: u64,
    kernel_params: u64,
    extra: u64,
) -> Result {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let launched = Launch { function, grid, block, shared_bytes, stream, kernel_params, extra };
    launch(call, &launched, false)
}

#[expect(clippy::too_many_arguments, reason = "CUDA's own prototype")]
pub(crate) fn cuLaunchCooperativeKernel(
    call: &mut Call,
    function: u64,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: u64,
    kernel_params: u64,
) -> Result {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let launched = Launch { function, grid, block, shared_bytes, stream, kernel_params, extra: 0 };
    launch(call, &launched, true)
}

pub(crate) fn cuLaunchKernelEx(
    call: &mut Call,
    config: u64,
    function: u64,
    kernel_params: u64,
    extra: u64,
) -> Result {
    let launched = configured(config, function, kernel_params, extra);
    let is_cooperative = attributes(config)
        .any(|Attribute { id, value: [first, ..], .. }| id == COOPERATIVE && first != 0);
    launch(call, &launched.ok_or(CudaError::INVALID_VALUE)?, is_cooperative)
}

fn launch(call: &mut Call, launch: &Launch, is_cooperative: bool) -> Result {
    let wanted = allocert_driver::Launch {
        function: launch.function,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: launch.shared_bytes,
        arguments: kernel_arguments::given(launch),
        is_cooperative,
    };
    call.driver.launch(&call.caller, &wanted, StreamHandle(launch.stream))
}

/// The start of `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: u64,
}

/// The inputs of `cuLaunchKernelEx`; `None` if there is no `CUlaunchConfig`.
fn configured(config: u64, function: u64, kernel_params: u64, extra: u64) -> Option<Launch> {
    // SAFETY: cuLaunchKernelEx's caller promises a CUlaunchConfig.
    let LaunchConfig { grid, block, shared_bytes, stream } = unsafe { read(config) }.ok()?;
    Some(Launch { function, grid, block, shared_bytes, stream, kernel_params, extra })
}

/// The arguments of a call's record, from all its inputs in C order.
#[inline]
pub(crate) fn recorded<const N: usize>(function: Function, inputs: [Option<u64>; N]) -> [u64; 8] {
    if function.is_launch() {
        let inputs = c_api::pack(inputs);
        let mut words = launch_of(function, inputs).words();
        if function == Function::cuLaunchKernelEx {
            words[ATTRIBUTES_WORD] = attribute_bits(inputs[0]);
        }
        words
    } else if function.is_row_copy() {
        let [copy, stream, ..] = c_api::pack::<8, N>(inputs);
        recorded_rows(function, copy, stream).words()
    } else if function == Function::cuPointerSetAttribute {
        let [value, attribute, address, ..] = c_api::pack::<8, N>(inputs);
        // SAFETY: the only attribute that can be set is an `unsigned int`, and the caller promises
        // the address of one.
        let value: u32 = unsafe { read(value) }.unwrap_or(0);
        [value.into(), attribute, address, 0, 0, 0, 0, 0]
    } else {
        c_api::pack(inputs)
    }
}

/// A bit for each attribute of a `CUlaunchConfig`.
fn attribute_bits(config: u64) -> u64 {
    attributes(config)
        .fold(0, |bits, Attribute { id, .. }| bits | 1_u64.checked_shl(id).unwrap_or(0))
}

/// The attributes of a `CUlaunchConfig`.
fn attributes(config: u64) -> impl Iterator<Item = Attribute> {
    // SAFETY: cuLaunchKernelEx's caller promises a CUlaunchConfig.
    let config: Option<AttributedConfig> = unsafe { read(config) }.ok();
    config.into_iter().flat_map(|AttributedConfig { attributes, count, .. }| {
        (0..u64::from(count)).filter_map(move |index| {
            let address = attributes.wrapping_add(index * size_of::<Attribute>() as u64);
            // SAFETY: a CUlaunchConfig has the address of so many CUlaunchAttributes.
            unsafe { read(address) }.ok()
        })
    })
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, whose value is an `int`.
const COOPERATIVE: u32 = 2;

/// `CUlaunchAttribute`. Most of its values begin with a number of 32 bits.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
struct Attribute {
    id: u32,
    padding: u32,
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct AttributedConfig {
    launch: LaunchConfig,
    attributes: u64,
    count: u32,
}

/// A launch from its inputs in C order.
fn launch_of(called: Function, inputs: [u64; 11]) -> Launch {
    if called == Function::cuLaunchKernelEx {
        let [config, function, kernel_params, extra, ..] = inputs;
        let unread = [0; 3];
        let launch = Launch {
            function,
            grid: unread,
            block: unread,
            shared_bytes: 0,
            stream: 0,
            kernel_params,
            extra,
        };
        return configured(config, function, kernel_params, extra).unwrap_or(launch);
    }
    let [function, x, y, z, block_x, block_y, block_z, shared_bytes, stream, kernel_params, extra] =
        inputs;
    let (grid, block) = ([x, y, z], [block_x, block_y, block_z]);
    let [grid, block] = [grid, block].map(|dimensions| dimensions.map(|count| count as u32));
    Launch {
        function,
        grid,
        block,
        shared_bytes: shared_bytes as u32,
        stream,
        kernel_params,
        extra,
    }
}
