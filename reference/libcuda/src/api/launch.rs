//! Launches. A kernel takes its place in its stream and does nothing else.

use allocert_contract::{
    StreamHandle,
    trace::cuda::{ATTRIBUTES_WORD, Function, Launch},
};
use allocert_driver::{CudaError, Result};

use super::{copies::recorded_rows, text::read};
use crate::c_api::{self, Call};

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
    launch(call, &Launch { function, grid, block, shared_bytes, stream, kernel_params, extra })
}

/// That all blocks fit on the device at once is not checked.
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
    launch(call, &Launch { function, grid, block, shared_bytes, stream, kernel_params, extra: 0 })
}

pub(crate) fn cuLaunchKernelEx(
    call: &mut Call,
    config: u64,
    function: u64,
    kernel_params: u64,
    extra: u64,
) -> Result {
    launch(
        call,
        &configured(config, function, kernel_params, extra).ok_or(CudaError::INVALID_VALUE)?,
    )
}

fn launch(call: &mut Call, launch: &Launch) -> Result {
    let Launch { grid: [x, y, z], block: [block_x, block_y, block_z], .. } = *launch;
    let dimensions = [x, y, z, block_x, block_y, block_z];
    let (shared_bytes, stream) = (launch.shared_bytes, StreamHandle(launch.stream));
    let has_arguments = launch.kernel_params != 0 || launch.extra != 0;
    call.driver.launch(
        &call.caller,
        launch.function,
        dimensions,
        shared_bytes,
        stream,
        has_arguments,
    )
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
            words[ATTRIBUTES_WORD] = attributes(inputs[0]);
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
fn attributes(config: u64) -> u64 {
    // SAFETY: cuLaunchKernelEx's caller promises a CUlaunchConfig.
    let Ok(AttributedConfig { attributes, count, .. }) = (unsafe { read(config) }) else {
        return 0;
    };
    (0..u64::from(count)).fold(0, |bits, index| {
        let address = attributes.wrapping_add(index * ATTRIBUTE_BYTES);
        // SAFETY: a CUlaunchConfig has the address of so many CUlaunchAttributes, which begin with
        // their id.
        let id: u32 = unsafe { read(address) }.unwrap_or(0);
        bits | 1_u64.checked_shl(id).unwrap_or(0)
    })
}

/// The size of `CUlaunchAttribute`.
const ATTRIBUTE_BYTES: u64 = 72;

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
