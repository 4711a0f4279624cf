//! Judges the process: crash, hang, exit code, and unexpected output.

use allocert_contract::trace::{Call, Event, Function, What, handler};
use allocert_requirements::Channel;

use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::messages;
use crate::judge::timeline::cuda_call;
use crate::observation::{Captured, Ending};
use crate::plan::ChildExit;
use crate::verdict::{Check, Witness};

/// Judges the end of the process and what it printed.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    let seen = record.observation;
    let at_exit = seen.done && record.case.child_exit() == ChildExit::Exit;
    for check in [Check::Crash, Check::Hang] {
        sink.check_performed(check);
    }
    match &seen.ending {
        Ending::Done => {
            if at_exit {
                sink.check_performed(Check::Exit);
            }
            chatter(record, sink);
        }
        Ending::Code(code) if at_exit => {
            exit(sink, &format!("exit code {code}"), &complaints(record))
        }
        Ending::Signal(signal) if at_exit => exit(sink, &signal_name(*signal), &complaints(record)),
        Ending::Code(code) => crash(record, sink, &format!("the process ended with code {code}")),
        Ending::Signal(signal) => {
            crash(record, sink, &format!("the process was ended by {}", signal_name(*signal)))
        }
        Ending::TimedOut { after_s } if at_exit && has_check(record, Check::Exit) => exit(
            sink,
            &format!("no end within {after_s} s after the last step"),
            &complaints(record),
        ),
        Ending::TimedOut { after_s } => hang(record, sink, *after_s),
        Ending::Slow { .. }
        | Ending::Stopped { .. }
        | Ending::OutOfTime { .. }
        | Ending::Lost { .. } => {}
    }
}

fn has_check(record: &CaseRecord<'_>, check: Check) -> bool {
    record.catalogue.by_check(record.side, check.name()).is_some()
}

fn crash(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>, how: &str) {
    let step = in_flight(record);
    let open = open_call(record);
    let inside = open.map_or_else(String::new, |call| format!(", {}", inside(call)));
    let place = during(record, step);
    let observed = format!("{how} {place}{inside}{}", stderr(&record.observation.stderr));
    let expected = "the process outlives the case".to_owned();
    ended_in(record, sink, step, &expected, &observed);
    if open.is_some_and(frees_null) && !is_expected(record, step, Check::FreeNull) {
        sink.report_check(CheckFinding {
            check: Check::FreeNull,
            step,
            expected: expected.clone(),
            observed: observed.clone(),
            events: Vec::new(),
        });
    }
    sink.report_check(CheckFinding {
        check: Check::Crash,
        step,
        expected,
        observed,
        events: last_call(record),
    });
}

/// A step that never ended violates each requirement that the step is expected to satisfy and whose
/// violation the end of the process shows.
fn ended_in(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    step: Option<u32>,
    expected: &str,
    observed: &str,
) {
    let Some(step) = step.and_then(|index| record.case.steps.get(index as usize)) else { return };
    for (id, expectation) in &step.expect {
        let shown_by_end = record
            .catalogue
            .get(id)
            .is_some_and(|requirement| requirement.observed_by.contains(&Channel::Exit));
        if shown_by_end && expectation.given.is_empty() {
            sink.report(id, step, expected.to_owned(), observed.to_owned(), last_call(record));
        }
    }
}

/// Whether a step expects the requirement of a check, so that its end is a finding already.
fn is_expected(record: &CaseRecord<'_>, step: Option<u32>, check: Check) -> bool {
    let step = step.and_then(|index| record.case.steps.get(index as usize));
    let requirement = record.catalogue.by_check(record.side, check.name());
    step.zip(requirement)
        .is_some_and(|(step, requirement)| step.expect.contains_key(requirement.id.as_str()))
}

fn hang(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>, after_s: u32) {
    let step = in_flight(record);
    let observed = format!(
        "no end after {after_s} s {}; if the subject is only slow, --timeout allows more",
        during(record, step)
    );
    let expected = "every call returns".to_owned();
    ended_in(record, sink, step, &expected, &observed);
    sink.report_check(CheckFinding {
        check: Check::Hang,
        step,
        expected,
        observed,
        events: last_call(record),
    });
}

/// Unexpected text on standard error. If the case made a driver call fail, an error of a finalizer
/// is allowed: in Python it can appear nowhere else.
fn complaints(record: &CaseRecord<'_>) -> Captured {
    if record.case.is_swept() { Captured::default() } else { record.observation.stderr.clone() }
}

fn exit(sink: &mut FindingSink<'_>, failure: &str, printed: &Captured) {
    sink.check_performed(Check::Exit);
    sink.report_check(CheckFinding {
        check: Check::Exit,
        step: None,
        expected: "the process ends with code 0".to_owned(),
        observed: format!("{failure}{}", stderr(printed)),
        events: Vec::new(),
    });
}

/// Whether the check for output looks at the case, and its findings carry this requirement. A step
/// that expects it too adds nothing.
pub(crate) fn tells_of_output(record: &CaseRecord<'_>, requirement: &str) -> bool {
    let of_check = record.catalogue.by_check(record.side, Check::Chatter.name());
    record.observation.ending == Ending::Done
        && of_check.is_some_and(|of_check| of_check.id == requirement)
}

fn chatter(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    sink.check_performed(Check::Chatter);
    for (stream, printed) in
        [("output", &record.observation.stdout), ("error", &complaints(record))]
    {
        if printed.bytes > 0 {
            sink.report_check(CheckFinding {
                check: Check::Chatter,
                step: None,
                expected: format!("nothing is written to standard {stream}"),
                observed: format!(
                    "{}: {}",
                    messages::bytes(printed.bytes),
                    messages::excerpt(&printed.text)
                ),
                events: Vec::new(),
            });
        }
    }
}

/// The step during which the process ended: from the markers, else the one after the last that
/// reported an outcome.
fn in_flight(record: &CaseRecord<'_>) -> Option<u32> {
    let steps = record.case.steps.len();
    let heard = record.observation.steps.len();
    let known = record.timeline.step_in_flight().or(record.observation.step_in_flight);
    known
        .filter(|step| (*step as usize) < steps)
        .or_else(|| u32::try_from(heard).ok().filter(|_| heard < steps))
}

fn during(record: &CaseRecord<'_>, step: Option<u32>) -> String {
    match step.and_then(|index| record.case.steps.get(index as usize)) {
        Some(step) => format!("in step {} ({})", step.index, step.r#do.name()),
        None => "after the last step".to_owned(),
    }
}

/// The only call of a handler or of an allocator by place that never returned. Where several
/// threads are inside such calls, nobody knows which of them ended the process.
fn open_call<'a>(record: &CaseRecord<'a>) -> Option<&'a Call> {
    let calls = record.observation.events.iter().filter_map(|event| match &event.what {
        What::Call(call) if call.result.is_none() && call.function.cuda().is_none() => Some(call),
        _ => None,
    });
    let mut open = calls.peekable();
    open.next().filter(|_| open.peek().is_none())
}

fn inside(call: &Call) -> String {
    let of_null = if frees_null(call) { " of null" } else { "" };
    format!("inside {}{of_null}", call.function.name())
}

fn frees_null(call: &Call) -> bool {
    call.function == Function::Handler(handler::Function::Free) && call.arg("ptr") == Some(0)
}

/// The last driver call of all, which is usually close to the cause of a crash.
fn last_call(record: &CaseRecord<'_>) -> Vec<Witness> {
    let last: Option<&Event> =
        record.observation.events.iter().rev().find(|event| cuda_call(event).is_some());
    last.map(|event| witness(event.seq, "the last driver call")).into_iter().collect()
}

fn stderr(printed: &Captured) -> String {
    match printed.bytes {
        0 => String::new(),
        _ => format!("; standard error: {}", messages::excerpt(&printed.text)),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
