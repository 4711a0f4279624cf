//! Context balance: every call leaves the context current that it found.

use allocert_contract::trace::{Event, Function};

use crate::judge::docket::{Docket, Hit, witness};
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::operation::Operation;
use crate::verdict::Check;

/// Compares the current context at the two marks of each step that calls the subject.
pub(crate) fn judge(scene: &Scene<'_>, docket: &mut Docket<'_>) {
    for step in scene.case.steps.iter().filter(|step| calls_the_subject(&step.r#do)) {
        let Some(window) = scene.timeline.window(step.index) else { continue };
        if !scene.timeline.ended(step.index) {
            continue;
        }
        docket.performed(Check::ContextBalance);
        let events = &scene.observation.events[window];
        let [begin, .., end] = events else { continue };
        if begin.thread != end.thread || begin.context == end.context {
            continue;
        }
        let switch = events.iter().rev().filter(|event| event.thread == begin.thread).find(|event| switches(event));
        docket.hit(Hit {
            check: Check::ContextBalance,
            step: Some(step.index),
            expected: format!("{} leaves {} current", step.r#do.name(), name(begin.context)),
            observed: format!("{} is current afterwards", name(end.context)),
            events: switch.into_iter().map(|event| witness(event.seq, "switched here")).collect(),
        });
    }
}

/// The operations that are one call of the manager and have no business with contexts.
fn calls_the_subject(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Initialize {}
            | Operation::Memalloc { .. }
            | Operation::Memhostalloc { .. }
            | Operation::Mempin { .. }
            | Operation::GetMemoryInfo { .. }
            | Operation::GetIpcHandle { .. }
            | Operation::Reset {}
            | Operation::DeferEnter { .. }
            | Operation::DeferExit { .. }
            | Operation::Drop { .. }
            | Operation::Free { .. }
            | Operation::Churn { .. }
    )
}

fn switches(event: &Event) -> bool {
    call(event).is_some_and(|call| {
        matches!(
            call.function,
            Function::cuCtxPushCurrent_v2
                | Function::cuCtxPopCurrent_v2
                | Function::cuCtxSetCurrent
                | Function::cuCtxCreate_v2
                | Function::cuCtxCreate_v4
                | Function::cuCtxDestroy_v2
        )
    })
}

fn name(context: u64) -> String {
    match context {
        0 => "no context".to_owned(),
        context => format!("context {context:#x}"),
    }
}
