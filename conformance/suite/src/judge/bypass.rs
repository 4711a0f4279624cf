//! A host that has a plugin leaves all memory to it.

use crate::judge::act::Act;
use crate::judge::docket::{Docket, Hit, witness};
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::observation::Outcome;
use crate::operation::Operation;
use crate::plan::Part;
use crate::verdict::Check;

/// Looks at cases whose setup installs the plugin before anything else: whatever context there is
/// afterwards is the plugin's.
pub(crate) fn judge(scene: &Scene<'_>, docket: &mut Docket<'_>) {
    let Some(setup) = scene.case.steps.first().filter(|step| step.part == Part::Setup) else {
        return;
    };
    let installed = matches!(setup.r#do, Operation::Register { .. });
    if !installed || !matches!(scene.outcome(0), Some(Outcome::Returned(_))) {
        return;
    }
    docket.performed(Check::OwnAllocation);
    for (event, moment) in scene.observation.events.iter().zip(&scene.timeline.moments) {
        let Some(call) = call(event).filter(|_| moment.subject) else { continue };
        if matches!(Act::of(call), Act::Take { .. } | Act::Give { .. }) {
            docket.hit(Hit {
                check: Check::OwnAllocation,
                step: moment.step,
                expected: "memory is asked of the plugin and given back to it".to_owned(),
                observed: format!("the host itself called {}", call.function),
                events: vec![witness(event.seq, "called here")],
            });
        }
    }
}
