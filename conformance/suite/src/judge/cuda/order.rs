//! Happens-before over one case: which accesses to memory come before which others, whatever the
//! device makes of its freedom.
//!
//! Every access of an operation gets an epoch, a place in its stream; every stream, every recorded
//! event and the host have a clock, the highest epoch of each stream that is over for them. Waiting
//! takes in a clock. Two accesses that meet, conflict, and of which the later one's clock does not
//! cover the earlier one's epoch, can happen in either order. Epochs keep the common case short,
//! and the last accesses alone are remembered by address, so that the work grows with the trace and
//! not with its square.
//!
//! What the trace does not show is read as follows; where such a reading alone decides, the case is
//! not observed, for a [`Doubt`].
//!
//! - **Host threads** come one after the other as the trace has their calls: a lock or a queue
//!   between two of them leaves no trace. The steps of a case need no edges besides. Each thread
//!   still has its own per-thread stream.
//! - **Other processes** are not looked at; memory opened from an IPC handle is memory apart.
//! - **Synchronous copies** are over when they return, as the reference has it for all but pageable
//!   memory to the device ("may not have completed") and as measured for that one too. From device
//!   to device, and a memset of device memory, the host goes on at once.
//! - **Frees** of `cuMemFree`, `cuMemFreeHost` and `cuMemHostUnregister` come after all work of the
//!   device, as measured; so does the end of a context. `cuMemFreeAsync` and `cuMemAllocAsync` are
//!   writes in their stream. Addresses that are given out again are in order: the driver sees to
//!   that.
//! - **The legacy stream and blocking streams**: an operation on the legacy stream comes after all
//!   earlier ones of the blocking streams of its context, and before all later ones. Waiting for
//!   the legacy stream waits for these streams too, even if it had no operation since: the
//!   reference says that it "synchronizes with" them, and a driver was measured to do so. Waiting
//!   for a blocking stream does not wait for the legacy stream.
//! - **A stream that nobody created** in the trace is taken for a blocking one, which has the more
//!   order. **An event** that nobody created may stand for anything: doubt.
//! - **`PassedOn`** calls may wait for anything queued before them, and a **host function** may
//!   tell any thread that its stream got there: doubt about whatever that would have put in order.
//!   Getting an export table (`cuGetExportTable`, which CUDA's runtime does again and again) waits
//!   for nothing; what is called through such a table is not seen at all, and taken to wait for
//!   nothing either. While a stream is being **captured**, nothing is judged. `Unsupported` calls
//!   do nothing, and failed ones neither; but when a kernel has broken the context, all its work is
//!   over.
//! - **Arguments of kernels** reach to the end of the memory that a fact of the case names, and
//!   nowhere else further than one byte: blocks of a pool lie side by side in one allocation. They
//!   count as read and written between subject and harness; two kernels of one party may both only
//!   read, so that between its own operations an argument conflicts with what surely writes.
//! - **Memory that no fact of the case names** is a party's own: what it does there by itself, in
//!   buffers that it copies through, is no exchange.
//! - **What the host reads and writes itself** in mapped or managed memory is not seen, and neither
//!   are the extents of 2D copies.

mod access;
mod context_devices;
mod doubts;
mod expected_order;
mod kernel_arguments;
mod last_accesses;
mod messages;
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
    let wanted = OrderExpectations::new(record);
    if record.observation.events_lost > 0 || !(claimed || wanted.is_any()) {
        return;
    }
    let mut replay = Replay::new(record, wanted);
    for (index, (event, moment)) in
        record.observation.events.iter().zip(&record.timeline.moments).enumerate()
    {
        if moment.own {
            replay.event(index, event, *moment);
        }
    }
    replay.wanted.close(record, sink);
    if claimed {
        sink.performed(Check::Race);
        replay.races.close(record, sink);
    }
    if let Some(because) = replay.doubts.met {
        sink.not_observed(Reason::OrderUnknown { because });
    }
}
