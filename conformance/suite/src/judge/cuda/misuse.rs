//! Driver purity: what the driver itself saw misused, and primary contexts that are not the
//! subject's to end.

use std::collections::HashMap;

use allocert_contract::trace::{Call, What, cuda::Misuse};

use crate::effect::cuda::ContextEffect;
use crate::interface::interface;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::timeline::cuda_call;
use crate::verdict::Check;

/// Judges all events of the subject.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    sink.check_performed(Check::DriverMisuse);
    let mut contexts = Contexts::default();
    let alone = interface(record.case.operations)
        .is_some_and(|interface| interface.facts.only_subject_manages_contexts);
    for (event, attribution) in record.observation.events.iter().zip(&record.timeline.attributions)
    {
        if !attribution.by_subject {
            continue;
        }
        if let What::Misuse { misuse, function, args } = &event.what
            && *misuse != Misuse::WorkAfterFree
        {
            sink.report_check(CheckFinding {
                check: Check::DriverMisuse,
                step: attribution.step,
                expected: "only handles that are alive reach the driver".to_owned(),
                observed: format!("{function}: {}", describe(*misuse, args[0])),
                events: vec![witness(event.seq, "misused here")],
            });
        }
        // Where a host manages contexts too, its calls cannot be told from the subject's.
        let Some((_, call)) = cuda_call(event).filter(|_| alone) else {
            continue;
        };
        if let Some(observed) = contexts.call(call).filter(|_| attribution.step.is_some()) {
            sink.report_check(CheckFinding {
                check: Check::DriverMisuse,
                step: attribution.step,
                expected: "the context of the host is left alive".to_owned(),
                observed,
                events: vec![witness(event.seq, "called here")],
            });
        }
    }
}

/// What the subject did to contexts.
#[derive(Default)]
struct Contexts {
    /// Retains not released, by device. What is left of them at the end is no breach: the CUDA
    /// runtime keeps the primary context too.
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
        match ContextEffect::of(call) {
            ContextEffect::Retain { device, .. } => {
                *self.retains.entry(device).or_default() += 1;
                None
            }
            ContextEffect::Release { device } => {
                let count = self.retains.entry(device).or_default();
                *count -= 1;
                (*count < 0)
                    .then(|| format!("{} of device {device} without a retain", call.function))
            }
            ContextEffect::Reset { device } => {
                Some(format!("{} destroyed the primary context of device {device}", call.function))
            }
            ContextEffect::Create { context, .. } => {
                self.created.push(context);
                None
            }
            ContextEffect::Destroy { context } if !self.created.contains(&context) => Some(
                format!("{} destroyed context {context:#x}, which the host made", call.function),
            ),
            _ => None,
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
