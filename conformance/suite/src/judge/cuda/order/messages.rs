//! How findings name streams, accesses and what would have ordered them.

use allocert_contract::StreamHandle;
use allocert_contract::trace::Event;

use crate::effect::cuda::OrderEffect;
use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::{Access, AccessPair};
use crate::judge::findings::witness;
use crate::judge::timeline::cuda_call;
use crate::verdict::{NOT_ORDERED, Witness};

/// `legacy`, `per-thread of thread 7`, `stream 0x5701`.
pub(crate) fn stream(handle: u64, thread: u32, per_thread: bool) -> String {
    match StreamHandle(handle) {
        StreamHandle::PER_THREAD => format!("per-thread of thread {thread}"),
        StreamHandle::DEFAULT if per_thread => format!("per-thread of thread {thread}"),
        StreamHandle::DEFAULT | StreamHandle::LEGACY => "legacy".to_owned(),
        StreamHandle(created) => format!("stream {created:#x}"),
    }
}

/// What would have ordered the later access after the earlier one.
pub(crate) fn remedy(record: &CaseRecord<'_>, pair: &AccessPair) -> String {
    let (earlier, later) = (event(record, &pair.earlier), event(record, &pair.later));
    let first = stream_or_host(earlier);
    let host = format!("the host synchronizes with {first} before #{}", later.seq);
    match stream_of(later) {
        Some(second) => format!(
            "{second} waits for an event recorded in {first} after #{}, or {host}",
            earlier.seq
        ),
        None => host,
    }
}

/// Both accesses, and the bytes that both reach.
pub(crate) fn conflict(
    record: &CaseRecord<'_>,
    AccessPair { earlier, later, overlap: (start, end) }: &AccessPair,
) -> String {
    let (first, second) = (access(record, earlier), access(record, later));
    format!("{first} {start:#x}..{end:#x}, {second} the same, and nothing orders the two")
}

pub(crate) fn witnesses(record: &CaseRecord<'_>, pair: &AccessPair) -> Vec<Witness> {
    let seen = |access: &Access, more: &str| {
        let event = event(record, access);
        witness(event.seq, format!("{} in {}{more}", access.kind.verb(), stream_or_host(event)))
    };
    vec![seen(&pair.earlier, ""), seen(&pair.later, NOT_ORDERED)]
}

/// `cuMemsetD8Async (#17, step 3, stream 0x5701, thread 7) writes`.
pub(crate) fn access(record: &CaseRecord<'_>, access: &Access) -> String {
    let event = event(record, access);
    let function = cuda_call(event).map_or("a call", |(function, _)| function.name());
    let step = match record.timeline.attributions[access.event as usize].step {
        Some(step) => format!("step {step}"),
        None => "between steps".to_owned(),
    };
    let by = if access.by_subject { "" } else { ", the harness's own" };
    format!(
        "{function} (#{}, {step}, {}, thread {}{by}) {}",
        event.seq,
        stream_or_host(event),
        event.thread,
        access.kind.verb()
    )
}

/// The stream of an access, or the host.
pub(crate) fn stream_of_access(record: &CaseRecord<'_>, access: &Access) -> String {
    stream_or_host(event(record, access))
}

pub(crate) fn seq(record: &CaseRecord<'_>, access: &Access) -> u64 {
    event(record, access).seq
}

fn event<'s>(record: &CaseRecord<'s>, access: &Access) -> &'s Event {
    &record.observation.events[access.event as usize]
}

fn stream_or_host(event: &Event) -> String {
    stream_of(event).unwrap_or_else(|| "the host".to_owned())
}

fn stream_of(event: &Event) -> Option<String> {
    let (_, call) = cuda_call(event)?;
    match OrderEffect::of(call) {
        OrderEffect::Queue { stream: handle, .. } => {
            Some(stream(handle, event.thread, call.per_thread))
        }
        _ => None,
    }
}
