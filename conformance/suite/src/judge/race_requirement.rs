//! The requirement that a race breaks. Some races break another one than most, and some break none:
//! a text may leave it to the user to order the two accesses.

use std::collections::BTreeSet;

use allocert_contract::trace::Event;
use allocert_requirements::Side;

use crate::effect::Effect;
use crate::interface::interface;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;
use crate::observation::Facts;
use crate::plan::PlannedStep;
use crate::verdict::{Check, Finding};

/// Removes races with an export of a version that says nothing of synchronization. Races of an
/// operation on an imported view with the producer's later work get a requirement of their own, and
/// so do races with work on the bytes beside an array. Memory that a plugin of `emm` frees while
/// work on it is queued is used after its free, as it is where the driver saw that work run.
pub(crate) fn assign(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if let Some(first) = interface(record.side).and_then(|side| side.facts.first_ordered_version) {
        sink.findings.retain(|finding| !is_with_early_export(record, finding, first));
    }
    restate(record, sink, Check::RaceBeside, is_beside);
    restate(record, sink, Check::ViewRace, is_after_view);
    if record.side == Side::Emm {
        sink.findings.retain(|finding| !is_of_unused_memory(record, finding));
        restate(record, sink, Check::UseAfterFree, is_with_free);
    }
}

/// Gives races of this kind the requirement of their own check, where the side has one.
fn restate(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    check: Check,
    is_of_kind: impl Fn(&CaseRecord<'_>, &Finding) -> bool,
) {
    let Some(requirement) = record.catalogue.by_check(record.side, check.name()) else {
        return;
    };
    sink.check_performed(check);
    for finding in sink.findings.iter_mut().filter(|one| is_of_kind(record, one)) {
        finding.requirement.clone_from(&requirement.id);
        finding.level = requirement.level;
        finding.check = Some(check);
    }
}

/// Whether the two accesses allocate and free: nobody used the memory, so only the plugin's own
/// calls are in no order.
fn is_of_unused_memory(record: &CaseRecord<'_>, finding: &Finding) -> bool {
    let earlier = effect_of_race(record, finding, 0);
    matches!(earlier, Some(Effect::Take { .. })) && is_with_free(record, finding)
}

/// Whether the later access gives the memory back.
fn is_with_free(record: &CaseRecord<'_>, finding: &Finding) -> bool {
    matches!(effect_of_race(record, finding, 1), Some(Effect::Give { .. }))
}

/// What the call of the earlier access of a race does to memory (0), or that of the later one (1).
fn effect_of_race(record: &CaseRecord<'_>, finding: &Finding, access: usize) -> Option<Effect> {
    let witness = finding.events.get(access).filter(|_| finding.check == Some(Check::Race))?;
    let mut events = record.observation.events.iter();
    events.find(|event| event.seq == witness.seq).and_then(Event::call).map(Effect::of)
}

/// Whether the worker's access is to bytes beside the array.
fn is_beside(record: &CaseRecord<'_>, finding: &Finding) -> bool {
    steps_of_race(record, finding).iter().any(|step| step.r#do.properties().works_beside_array)
}

/// Whether a consumer took part that read an export of a version before the first ordered one.
fn is_with_early_export(record: &CaseRecord<'_>, finding: &Finding, first: i64) -> bool {
    steps_of_race(record, finding).into_iter().any(|step| {
        let arguments = step.r#do.arguments();
        let mut exports = arguments.uses.iter().filter_map(|name| record.facts(name.name));
        let properties = step.r#do.properties();
        let version = if properties.reads_masks { version_of_mask } else { version };
        properties.reads_exports && exports.any(|it| version(it).is_some_and(|it| it < first))
    })
}

fn version(export: &Facts) -> Option<i64> {
    export.get("version")?.as_i64()
}

/// The version of the interface of an export's mask.
fn version_of_mask(export: &Facts) -> Option<i64> {
    let mask = ["entries", "mask", "interface", "entries", "version", "value"];
    let description = export.get("description")?;
    mask.iter().try_fold(description, |value, name| value.get(name))?.as_i64()
}

/// Whether the subject's operation on a view is the earlier access, and the worker's the later one.
fn is_after_view(record: &CaseRecord<'_>, finding: &Finding) -> bool {
    let (later, earlier): (Vec<&PlannedStep>, Vec<&PlannedStep>) =
        steps_of_race(record, finding).into_iter().partition(|one| Some(one.index) == finding.step);
    let is_view = |step: &&PlannedStep| step.r#do.properties().uses_foreign;
    let takes = |step: &&PlannedStep| step.r#do.properties().takes_foreign;
    !earlier.is_empty()
        && earlier.iter().all(is_view)
        && !later.iter().any(|step| is_view(step) || takes(step))
}

/// The steps of the two accesses of a race; none for another finding.
fn steps_of_race<'a>(record: &CaseRecord<'a>, finding: &Finding) -> Vec<&'a PlannedStep> {
    if finding.check != Some(Check::Race) {
        return Vec::new();
    }
    let seqs: BTreeSet<u64> = finding.events.iter().map(|witness| witness.seq).collect();
    let events = record.observation.events.iter().zip(&record.timeline.attributions);
    let steps: BTreeSet<u32> = events
        .filter(|(event, _)| seqs.contains(&event.seq))
        .filter_map(|(_, attribution)| attribution.step)
        .chain(finding.step)
        .collect();
    steps.iter().filter_map(|step| record.case.steps.get(*step as usize)).collect()
}
