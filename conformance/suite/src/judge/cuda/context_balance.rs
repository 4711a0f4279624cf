//! Context balance: every call leaves the context current that it found, or on a thread without one
//! what the host makes current. A C table is held to it to the letter.

use allocert_contract::trace::Event;

use crate::effect::cuda::ContextEffect;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::timeline::cuda_call;
use crate::plan::PlannedStep;
use crate::verdict::Check;

/// Compares the context stack at the two markers of each step that calls the subject: its top by
/// what the markers carry, its depth by the pushes and pops between them.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    for step in &record.case.steps {
        let line = record.observation.steps.get(step.index as usize);
        let properties = step.r#do.properties();
        let table = line.is_some_and(|line| line.table_calls.is_some()) && !properties.is_threaded;
        let balance = properties.keeps_context;
        let window = record.timeline.window(step.index).filter(|_| balance || table);
        let Some(window) = window.filter(|_| record.timeline.has_ended(step.index)) else {
            continue;
        };
        let asked = [(Check::ContextBalance, balance), (Check::ContextKept, table)];
        for (check, _) in asked.into_iter().filter(|(_, asked)| *asked) {
            sink.check_performed(check);
            let hit = change(record, step, check, &record.observation.events[window.clone()]);
            hit.into_iter().for_each(|hit| sink.report_check(hit));
        }
    }
}

/// What a step changed of what its thread has current.
fn change(
    record: &CaseRecord<'_>,
    step: &PlannedStep,
    check: Check,
    events: &[Event],
) -> Option<CheckFinding> {
    let [begin, .., end] = events else { return None };
    let same_thread = || events.iter().filter(|event| event.thread == begin.thread);
    let lenient = check == Check::ContextBalance && begin.context == 0;
    let observed = match same_thread().map(depth).sum() {
        _ if begin.thread != end.thread => return None,
        more if more <= 1 && lenient && is_hosts_own(record, end.context) => return None,
        _ if begin.context != end.context => format!("{} is current afterwards", name(end.context)),
        0 => return None,
        more @ 1.. => format!("{more} more on the thread's context stack afterwards"),
        less => format!("{} fewer on the thread's context stack afterwards", -less),
    };
    let switch = same_thread().rev().find(|event| switches(event));
    Some(CheckFinding {
        check,
        step: Some(step.index),
        expected: format!("{} leaves {} current", step.r#do.name(), name(begin.context)),
        observed,
        events: switch.into_iter().map(|event| witness(event.seq, "switched here")).collect(),
    })
}

/// Whether it is the primary context of device 0: the host itself makes that one current on a
/// thread that has none.
fn is_hosts_own(record: &CaseRecord<'_>, context: u64) -> bool {
    let calls = record.observation.events.iter().filter_map(cuda_call);
    calls
        .filter(|(_, call)| call.result == Some(0))
        .map(|(_, call)| ContextEffect::of(call))
        .any(|effect| effect == ContextEffect::Retain { device: 0, context })
}

/// What an event adds to its thread's context stack.
fn depth(event: &Event) -> i64 {
    let Some((_, call)) = cuda_call(event).filter(|(_, call)| call.result == Some(0)) else {
        return 0;
    };
    match ContextEffect::of(call) {
        ContextEffect::Push | ContextEffect::Create { .. } => 1,
        ContextEffect::Pop => -1,
        ContextEffect::Destroy { context } if context == event.context => -1,
        _ => 0,
    }
}

fn switches(event: &Event) -> bool {
    cuda_call(event).is_some_and(|(_, call)| ContextEffect::of(call).switches())
}

fn name(context: u64) -> String {
    match context {
        0 => "no context".to_owned(),
        context => format!("context {context:#x}"),
    }
}
