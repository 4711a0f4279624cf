//! How many blocks of a kernel fit on a multiprocessor at once. CUDA Driver API reference,
//! "Occupancy".
//!
//! The limits are the device's attributes, and those that `cuFuncGetAttribute` answers of a kernel.

use crate::{
    Driver,
    context::CACHE_PREFER_EQUAL,
    error::{CudaError, Result},
    modules::{self, MAX_DYNAMIC_SHARED_SIZE_BYTES, NUM_REGS, SHARED_SIZE_BYTES},
};

const MAX_THREADS_PER_BLOCK: u32 = 1;
const WARP_SIZE: u32 = 10;
const MULTIPROCESSOR_COUNT: u32 = 16;
const MAX_THREADS_PER_MULTIPROCESSOR: u32 = 39;
const MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: u32 = 81;
const MAX_REGISTERS_PER_MULTIPROCESSOR: u32 = 82;
const MAX_BLOCKS_PER_MULTIPROCESSOR: u32 = 106;
/// `CU_FUNC_CACHE_PREFER_L1`
const CACHE_PREFER_L1: u32 = 2;
/// What part of a multiprocessor's memory can be shared memory, in KiB. CUDA Hopper Tuning Guide,
/// "Unified Shared Memory/L1/Texture Cache".
const SHARED_MEMORY_STEPS: [u64; 9] = [8, 16, 32, 64, 100, 132, 164, 196, 228];
const RESERVED_SHARED_MEMORY_PER_BLOCK: u32 = 111;

impl Driver {
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`; 0 for blocks that do not fit at all.
    pub fn active_blocks(
        &mut self,
        function: u64,
        block_threads: i32,
        shared_bytes: u64,
    ) -> Result<i32> {
        let registers = u64::try_from(self.function_attribute(function, NUM_REGS)?).unwrap_or(0);
        let threads = u64::try_from(block_threads).ok().filter(|threads| *threads > 0);
        let threads = threads.ok_or(CudaError::INVALID_VALUE)?;
        let most_shared_bytes = self.function_attribute(function, MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        // As measured: cuFuncSetAttribute can allow less than this, and occupancy ignores that.
        let static_bytes = self.function_attribute(function, SHARED_SIZE_BYTES)?;
        let most_shared_bytes = most_shared_bytes.max(modules::UNASKED_SHARED_BYTES - static_bytes);
        let too_shared = shared_bytes > u64::try_from(most_shared_bytes).unwrap_or(0);
        if too_shared || threads > self.limit(MAX_THREADS_PER_BLOCK)? {
            return Ok(0);
        }
        let threads = threads.next_multiple_of(self.limit(WARP_SIZE)?);
        let shared_bytes =
            shared_bytes + static_bytes as u64 + self.limit(RESERVED_SHARED_MEMORY_PER_BLOCK)?;
        let by_threads = self.limit(MAX_THREADS_PER_MULTIPROCESSOR)? / threads;
        let by_registers =
            self.limit(MAX_REGISTERS_PER_MULTIPROCESSOR)? / (registers * threads).max(1);
        let by_shared = (self.preferred_shared_bytes(function)? / shared_bytes).max(1);
        let blocks = by_threads
            .min(by_registers)
            .min(by_shared)
            .min(self.limit(MAX_BLOCKS_PER_MULTIPROCESSOR)?);
        Ok(blocks as i32)
    }

    /// The shared memory of a multiprocessor that a kernel, or else its context, prefers to have.
    fn preferred_shared_bytes(&mut self, function: u64) -> Result<u64> {
        let most = self.limit(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
        let function = self.function(function)?;
        let (carveout, context) = (function.carveout, function.context);
        let config = self.contexts.get(context).map_or(0, |context| context.cache_config);
        let percent = match (u64::try_from(carveout), config) {
            (Ok(percent), _) => percent,
            (Err(_), CACHE_PREFER_L1) => 0,
            (Err(_), CACHE_PREFER_EQUAL) => 50,
            (Err(_), _) => 100,
        };
        let fits = |step: &u64| step * 100 >= most * percent;
        Ok(SHARED_MEMORY_STEPS.map(|step| step << 10).into_iter().find(fits).unwrap_or(most))
    }

    /// `cuOccupancyMaxPotentialBlockSize`: the fewest blocks that fill the device, and the largest
    /// block of at most `most_threads` (0: any) that does. `shared_bytes` tells how much dynamic
    /// shared memory a block of so many threads takes.
    pub fn potential_block(
        &mut self,
        function: u64,
        shared_bytes: &mut dyn FnMut(i32) -> u64,
        most_threads: i32,
    ) -> Result<(i32, i32)> {
        let warp = self.limit(WARP_SIZE)? as i32;
        let largest = self.function_attribute(function, modules::MAX_THREADS_PER_BLOCK)?;
        let largest = if most_threads > 0 { largest.min(most_threads) } else { largest };
        let mut best = (0, 0, 0);
        for threads in
            (1..=largest).rev().filter(|threads| threads % warp == 0 || *threads == largest)
        {
            let blocks = self.active_blocks(function, threads, shared_bytes(threads))?;
            if blocks * threads > best.0 {
                best = (blocks * threads, blocks, threads);
            }
        }
        let (_, blocks, threads) = best;
        Ok((blocks * self.limit(MULTIPROCESSOR_COUNT)? as i32, threads))
    }

    /// How many blocks of a kernel fit on all multiprocessors at once.
    pub(crate) fn resident_blocks(
        &mut self,
        function: u64,
        block_threads: i32,
        shared_bytes: u64,
    ) -> Result<u64> {
        let blocks = self.active_blocks(function, block_threads, shared_bytes)? as u64;
        Ok(blocks * self.limit(MULTIPROCESSOR_COUNT)?)
    }

    fn limit(&self, attribute: u32) -> Result<u64> {
        self.device_attribute(attribute, 0).map(|value| value as u64)
    }
}
