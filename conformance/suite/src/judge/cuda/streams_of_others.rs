//! Streams of the worker that the subject destroys.

use std::collections::BTreeMap;

use crate::effect::cuda::OrderEffect;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::timeline::cuda_call;
use crate::verdict::Check;

/// Judges all events of the case. A trace with gaps says nothing about who made a stream.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if record.observation.events_lost > 0 {
        return;
    }
    sink.check_performed(Check::StreamOfOthers);
    // The event that made each, by handle.
    let mut of_worker: BTreeMap<u64, u64> = BTreeMap::new();
    for (event, attribution) in record.observation.events.iter().zip(&record.timeline.attributions)
    {
        let Some((_, call)) = cuda_call(event).filter(|(_, call)| call.result == Some(0)) else {
            continue;
        };
        match OrderEffect::of(call) {
            OrderEffect::CreateStream { handle, .. } if attribution.by_subject => {
                of_worker.remove(&handle);
            }
            OrderEffect::CreateStream { handle, .. } => {
                of_worker.insert(handle, event.seq);
            }
            OrderEffect::DestroyStream { handle } => {
                let Some(made) = of_worker.remove(&handle).filter(|_| attribution.by_subject)
                else {
                    continue;
                };
                sink.report_check(CheckFinding {
                    check: Check::StreamOfOthers,
                    step: attribution.step,
                    expected: "a stream is destroyed by whoever made it".to_owned(),
                    observed: format!("{} of {handle:#x}, which the worker made", call.function),
                    events: vec![witness(made, "made here"), witness(event.seq, "destroyed here")],
                });
            }
            _ => {}
        }
    }
}
