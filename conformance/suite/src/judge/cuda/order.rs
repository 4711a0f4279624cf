//! Happens-before over one case: which accesses to memory come before which others, whatever the
//! device is free to do.
//!
//! # Method
//!
//! - Each stream has a slot. Each access has an epoch: the slot of its stream, and a time.
//! - Each stream, each recorded event and the host have a vector clock: for each slot the highest
//!   time that is over for them.
//! - Whoever waits takes in the clock of what is waited for.
//! - Two accesses race if they overlap and conflict, and the clock of the later one does not cover
//!   the epoch of the earlier one.
//! - Only the last accesses to each range of addresses are kept, so the work grows with the length
//!   of the trace and not with its square.
//!
//! # What waits for what
//!
//! Each of these was measured on an H200, and a test replays every row of the measurement: no rule
//! gives more order than the GPU keeps. The rules for calls are in [`crate::effect::cuda`].
//!
//! - **Synchronous copies** are over when they return. A copy from device to device and a memset of
//!   device memory are not: the host goes on at once. A large copy from pageable memory has waited
//!   for earlier work, but may not have arrived.
//! - **Copies and fills of no bytes** do nothing. They are no barrier either.
//! - **`cuMemFree`, `cuMemFreeHost`, `cuMemHostUnregister`** come after all work of the context
//!   that owns the memory. A free of pool memory or of the address 0 waits for nothing.
//! - **`cuMemAllocAsync`, `cuMemFreeAsync`** are writes in their stream.
//! - **Addresses that are given out again** are in order: the driver sees to that.
//! - **The legacy stream**: its work comes after all earlier work of the blocking streams of its
//!   context, and before all later work. Waiting for it waits for those streams too, even if it had
//!   no work since. An allocation is work only if it gets memory that is still in use, a wait for
//!   an event only if the event was recorded.
//! - **Copies of another context's memory** in the legacy stream are work of both contexts' legacy
//!   streams.
//! - **A blocking stream**: waiting for it does not wait for the legacy stream.
//! - **The end of a context** comes after all work of its device.
//! - **A context that a kernel has broken**: all its work is over.
//!
//! # What the trace does not show
//!
//! Where one of these alone decides, the case is not observed, with a [`Doubt`].
//!
//! - **Host threads** come one after the other as the trace has their calls. A lock between two
//!   threads leaves no trace. Each thread has its own per-thread stream.
//! - **Other processes** are not looked at. Memory opened from an IPC handle is other memory.
//! - **A stream that nobody created** in the trace counts as blocking, which has more order.
//! - **An event that nobody created** in the trace may stand for anything: doubt.
//! - **Calls passed on by name** may wait for anything queued before them. Those that can queue
//!   work may also touch all memory that facts name, in a stream that nobody knows: doubt, for
//!   accesses before and after. `cuGetExportTable` waits for nothing, and neither does what is
//!   called through its tables, which nobody sees.
//! - **Attributes of `cuLaunchKernelEx`** that order the kernel differently: doubt, as above.
//! - **A host function** in a stream may tell any thread that the stream got there: doubt.
//! - **A captured stream**: nothing is judged while the capture lasts.
//! - **Unsupported calls and failed calls** do nothing.
//! - **An argument of a kernel** reaches to the end of the memory that a fact of the case names,
//!   and down to its begin if it is the pointer of an array with negative strides. Where no fact
//!   names it, it reaches one byte: blocks of a pool lie side by side in one allocation.
//! - **An argument counts as read and written** between subject and harness. Two kernels of the
//!   subject, or two of the harness, may both only read.
//! - **Memory that no fact of the case names** is the subject's own, as long as the harness has no
//!   access to it.
//! - **What the host reads and writes itself** in mapped or managed memory is not seen.
//!
//! [`Doubt`]: crate::reason::Doubt

mod access;
mod doubts;
mod expected_order;
mod kernel_arguments;
mod last_accesses;
mod messages;
mod primary_contexts;
mod races;
mod replay;
mod streams;
mod vector_clock;

use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::expected_order::OrderExpectations;
use crate::judge::cuda::order::replay::Replay;
use crate::judge::findings::FindingSink;
use crate::reason::Reason;
use crate::verdict::Check;

/// Judges the order of all accesses, where the side or the case asks for it. A trace with gaps says
/// nothing about order.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    let claimed = record.catalogue.by_check(record.side, Check::Race.name()).is_some();
    let expectations = OrderExpectations::new(record);
    if record.observation.events_lost > 0 || !(claimed || expectations.is_any()) {
        return;
    }
    let mut replay = Replay::new(record, expectations);
    for (index, (event, attribution)) in
        record.observation.events.iter().zip(&record.timeline.attributions).enumerate()
    {
        if attribution.in_process {
            replay.event(index, event, *attribution);
        }
    }
    replay.expectations.close(record, sink);
    if claimed {
        sink.check_performed(Check::Race);
        replay.races.close(record, sink);
    }
    if let Some(because) = replay.doubts.decisive {
        sink.not_observed(Reason::OrderUnknown { because });
    }
}
