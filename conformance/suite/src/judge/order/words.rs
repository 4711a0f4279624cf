//! How the judge of order names streams, accesses and what would have put them in order.

use allocert_contract::StreamHandle;
use allocert_contract::trace::Event;

use crate::judge::docket::witness;
use crate::judge::order::access::{Mark, Pair};
use crate::judge::order::effect::Effect;
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::verdict::Witness;

/// `legacy`, `per-thread of thread 7`, `stream 0x5701`.
pub(crate) fn stream(handle: u64, thread: u32, per_thread: bool) -> String {
    match StreamHandle(handle) {
        StreamHandle::PER_THREAD => format!("per-thread of thread {thread}"),
        StreamHandle::DEFAULT if per_thread => format!("per-thread of thread {thread}"),
        StreamHandle::DEFAULT | StreamHandle::LEGACY => "legacy".to_owned(),
        StreamHandle(created) => format!("stream {created:#x}"),
    }
}

/// What would have put the later access behind the earlier one.
pub(crate) fn remedy(scene: &Scene<'_>, pair: &Pair) -> String {
    let (earlier, later) = (event(scene, &pair.earlier), event(scene, &pair.later));
    let first = place(earlier);
    let host = format!("the host synchronizes with {first} before #{}", later.seq);
    match stream_of(later) {
        Some(second) => format!(
            "{second} waits for an event recorded in {first} after #{}, or {host}",
            earlier.seq
        ),
        None => host,
    }
}

/// Both accesses and the bytes that they share.
pub(crate) fn clash(
    scene: &Scene<'_>,
    Pair { earlier, later, part: (start, end) }: &Pair,
) -> String {
    let (first, second) = (access(scene, earlier), access(scene, later));
    format!("{first} {start:#x}..{end:#x}, {second} the same, and nothing orders the two")
}

pub(crate) fn witnesses(scene: &Scene<'_>, pair: &Pair) -> Vec<Witness> {
    let seen = |mark: &Mark, more: &str| {
        let event = event(scene, mark);
        witness(event.seq, format!("{} in {}{more}", mark.kind.verb(), place(event)))
    };
    vec![seen(&pair.earlier, ""), seen(&pair.later, ", not ordered after it")]
}

/// `cuMemsetD8Async (#17, step 3, stream 0x5701, thread 7) writes`.
pub(crate) fn access(scene: &Scene<'_>, mark: &Mark) -> String {
    let event = event(scene, mark);
    let function = call(event).map_or("a call", |call| call.function.name());
    let step = match scene.timeline.moments[mark.event as usize].step {
        Some(step) => format!("step {step}"),
        None => "between steps".to_owned(),
    };
    let by = if mark.subject { "" } else { ", the harness's own" };
    format!(
        "{function} (#{}, {step}, {}, thread {}{by}) {}",
        event.seq,
        place(event),
        event.thread,
        mark.kind.verb()
    )
}

/// The stream of an access, or the host.
pub(crate) fn place_of(scene: &Scene<'_>, mark: &Mark) -> String {
    place(event(scene, mark))
}

pub(crate) fn seq(scene: &Scene<'_>, mark: &Mark) -> u64 {
    event(scene, mark).seq
}

fn event<'s>(scene: &Scene<'s>, mark: &Mark) -> &'s Event {
    &scene.observation.events[mark.event as usize]
}

fn place(event: &Event) -> String {
    stream_of(event).unwrap_or_else(|| "the host".to_owned())
}

fn stream_of(event: &Event) -> Option<String> {
    let call = call(event)?;
    match Effect::of(call) {
        Effect::Queue { stream: handle, .. } => Some(stream(handle, event.thread, call.per_thread)),
        Effect::Peer { .. } => Some(stream(0, event.thread, call.per_thread)),
        _ => None,
    }
}
