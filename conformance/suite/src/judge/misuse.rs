//! Driver purity: what the driver itself saw misused, and primary contexts that are not the subject's to end.

use std::collections::HashMap;

use allocert_contract::trace::{Call, Event, Function, Misuse, What};

use crate::case::Through;
use crate::judge::docket::{Docket, Hit, witness};
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::verdict::Check;

/// Judges all events of the subject.
pub(crate) fn judge(scene: &Scene<'_>, docket: &mut Docket<'_>) {
    docket.performed(Check::DriverMisuse);
    let mut contexts = Contexts::default();
    for (event, moment) in scene.observation.events.iter().zip(&scene.timeline.moments) {
        if !moment.subject {
            continue;
        }
        if let What::Misuse { misuse, function, args } = &event.what
            && *misuse != Misuse::WorkAfterFree
        {
            docket.hit(Hit {
                check: Check::DriverMisuse,
                step: moment.step,
                expected: "only handles that are alive reach the driver".to_owned(),
                observed: format!("{function}: {}", describe(*misuse, args[0])),
                events: vec![witness(event.seq, "misused here")],
            });
        }
        // Under numba-cuda the primary context is the host's, whose calls cannot be told from the subject's.
        let Some(call) = call(event).filter(|_| scene.case.through == Through::Manager) else { continue };
        if let Some(observed) = contexts.call(call).filter(|_| moment.step.is_some()) {
            docket.hit(Hit {
                check: Check::DriverMisuse,
                step: moment.step,
                expected: "the context of the host is left alive".to_owned(),
                observed,
                events: vec![witness(event.seq, "called here")],
            });
        }
    }
    if scene.finished() && scene.case.through == Through::Manager {
        contexts.retained(scene, docket);
    }
}

/// What the subject did to contexts.
#[derive(Default)]
struct Contexts {
    /// Retains not released, by device, with the last one.
    retains: HashMap<u64, i64>,
    created: Vec<u64>,
}

impl Contexts {
    /// What is wrong with a call, if it ends a context that the subject did not begin.
    fn call(&mut self, call: &Call) -> Option<String> {
        let happened = matches!(call.result, Some(0) | None);
        if !happened || call.injected {
            return None;
        }
        let argument = call.args[0];
        match call.function {
            Function::cuDevicePrimaryCtxRetain => {
                *self.retains.entry(argument).or_default() += 1;
                None
            }
            Function::cuDevicePrimaryCtxRelease | Function::cuDevicePrimaryCtxRelease_v2 => {
                let count = self.retains.entry(argument).or_default();
                *count -= 1;
                (*count < 0).then(|| format!("{} of device {argument} without a retain", call.function))
            }
            Function::cuDevicePrimaryCtxReset | Function::cuDevicePrimaryCtxReset_v2 => {
                Some(format!("{} destroyed the primary context of device {argument}", call.function))
            }
            Function::cuCtxCreate_v2 | Function::cuCtxCreate_v4 => {
                self.created.push(call.out[0]);
                None
            }
            Function::cuCtxDestroy_v2 if !self.created.contains(&argument) => {
                Some(format!("{} destroyed context {argument:#x}, which the host made", call.function))
            }
            _ => None,
        }
    }

    /// Primary contexts that the subject retained and never released.
    fn retained(&self, scene: &Scene<'_>, docket: &mut Docket<'_>) {
        for (device, count) in self.retains.iter().filter(|(_, count)| **count > 0) {
            let retain = |event: &&Event| {
                call(event)
                    .is_some_and(|call| call.function == Function::cuDevicePrimaryCtxRetain && call.args[0] == *device)
            };
            let events = scene.observation.events.iter().zip(&scene.timeline.moments);
            let last = events.rev().filter(|(_, moment)| moment.subject).map(|(event, _)| event).find(retain);
            docket.hit(Hit {
                check: Check::ContextBalance,
                step: None,
                expected: format!("the primary context of device {device} is released as often as it was retained"),
                observed: format!("retained {count} more times than released"),
                events: last.into_iter().map(|event| witness(event.seq, "retained here")).collect(),
            });
        }
    }
}

fn describe(misuse: Misuse, handle: u64) -> String {
    match misuse {
        Misuse::UnknownStream => format!("stream {handle:#x} was never created"),
        Misuse::DestroyedStream => format!("stream {handle:#x} is destroyed"),
        Misuse::UnknownEvent => format!("event {handle:#x} was never created"),
        Misuse::DestroyedEvent => format!("event {handle:#x} is destroyed"),
        Misuse::UnknownContext => format!("context {handle:#x} was never created"),
        Misuse::DestroyedContext => format!("context {handle:#x} is destroyed"),
        Misuse::WorkAfterFree => format!("queued work reached {handle:#x} after it was freed"),
        Misuse::CallInCallback => "called from inside a stream callback".to_owned(),
        Misuse::UnknownObject => format!("object {handle:#x} is not alive"),
    }
}
