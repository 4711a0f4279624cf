//! Checks that a host with a plugin does not allocate from the driver itself.

use crate::effect::Effect;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::timeline::cuda_call;
use crate::observation::Outcome;
use crate::plan::Part;
use crate::verdict::Check;

/// Judges only cases whose setup installs the plugin first: every later context then belongs to the
/// plugin.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    let Some(setup) = record.case.steps.first().filter(|step| step.part == Part::Setup) else {
        return;
    };
    let installed = setup.r#do.properties().installs_plugin;
    if !installed || !matches!(record.outcome(0), Some(Outcome::Returned(_))) {
        return;
    }
    sink.check_performed(Check::OwnAllocation);
    for (event, attribution) in record.observation.events.iter().zip(&record.timeline.attributions)
    {
        let Some((function, call)) = cuda_call(event).filter(|_| attribution.by_subject) else {
            continue;
        };
        if matches!(Effect::of(call), Effect::Take { .. } | Effect::Give { .. }) {
            sink.report_check(CheckFinding {
                check: Check::OwnAllocation,
                step: attribution.step,
                expected: "memory is asked of the plugin and given back to it".to_owned(),
                observed: format!("the host itself called {function}"),
                events: vec![witness(event.seq, "called here")],
            });
        }
    }
}
