//! Two threads inside the functions of a handler, at each instruction at which one of them can be
//! interrupted.
//!
//! A race of a few instructions shows rarely where threads only run at once. So one thread executes
//! malloc() or free() one instruction at a time: the flag of the processor for single steps raises
//! SIGTRAP after each instruction. After a given number of instructions the thread waits, as if the
//! system had interrupted it there, and another thread takes and frees blocks. A handler that holds
//! a lock at that point makes the other thread wait. Then the first one goes on after a short time.

#[cfg(target_arch = "x86_64")]
mod rounds;
#[cfg(target_arch = "x86_64")]
mod single_step;

use allocert_suite::observation::Facts;

use crate::interface::nep49::handler::UnrecordedCalls;
use crate::step_result::NoResult;

#[cfg(target_arch = "x86_64")]
pub(crate) fn interleave(
    calls: UnrecordedCalls,
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
pub(crate) fn interleave(_: UnrecordedCalls, _: u64, _: u64) -> Result<Facts, NoResult> {
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
