//! Compares what each step returned or raised with what the fixture expects.

use std::collections::{BTreeMap, BTreeSet};

use allocert_contract::trace::cuda::Function;
use allocert_requirements::{Interface, Level, Requirement, Side};
use serde_json::Value;

use crate::nouns::{ErrorKind, Need};

use crate::effect::cuda::{BEGIN_OF_RUNTIME, is_needed_for_memory, manages_unseen_memory};
use crate::expectation::{Expectation, Output, Wanted};
use crate::interface::shared::bound_type::{ADAPTER, EXPORT};
use crate::judge::case_record::{CaseRecord, lookup};
use crate::judge::error_kinds;
use crate::judge::expected_calls;
use crate::judge::failed_alloc;
use crate::judge::findings::{CheckFinding, FindingSink};
use crate::judge::messages;
use crate::judge::predicates::{self, given_holds};
use crate::judge::process;
use crate::observation::{Facts, Outcome, PEER_FAILED, Raised, UNUSABLE_SUBJECT};
use crate::plan::PlannedStep;
use crate::predicate::{Predicate, Test};
use crate::reason::Reason;
use crate::verdict::Check;

/// How much memory a subject has to offer at least, in bytes. Beyond, its own capacity may end
/// (EMM-FREEDOM-43).
const LEAST_CAPACITY_BYTES: u64 = 256 << 20;

/// Managed memory may be more than a device has (EMM-FREEDOM-11).
const RETURNED_MANAGED_MEMORY: &str = "it returned managed memory; a plugin that allocates such \
    memory leaves `device_memory` out of its `allocert_capabilities`";

/// What an error says by itself, whatever the step asks for: the check that it belongs to, and what
/// was expected.
fn told_by_error(raised: &Raised) -> Option<(Check, &'static str)> {
    let message = &raised.message;
    match raised.r#type.as_str() {
        "NullFunction" => Some((Check::NullFunction, "there is a function for")),
        "TableChanged" => Some((Check::TableChanged, "a host can use the structure in")),
        "GilNotHeld" => Some((Check::GilNotHeld, "the subject uses Python only with the GIL in")),
        // With a status it is a member that the table declines.
        "ExceptionSet" => Some((Check::ExceptionSet, "no exception of Python is set in")),
        "ExceptionLeft" => Some((Check::ExceptionLeft, "free() leaves no exception behind in")),
        "NullMember" if raised.status.is_none() => {
            Some((Check::MissingMember, "there is a function for"))
        }
        "TypeError" if message.starts_with("Can't instantiate abstract class") => {
            Some((Check::MissingMember, "no member is missing for"))
        }
        "AttributeError"
            if is_in_base_class(raised)
                && ["'allocations'", "'deallocations'"]
                    .iter()
                    .any(|one| message.ends_with(one)) =>
        {
            Some((Check::BaseNotMade, "the base class has its tables in"))
        }
        _ if ends_program(raised) => Some((Check::Crash, "no exception ends the program in")),
        _ => None,
    }
}

/// Whether the subject is an allocator: its caller expects errors from it, and no exception of this
/// kind. On the other sides the requirements of the step say what an exception breaks.
fn is_allocator(side: Side) -> bool {
    matches!(side, Side::Emm | Side::Place)
}

/// Whether it is an exception of Python that code which handles errors does not handle, such as
/// SystemExit. Python only prints what a finalizer raises.
fn ends_program(raised: &Raised) -> bool {
    let is_a = |name| raised.bases.iter().any(|base| base == name);
    raised.ignored_in.is_none() && is_a("BaseException") && !is_a("Exception")
}

/// Whether a method of the base class raised the error, or a function that one called: Numba makes
/// the finalizer of host memory in a function beside the class.
fn is_in_base_class(raised: &Raised) -> bool {
    let innermost = raised.traceback.iter().rev().take(2);
    innermost.into_iter().any(|frame| frame.contains(" in HostOnlyCUDAMemoryManager."))
}

/// The operations that have a second process of the worker's.
const WITH_PEER: [&str; 2] = ["peer_read", "foreign_handle"];

/// Judges every step, then what is expected of the whole case.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    check_operations(record, sink);
    for (index, step) in record.case.steps.iter().enumerate() {
        match record.outcome(index) {
            Some(Outcome::Returned(facts)) => returned(record, sink, step, facts),
            Some(Outcome::Raised(error)) => raised(record, sink, step, error),
            Some(Outcome::Declined { because }) => declined(sink, step, because.clone()),
            Some(Outcome::Unsupported { operation }) => {
                sink.not_observed(Reason::NoSuchOperation {
                    step: step.index,
                    operation: operation.clone(),
                });
            }
            Some(Outcome::Skipped { .. }) | None => {}
        }
    }
    if let Some(reason) = nothing_asked(record) {
        sink.not_observed(reason);
    }
    if record.observation.done {
        for (requirement, calls) in &record.case.r#finally {
            expected_calls::judge_case(record, sink, requirement, calls);
        }
    }
}

/// Notes the requirement of each operation that returned. A long case has few kinds of operations,
/// so each kind is looked up once.
fn check_operations(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    let steps = record.case.steps.iter().enumerate();
    let returned = steps
        .filter(|(index, _)| matches!(record.outcome(*index), Some(Outcome::Returned(_))))
        .map(|(_, step)| step.r#do.name());
    for operation in returned.collect::<BTreeSet<_>>() {
        if let Some(requirement) = record.catalogue.by_operation(record.side, operation) {
            sink.checked(&requirement.id);
        }
    }
}

/// The reason why the case shows nothing: it asks something in certain situations alone, and the
/// subject was in none of them.
fn nothing_asked(record: &CaseRecord<'_>) -> Option<Reason> {
    let steps = record.case.steps.iter();
    let expectations: Vec<_> =
        steps.flat_map(|step| step.expect.values().map(move |one| (step.index, one))).collect();
    let asked = expectations.iter().any(|(_, one)| given_holds(record, one));
    let (step, unmet) = expectations.into_iter().find(|(_, one)| !one.given.is_empty())?;
    let (fact, wanted) = unmet.given.iter().next()?;
    (!asked).then(|| Reason::GivenUnmet { step, given: format!("{fact} is {wanted}") })
}

fn returned(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    facts: &Facts,
) {
    if step.r#do.properties().finalizes {
        sink.check_performed(Check::FinalizerError);
    }
    let is_nothing = returned_no_memory(step, facts);
    if is_nothing && !must_raise(record, step) {
        let (name, observed) = (step.r#do.name(), "no memory came back".to_owned());
        match requirement_of_operation(record, step) {
            Some(requirement) => sink.report(
                requirement,
                step,
                format!("{name} returns memory"),
                observed,
                Vec::new(),
            ),
            None => sink.failure(format!(
                "step {}: {name} returned no memory, and no requirement stands for it",
                step.index
            )),
        }
        return;
    }
    if let Some(shortage) = first_shortage(facts)
        && own_capacity_may_end(record, step)
    {
        return beyond_own_capacity(sink, step, shortage);
    }
    let needed = if has_no_memory(facts) { needed_of_driver(record, step) } else { None };
    if let Some(function) = needed {
        return not_in_driver(sink, step, function);
    }
    for (requirement, expectation) in
        step.expect.iter().filter(|(_, expectation)| given_holds(record, expectation))
    {
        sink.checked(requirement);
        match (&expectation.returns, &expectation.raises) {
            (Some(returns), _) => {
                for (path, wanted) in returns {
                    if not_described(step, facts, path, wanted) {
                        undescribed(sink, step, facts, path);
                    } else if let Some(mismatch) = predicates::check(record, facts, path, wanted) {
                        sink.report(
                            requirement,
                            step,
                            mismatch.expected,
                            mismatch.observed,
                            Vec::new(),
                        );
                    }
                }
            }
            (None, Some(_)) if may_exceed_device(record, step) => {
                declined(sink, step, "managed memory may be more than a device has".to_owned());
            }
            (None, Some(kinds)) => {
                let expected = format!("{} raises {}", step.r#do.name(), one_of(kinds));
                let observed = if is_nothing {
                    "no memory came back"
                } else if expected_calls::took_managed_memory(record, step.index) {
                    RETURNED_MANAGED_MEMORY
                } else {
                    "it returned"
                };
                sink.report(requirement, step, expected, observed.to_owned(), Vec::new());
            }
            (None, None) => {}
        }
        check_calls_and_output(record, sink, requirement, step, expectation);
    }
}

/// Whether the step took managed memory from the driver, for a subject that cannot declare that it
/// does (PLACE-FREEDOM-13).
fn may_exceed_device(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    record.side == Side::Place && expected_calls::took_managed_memory(record, step.index)
}

/// Whether the step asks for an error, and for nothing that came back.
fn must_raise(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    let asked = || step.expect.values().filter(|one| given_holds(record, one));
    asked().any(|one| one.raises.is_some()) && asked().all(|one| one.returns.is_none())
}

/// Whether a fact of what the library took is missing. Such facts are the adapter's to tell, and it
/// need not tell all.
fn not_described(step: &PlannedStep, facts: &Facts, path: &str, wanted: &Predicate) -> bool {
    takes_foreign(step) && !wanted.0.contains_key(&Test::Absent) && lookup(facts, path).is_none()
}

/// The adapter did not tell a fact that the step asks for.
fn undescribed(sink: &mut FindingSink<'_>, step: &PlannedStep, facts: &Facts, path: &str) {
    if is_of_copy(facts, path) {
        return declined(sink, step, format!("a copy has no `{path}` of its own to tell"));
    }
    sink.not_observed(Reason::NotDescribed { step: step.index, fact: path.to_owned() });
}

/// Whether the fact says where the elements lie, and the adapter tells the shape alone: of a copy
/// it leaves out the rest.
fn is_of_copy(facts: &Facts, path: &str) -> bool {
    let (array, fact) = path.rsplit_once('.').map_or(("", path), |(array, fact)| (array, fact));
    let told = |name: &str| {
        let path = if array.is_empty() { name.to_owned() } else { format!("{array}.{name}") };
        lookup(facts, &path).is_some()
    };
    ["strides", "pointer"].contains(&fact) && told("shape") && !told("strides") && !told("pointer")
}

fn raised(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    raised: &Raised,
) {
    if raised.r#type == UNUSABLE_SUBJECT {
        return sink.unusable(raised.message.clone());
    }
    if raised.r#type == PEER_FAILED && WITH_PEER.contains(&step.r#do.name()) {
        return sink.failure(format!(
            "step {}: {}: {}; this process is allocert's own and calls no subject",
            step.index,
            step.r#do.name(),
            raised.message
        ));
    }
    let allowed = step.expect.values().any(|expectation| expectation.raises.is_some());
    let lacking = virtual_memory_that_driver_lacks(record, step)
        .or_else(|| runtime_that_driver_lacks(record, step, raised));
    if let Some(function) = lacking {
        return not_in_driver(sink, step, function);
    }
    if let Some((check, expected)) = told_by_error(raised)
        .filter(|(check, _)| record.catalogue.by_check(record.side, check.name()).is_some())
        .filter(|(check, _)| *check != Check::Crash || is_allocator(record.side))
    {
        return defect_of_subject(sink, step, raised, check, expected);
    }
    if raised.ignored_in.is_some() {
        return ignored_error(record, sink, step, raised);
    }
    if !allowed {
        return unexpected_error(record, sink, step, raised);
    }
    for (requirement, expectation) in
        step.expect.iter().filter(|(_, expectation)| given_holds(record, expectation))
    {
        sink.checked(requirement);
        let wrong = match (&expectation.raises, &expectation.returns) {
            (Some(kinds), _) => wrong_error(
                raised,
                kinds,
                expectation.message.as_deref(),
                expectation.returns.is_some(),
            ),
            (None, Some(_)) => Some(format!("{} returns", step.r#do.name())),
            (None, None) => None,
        };
        if let Some(expected) = wrong {
            sink.report(requirement, step, expected, messages::raised(raised), Vec::new());
        }
        check_calls_and_output(record, sink, requirement, step, expectation);
    }
}

/// What a subject lacks is one cause, whatever the step asks for.
fn defect_of_subject(
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    raised: &Raised,
    check: Check,
    expected: &str,
) {
    sink.check_performed(check);
    sink.report_check(CheckFinding {
        check,
        step: Some(step.index),
        expected: format!("{expected} {}", step.r#do.name()),
        observed: if check == Check::Crash {
            messages::raised(raised)
        } else {
            raised.message.clone()
        },
        events: Vec::new(),
    });
}

/// An error that no caller sees: a finalizer raised it, or a Python function that C code called. A
/// side without a requirement for finalizers blames the step. A finalizer that reports a call which
/// the sweep made fail does as Numba's own finalizers do.
fn ignored_error(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    raised: &Raised,
) {
    let properties = step.r#do.properties();
    let finalizers = record.catalogue.by_check(record.side, Check::FinalizerError.name());
    if finalizers.is_some() && expected_calls::was_made_to_fail(record, step.index) {
        return;
    }
    let ends = properties.finalizes || properties.unbinds_on || properties.closes_host;
    if finalizers.is_none() || ends {
        return unexpected_error(record, sink, step, raised);
    }
    finalizer_error(record, sink, step, raised);
}

fn finalizer_error(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    raised: &Raised,
) {
    sink.check_performed(Check::FinalizerError);
    sink.report_check(CheckFinding {
        check: Check::FinalizerError,
        step: Some(step.index),
        expected: "dropping the last reference raises nothing".to_owned(),
        observed: messages::raised(raised),
        events: expected_calls::last_calls_of(record, step.index),
    });
}

/// What was expected instead of this error, if it is not the right one.
fn wrong_error(
    raised: &Raised,
    kinds: &[ErrorKind],
    message: Option<&str>,
    or_returns: bool,
) -> Option<String> {
    if !error_kinds::is_one_of(raised, kinds) {
        let or = if or_returns { ", or a return" } else { "" };
        return Some(format!("an error of kind {}{or}", one_of(kinds)));
    }
    let part = message.filter(|part| !raised.message.contains(*part))?;
    Some(format!("an error whose message contains {part:?}"))
}

/// An error that nothing allows: declined, or a finding under the requirement that the operation
/// stands for.
fn unexpected_error(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: &PlannedStep,
    raised: &Raised,
) {
    let (name, properties) = (step.r#do.name(), step.r#do.properties());
    let passed_on = exports(record, step) && raised.code == Some(error_kinds::NOT_SUPPORTED);
    if let Some(function) = expected_calls::function_that_driver_lacks(record, step.index)
        && (properties.may_decline || passed_on)
    {
        return not_in_driver(sink, step, function);
    }
    if error_kinds::is_one_of(raised, &[ErrorKind::OutOfMemory])
        && (own_capacity_may_end(record, step) || device_may_be_taken(record, step))
    {
        return beyond_own_capacity(sink, step, &raised.message);
    }
    // What allocert_emm.h says of memhostalloc() and mempin() has no NOT_SUPPORTED.
    let served = raised.status.is_some() && properties.capability == Some(Need::HostMemory);
    let declinable = properties.may_decline
        || properties.capability.is_some_and(|need| !served && record.case.needs.contains(&need));
    // The docs of EMM plugins name RuntimeError too for a manager without memory information.
    let refusals: &[ErrorKind] = match properties.capability {
        Some(Need::MemoryInfo) if raised.status.is_none() => {
            &[ErrorKind::NotSupported, ErrorKind::State]
        }
        _ => &[ErrorKind::NotSupported],
    };
    let refused = error_kinds::is_one_of(raised, refusals) && !answered_before(record, step);
    if declinable && refused {
        return declined(sink, step, raised.message.clone());
    }
    let asked = step.expect.values().any(|one| given_holds(record, one));
    if !step.expect.is_empty() && !asked && !exports(record, step) {
        return; // nothing is asked of it in this situation
    }
    let expected = format!("{name} returns");
    let observed = messages::raised(raised);
    let events = expected_calls::last_calls_of(record, step.index);
    if properties.finalizes {
        finalizer_error(record, sink, step, raised);
    }
    let broken = broken_by_error(record, step, raised);
    if broken.is_empty() && !properties.finalizes && !may_refuse(step) {
        match properties.binds {
            Some((_, ADAPTER)) => sink.unusable(format!(
                "the subject's adapter could not be made: its class, called without arguments, \
                 {observed}; make the constructor work without the library's optional parts, and \
                 let the methods decline what the library cannot do"
            )),
            _ if is_of_adapter(record, raised) => sink.adapter_error(
                step.index,
                format!(
                    "step {}: {name} {observed}, at {}; this is a fault of the adapter or of its \
                     library: correct it, or raise NotImplementedError for what the library \
                     cannot do",
                    step.index,
                    raised.traceback.join(", ")
                ),
            ),
            _ => sink.failure(format!(
                "step {}: {name} {observed}; the catalogue has no requirement for this error",
                step.index
            )),
        }
    }
    for requirement in broken {
        sink.checked(requirement);
        sink.report(requirement, step, expected.clone(), observed.clone(), events.clone());
    }
    if may_refuse(step) {
        let (operation, message) = (name.to_owned(), raised.message.clone());
        sink.declined(Reason::Refused { step: step.index, operation, message });
    }
}

/// Whether a subject may have no more memory of its own in this step: what is in use and the
/// request are more than every subject must have, and the driver did not say that its memory is
/// short.
fn own_capacity_may_end(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    let asked_bytes = step.r#do.properties().asks_bytes;
    record.side == Side::Emm
        && asked_bytes > 0
        && live_bytes(record, step).saturating_add(asked_bytes) > LEAST_CAPACITY_BYTES
        && !record.case.is_swept()
        && !expected_calls::driver_ran_out(record, step.index)
}

/// The bytes that earlier requests got and that may be in use before the step. What is released
/// inside a scope may be so until the scope ends.
fn live_bytes(record: &CaseRecord<'_>, step: &PlannedStep) -> u64 {
    let (mut live, mut deferred, mut scopes) = (BTreeMap::new(), 0_u64, 0_u32);
    for earlier in record.case.steps.iter().take_while(|earlier| earlier.index < step.index) {
        let properties = earlier.r#do.properties();
        match earlier.r#do.name() {
            "reset" => (live, deferred) = (BTreeMap::new(), 0),
            "defer_enter" => scopes += 1,
            "defer_exit" => scopes = scopes.saturating_sub(1),
            _ => {}
        }
        let released = properties.unbinds.and_then(|name| live.remove(name)).unwrap_or(0);
        deferred = if scopes > 0 { deferred.saturating_add(released) } else { 0 };
        let returned = record.outcome(earlier.index as usize);
        if let (Some((name, _)), Some(Outcome::Returned(_))) = (properties.binds, returned) {
            live.insert(name, properties.asks_bytes);
        }
    }
    live.values().fold(deferred, |sum, bytes| sum.saturating_add(*bytes))
}

/// Whether another manager may hold what this one asks the driver for when it is initialized: each
/// may take up to four fifths of a device (EMM-FREEDOM-03).
fn device_may_be_taken(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    let earlier = record.case.steps.iter().take_while(|earlier| earlier.index < step.index);
    let managers = earlier.filter(|earlier| earlier.r#do.name() == "create").count();
    step.r#do.name() == "initialize"
        && managers > 1
        && !record.case.is_swept()
        && expected_calls::driver_ran_out(record, step.index)
}

fn beyond_own_capacity(sink: &mut FindingSink<'_>, step: &PlannedStep, shortage: &str) {
    declined(sink, step, format!("its own capacity is smaller: {shortage}"));
}

/// What the first of many requests failed with, if the subject said that its memory is short. A
/// table says no more than that.
fn first_shortage(facts: &Facts) -> Option<&str> {
    let is_short = facts.get("out_of_memory")?.as_bool()?;
    let words = facts.get("first_failure").and_then(Value::as_str).unwrap_or("OUT_OF_MEMORY");
    is_short.then_some(words)
}

/// Whether an error passed through the adapter of a library of arrays, or through the library. The
/// worker leaves its own frames out.
fn is_of_adapter(record: &CaseRecord<'_>, raised: &Raised) -> bool {
    record.side.interface() == Interface::Cai && !raised.traceback.is_empty()
}

/// Whether blocks of a device were refused, or are none: the driver does not know the address, or
/// the block holds no bytes of its own.
fn has_no_memory(facts: &Facts) -> bool {
    let counted = |fact: &&str| facts.get(*fact).and_then(Value::as_u64).is_some_and(|n| n > 0);
    let is_block = facts.get("kind").is_some_and(|kind| kind == "block");
    let is_of_device = facts.get("host_pointer").and_then(Value::as_u64) == Some(0);
    let is_unknown = facts.get("device").is_some_and(Value::is_null);
    ["failed", "overlaps", "changed"].iter().any(counted) || is_block && is_of_device && is_unknown
}

/// The function that the subject called in the step, if the software driver does not have it and a
/// subject gets no memory without it.
fn needed_of_driver(record: &CaseRecord<'_>, step: &PlannedStep) -> Option<Function> {
    expected_calls::function_that_driver_lacks(record, step.index)
        .filter(|function| is_needed_for_memory(*function))
}

/// The function for virtual memory that the subject called in the step, if the software driver does
/// not have it.
fn virtual_memory_that_driver_lacks(
    record: &CaseRecord<'_>,
    step: &PlannedStep,
) -> Option<Function> {
    expected_calls::function_that_driver_lacks(record, step.index)
        .filter(|function| manages_unseen_memory(*function))
}

/// The function with which the CUDA runtime begins, if the software driver refused it in the step
/// or before, and the step ended with the runtime's answer to that.
///
/// A subject that calls the function and then fails by itself raises another error, and is judged.
/// One that raises just this error hides nothing: a case that is not observed fails the run, and
/// the same error on a real driver is a finding, because the function is there.
fn runtime_that_driver_lacks(
    record: &CaseRecord<'_>,
    step: &PlannedStep,
    raised: &Raised,
) -> Option<Function> {
    let is_refused = |step| {
        let missing = expected_calls::function_that_driver_lacks(record, step);
        missing == Some(BEGIN_OF_RUNTIME)
    };
    let begins = error_kinds::is_refusal_of_runtime(raised) && (0..=step.index).any(is_refused);
    begins.then_some(BEGIN_OF_RUNTIME)
}

pub(crate) fn not_in_driver(sink: &mut FindingSink<'_>, step: &PlannedStep, function: Function) {
    let (step, function) = (step.index, function.name().to_owned());
    sink.without_function.get_or_insert(step);
    sink.declined(Reason::NotInDriver { step, function });
}

/// Whether an earlier step made the same request and got an answer. A subject declines what it
/// cannot do from the beginning. One with host memory has it with every flag.
fn answered_before(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    let earlier = record.case.steps.iter().take_while(|earlier| earlier.index < step.index);
    let with_any_flag = step.r#do.properties().capability == Some(Need::HostMemory);
    let is_same = |earlier: &PlannedStep| {
        earlier.r#do == step.r#do || with_any_flag && earlier.r#do.name() == step.r#do.name()
    };
    earlier
        .filter(|earlier| earlier.on == step.on && is_same(earlier))
        .any(|earlier| matches!(record.outcome(earlier.index as usize), Some(Outcome::Returned(_))))
}

fn declined(sink: &mut FindingSink<'_>, step: &PlannedStep, message: String) {
    sink.declined(Reason::Declined {
        step: step.index,
        operation: step.r#do.name().to_owned(),
        message,
    });
}

/// The requirements that an unexpected error breaks: all that ask for a return; and the one that
/// the operation stands for, unless the step is there to show no more than that it returns, or what
/// it asks for says why an array is to be taken or memory is to be there. Where one of these asks
/// for a return alone, those that say what a result is like are left out: an error says nothing
/// about them.
fn broken_by_error<'a>(
    record: &CaseRecord<'a>,
    step: &'a PlannedStep,
    raised: &Raised,
) -> Vec<&'a str> {
    let asked = step.expect.iter().filter(|(_, one)| given_holds(record, one));
    let asking: Vec<(&str, &Wanted)> =
        asked.filter_map(|(id, one)| Some((id.as_str(), one.returns.as_ref()?))).collect();
    let only_returns = asking.iter().any(|(_, facts)| facts.is_empty());
    let properties = step.r#do.properties();
    // No text obliges a consumer to write.
    let told = (takes_foreign(step) || properties.touches_memory) && !asking.is_empty()
        || properties.writes_foreign;
    // A failed drop is an error of the finalizer, and the check for that has reported it.
    let operation = requirement_of_error(record, step, raised)
        .filter(|_| !only_returns && !told && !properties.finalizes);
    if let Some(operation) = operation
        && refuses_memory_of_subject(record, raised)
    {
        return vec![operation];
    }
    let blamed = only_returns || operation.is_some();
    let says_what_it_is_like = |id: &str, facts: &Wanted| {
        let of_result = record.catalogue.get(id).is_some_and(|one| one.of_result);
        !facts.is_empty() && (of_result || only_compares(facts))
    };
    let breaks = |(id, facts): &(&str, &Wanted)| !blamed || !says_what_it_is_like(id, facts);
    let mut broken: Vec<&str> = asking.into_iter().filter(breaks).map(|(id, _)| id).collect();
    let is_asked = |id: &str| step.expect.get(id).is_none_or(|one| given_holds(record, one));
    broken.extend(operation.filter(|id| !broken.contains(id) && is_asked(id)));
    if may_refuse(step) {
        // Whoever refuses an array has not misread it, so only what asks to accept it is broken.
        let asks_to_accept = |one: &Requirement| one.level != Level::Must && !one.of_result;
        broken.retain(|id| record.catalogue.get(id).is_some_and(asks_to_accept));
        if broken.is_empty() && !properties.writes_foreign {
            broken.extend(requirement_of_operation(record, step));
        }
    }
    broken
}

/// Whether the driver refused the worker's own copy of what a producer exports: nothing else that
/// the step asks for was seen.
fn refuses_memory_of_subject(record: &CaseRecord<'_>, raised: &Raised) -> bool {
    record.side == Side::CaiProducer && raised.r#type == "DriverError"
}

/// Whether the facts are only compared with those of other steps. An error says nothing about such
/// a requirement, as about memory that lies apart from other memory.
fn only_compares(facts: &Wanted) -> bool {
    let compares = |test: &Test| matches!(test, Test::DisjointFrom | Test::DiffersFrom);
    facts.values().all(|predicate| predicate.0.keys().all(compares))
}

/// Whether the step reads the interface of an object of the subject that stands for one of its
/// arrays: an error there is never what a situation asks for.
fn exports(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    step.r#do.properties().binds.is_some_and(|(_, bound)| bound == EXPORT)
        && requirement_of_operation(record, step).is_some()
}

/// Whether the subject may answer the step with any error, because no text obliges it to support
/// every array.
fn may_refuse(step: &PlannedStep) -> bool {
    let properties = step.r#do.properties();
    properties.takes_foreign || properties.uses_foreign
}

/// The parts of an expectation that hold whether the step returned or raised.
fn check_calls_and_output(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    requirement: &str,
    step: &PlannedStep,
    expectation: &Expectation,
) {
    if let Some(wanted) = &expectation.calls {
        expected_calls::judge_step(record, sink, requirement, step, wanted);
    }
    let printed = &record.observation.stderr;
    if expectation.output == Some(Output::Empty)
        && printed.bytes > 0
        && !process::tells_of_output(record, requirement)
    {
        let observed = format!(
            "{} on standard error: {}",
            messages::bytes(printed.bytes),
            printed.text.trim_end()
        );
        sink.report(
            requirement,
            step,
            "nothing is written to standard error".to_owned(),
            observed,
            Vec::new(),
        );
    }
}

/// The requirement that a step breaks whose operation fails.
/// The requirement that an error of the step breaks.
fn requirement_of_error<'a>(
    record: &CaseRecord<'a>,
    step: &PlannedStep,
    raised: &Raised,
) -> Option<&'a str> {
    let told = failed_alloc::told_by_case(record, step, raised)
        .and_then(|check| record.catalogue.by_check(record.side, check.name()))
        .filter(|one| !record.catalogue.leaves_out(&one.id));
    told.map(|one| one.id.as_str()).or_else(|| requirement_of_operation(record, step))
}

fn requirement_of_operation<'a>(record: &CaseRecord<'a>, step: &PlannedStep) -> Option<&'a str> {
    let requirement = record.catalogue.by_operation(record.side, step.r#do.name())?;
    Some(&requirement.id)
}

/// Whether the subject is to take what somebody else made.
fn takes_foreign(step: &PlannedStep) -> bool {
    step.r#do.properties().takes_foreign
}

/// The step asked for memory and got none, and the fixture does not expect that.
fn returned_no_memory(step: &PlannedStep, facts: &Facts) -> bool {
    let asks = step.r#do.properties().returns_memory;
    let spoken_of = step
        .expect
        .values()
        .filter_map(|one| one.returns.as_ref())
        .any(|returns| returns.contains_key("kind"));
    asks && !spoken_of && matches!(facts.get("kind").and_then(Value::as_str), Some("none") | None)
}

fn one_of(kinds: &[ErrorKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    names.join(" or ")
}
