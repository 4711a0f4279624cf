//! Occupancy.

use std::{mem, ptr};

use allocert_driver::{CudaError, Result};

use crate::c_api::{Call, Out};

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, which changes nothing here.
const FLAGS: u32 = 1;

pub(crate) fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    call: &mut Call,
    num_blocks: Out<i32>,
    function: u64,
    block_size: i32,
    dynamic_smem_size: usize,
) -> Result {
    call.driver.check_context(&call.caller)?;
    let num_blocks = num_blocks.required()?;
    num_blocks.put(call.driver.active_blocks(function, block_size, dynamic_smem_size as u64)?);
    Ok(())
}

pub(crate) fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    call: &mut Call,
    num_blocks: Out<i32>,
    function: u64,
    block_size: i32,
    dynamic_smem_size: usize,
    flags: u32,
) -> Result {
    check(call, flags)?;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        call,
        num_blocks,
        function,
        block_size,
        dynamic_smem_size,
    )
}

/// `size_of_block` is a `CUoccupancyB2DSize`, or 0 if all blocks take `dynamic_smem_size`.
pub(crate) fn cuOccupancyMaxPotentialBlockSize(
    call: &mut Call,
    min_grid_size: Out<i32>,
    block_size: Out<i32>,
    function: u64,
    size_of_block: u64,
    dynamic_smem_size: usize,
    block_size_limit: i32,
) -> Result {
    call.driver.check_context(&call.caller)?;
    let (min_grid_size, block_size) = (min_grid_size.required()?, block_size.required()?);
    call.driver.function_exists(function)?;
    if block_size_limit < 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let mut shared_bytes = |threads| match size_of_block {
        0 => dynamic_smem_size as u64,
        address => {
            let address = ptr::with_exposed_provenance::<()>(address as usize);
            // SAFETY: cuOccupancyMaxPotentialBlockSize's caller promises a CUoccupancyB2DSize.
            let size: unsafe extern "C" fn(i32) -> usize = unsafe { mem::transmute(address) };
            // SAFETY: the program's own function, which takes any number of threads.
            (unsafe { size(threads) }) as u64
        }
    };
    let (grid, block) =
        call.driver.potential_block(function, &mut shared_bytes, block_size_limit)?;
    min_grid_size.put(grid);
    block_size.put(block);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "CUDA's own prototype")]
pub(crate) fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    call: &mut Call,
    min_grid_size: Out<i32>,
    block_size: Out<i32>,
    function: u64,
    size_of_block: u64,
    dynamic_smem_size: usize,
    block_size_limit: i32,
    flags: u32,
) -> Result {
    check(call, flags)?;
    cuOccupancyMaxPotentialBlockSize(
        call,
        min_grid_size,
        block_size,
        function,
        size_of_block,
        dynamic_smem_size,
        block_size_limit,
    )
}

fn check(call: &Call, flags: u32) -> Result {
    call.driver.check_context(&call.caller)?;
    if flags & !FLAGS == 0 { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}
