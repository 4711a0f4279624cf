//! Two threads inside the functions of an allocator, at each instruction at which one of them can
//! be interrupted.
//!
//! A race of a few instructions shows rarely where threads only run at once. So one thread takes or
//! frees a block one instruction at a time: the flag of the processor for single steps raises
//! SIGTRAP after each instruction. Before an instruction that may access memory of another thread
//! the thread waits, as if the system had interrupted it there, and another thread takes and frees
//! blocks. An allocator that holds a lock at that point makes the other thread wait. Then the first
//! one goes on after a short time.
//!
//! The thread also stops before the first atomic instructions behind those: a compare-and-swap
//! is where a list without a lock takes what another thread may have changed.

#[cfg(target_arch = "x86_64")]
mod code_address;
#[cfg(target_arch = "x86_64")]
mod driver_code;
#[cfg(target_arch = "x86_64")]
mod instruction;
#[cfg(target_arch = "x86_64")]
mod progress;
#[cfg(target_arch = "x86_64")]
mod rounds;
#[cfg(target_arch = "x86_64")]
mod single_step;

use allocert_suite::observation::Facts;

use crate::step_result::NoResult;

/// The names of functions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallNames {
    pub(crate) take: &'static str,
    pub(crate) give: &'static str,
    pub(crate) resize: &'static str,
}

/// The functions of an allocator, called without a record: the step makes more calls than the
/// record takes, and stops inside them.
pub(crate) trait InterleavedCalls: Copy + Send + Sync {
    /// What the functions are called that take, free and resize a block.
    const NAMES: CallNames;

    /// Prepares the calling thread for the other functions.
    fn begin_thread(self);
    /// The address of a new block, 0 for none.
    fn take(self, size_bytes: usize) -> usize;
    /// Frees a block, or does what freeing null does.
    fn give(self, block: usize, size_bytes: usize);
    /// Whether there is a function that resizes a block.
    fn can_resize(self) -> bool {
        false
    }
    /// The address of a block of `new_bytes` in place of one of `old_bytes`, 0 for none.
    fn resize(self, _block: usize, _old_bytes: usize, _new_bytes: usize) -> usize {
        0
    }
    /// Whether there is a function that gives idle memory back to the system.
    fn can_release(self) -> bool {
        false
    }
    /// Calls it.
    fn release(self) {}
    /// What the allocator says of the bytes of live blocks, if it counts them.
    fn used(self) -> Option<u64> {
        None
    }
    /// Writes the byte to all of a block. One that cannot be written is found when it is read.
    fn fill(self, block: usize, size_bytes: usize, byte: u8);
    /// Whether all bytes of a block can be read and have this value.
    fn is_filled(self, block: usize, size_bytes: usize, byte: u8) -> bool;
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn interleave(
    calls: impl InterleavedCalls,
    size_bytes: u64,
    instructions: u64,
) -> Result<Facts, NoResult> {
    if is_traced() {
        let because = "a debugger takes the signals of single steps".to_owned();
        return Err(NoResult::Declined { because });
    }
    Ok(rounds::run(calls, size_bytes as usize, instructions))
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn interleave(_: impl InterleavedCalls, _: u64, _: u64) -> Result<Facts, NoResult> {
    let because = "this worker executes single instructions on x86-64 alone".to_owned();
    Err(NoResult::Declined { because })
}

/// Whether a debugger is attached to this process.
#[cfg(target_arch = "x86_64")]
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|pid| pid.trim() != "0")
}
