//! Launches. A kernel takes its place in its stream and computes nothing.

use allocert_contract::StreamHandle;

use crate::{
    Caller, Driver,
    code_image::Parameter,
    error::{CudaError, Result},
    modules::Function,
    work_queue::Work,
};

/// What a launch asks for.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub function: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The dynamic shared memory of a block.
    pub shared_bytes: u32,
    pub arguments: Arguments,
    /// All blocks must run at once.
    pub is_cooperative: bool,
}

/// How a launch gives a kernel's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    None,
    /// The address of each.
    Addresses,
    /// All of them in one block of so many bytes.
    Buffer {
        bytes: u64,
    },
    /// In both ways at once, in a buffer without an address, or in a list that cannot be read.
    Invalid,
}

/// Blocks of a grid, along x, y and z.
const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Threads of a block, along x, y and z.
const MOST_THREADS: [u32; 3] = [1024, 1024, 64];

impl Driver {
    /// `cuLaunchKernel`, `cuLaunchCooperativeKernel`, `cuLaunchKernelEx`.
    pub fn launch(&mut self, caller: &Caller, launch: &Launch, stream: StreamHandle) -> Result {
        let stream = self.stream(caller, stream)?;
        let context = self.streams.get(stream).map_or(0, |stream| stream.context);
        let function = self.function(launch.function)?;
        if function.context != 0 && function.context != context {
            return Err(CudaError::INVALID_HANDLE);
        }
        let name = function.name.clone();
        function.check_dimensions(launch)?;
        function.check_arguments(launch.arguments)?;
        if launch.is_cooperative {
            self.check_all_run_at_once(launch)?;
        }
        let fault = self.faults.on_kernel(&name);
        self.enqueue(stream, Work::Kernel { fault }, None)?;
        Ok(())
    }

    /// Whether all blocks of a cooperative launch fit on the device at once.
    fn check_all_run_at_once(&mut self, launch: &Launch) -> Result {
        let threads = launch.block.iter().product::<u32>() as i32;
        let is_too_shared = self.function(launch.function)?.is_too_shared(launch.shared_bytes);
        let most = self.resident_blocks(launch.function, threads, launch.shared_bytes.into())?;
        let blocks: u64 = launch.grid.iter().map(|count| u64::from(*count)).product();
        if is_too_shared || blocks > most {
            Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE)
        } else {
            Ok(())
        }
    }
}

impl Function {
    /// Whether grid, block and shared memory are such as the device and the kernel take.
    fn check_dimensions(&self, launch: &Launch) -> Result {
        let Launch { grid, block, .. } = *launch;
        let within = |wanted: [u32; 3], most: [u32; 3]| {
            wanted.iter().zip(most).all(|(wanted, most)| (1..=most).contains(wanted))
        };
        let threads: u64 = block.iter().map(|count| u64::from(*count)).product();
        let fits = within(grid, MOST_BLOCKS)
            && within(block, MOST_THREADS)
            && threads <= self.most_threads().into()
            // As measured, a block of one thread may always be.
            && self.kernel.block.is_none_or(|wanted| wanted == block || block == [1; 3])
            // For a cooperative launch this counts as too many blocks at once.
            && (launch.is_cooperative || !self.is_too_shared(launch.shared_bytes));
        if fits { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
    }

    /// Whether a block may not have so much dynamic shared memory.
    fn is_too_shared(&self, shared_bytes: u32) -> bool {
        i64::from(shared_bytes) > i64::from(self.most_shared_bytes)
    }

    /// Whether a launch has arguments if the kernel takes some, and no more of them.
    fn check_arguments(&self, arguments: Arguments) -> Result {
        let layout = self.kernel.layout.as_deref();
        let takes_none = layout.is_none_or(<[Parameter]>::is_empty);
        let bytes = layout.map(|layout| {
            layout.last().map_or(0, |last| u64::from(last.offset) + u64::from(last.size))
        });
        match arguments {
            Arguments::None | Arguments::Buffer { bytes: 0 } if !takes_none => {
                Err(CudaError::INVALID_VALUE)
            }
            Arguments::Buffer { bytes: given } if bytes.is_some_and(|most| given > most) => {
                Err(CudaError::LAUNCH_OUT_OF_RESOURCES)
            }
            Arguments::Invalid => Err(CudaError::INVALID_VALUE),
            _ => Ok(()),
        }
    }
}
