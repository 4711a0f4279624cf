//! How the process fared: crash, hang, exit, chatter.

use allocert_contract::trace::Event;

use crate::judge::docket::{Docket, Hit, witness};
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::judge::words;
use crate::observation::{Captured, Ending};
use crate::plan::End;
use crate::sweep;
use crate::verdict::{Check, Witness};

/// Judges the end of the process and what it printed.
pub(crate) fn judge(scene: &Scene<'_>, docket: &mut Docket<'_>) {
    let seen = scene.observation;
    let at_exit = seen.done && scene.case.end() == End::Exit;
    for check in [Check::Crash, Check::Hang] {
        docket.performed(check);
    }
    match &seen.ending {
        Ending::Done if at_exit => exit(docket, None, &complaints(scene)),
        Ending::Done => chatter(scene, docket),
        Ending::Code(code) if at_exit => {
            exit(docket, Some(format!("exit code {code}")), &complaints(scene))
        }
        Ending::Signal(signal) if at_exit => {
            exit(docket, Some(signal_name(*signal)), &complaints(scene))
        }
        Ending::Code(code) => crash(scene, docket, &format!("the process ended with code {code}")),
        Ending::Signal(signal) => {
            crash(scene, docket, &format!("the process was ended by {}", signal_name(*signal)))
        }
        Ending::TimedOut { after_s } => hang(scene, docket, *after_s),
        Ending::Lost { .. } => {}
    }
}

fn crash(scene: &Scene<'_>, docket: &mut Docket<'_>, how: &str) {
    let step = in_flight(scene);
    let observed = format!("{how} {}{}", during(scene, step), stderr(&scene.observation.stderr));
    let expected = "the process outlives the case".to_owned();
    docket.hit(Hit { check: Check::Crash, step, expected, observed, events: last_call(scene) });
}

fn hang(scene: &Scene<'_>, docket: &mut Docket<'_>, after_s: u32) {
    let step = in_flight(scene);
    let observed = format!("no end after {after_s} s {}", during(scene, step));
    let expected = "every call returns".to_owned();
    docket.hit(Hit { check: Check::Hang, step, expected, observed, events: last_call(scene) });
}

/// What was written to standard error unasked. Where a driver call was made to fail, an error of a
/// finalizer has no other way to surface in Python.
fn complaints(scene: &Scene<'_>) -> Captured {
    if sweep::is_swept(scene.case) { Captured::default() } else { scene.observation.stderr.clone() }
}

fn exit(docket: &mut Docket<'_>, failure: Option<String>, printed: &Captured) {
    docket.performed(Check::Exit);
    let observed = match (failure, printed.bytes) {
        (None, 0) => return,
        (None, _) => format!("standard error is not empty{}", stderr(printed)),
        (Some(failure), _) => format!("{failure}{}", stderr(printed)),
    };
    let expected = "the process ends with code 0 and nothing on standard error".to_owned();
    docket.hit(Hit { check: Check::Exit, step: None, expected, observed, events: Vec::new() });
}

fn chatter(scene: &Scene<'_>, docket: &mut Docket<'_>) {
    docket.performed(Check::Chatter);
    for (stream, printed) in [("output", &scene.observation.stdout), ("error", &complaints(scene))]
    {
        if printed.bytes > 0 {
            docket.hit(Hit {
                check: Check::Chatter,
                step: None,
                expected: format!("nothing is written to standard {stream}"),
                observed: format!("{}: {}", words::bytes(printed.bytes), printed.text.trim_end()),
                events: Vec::new(),
            });
        }
    }
}

/// The step during which the process ended: from the marks, else the one after the last that was
/// heard of.
fn in_flight(scene: &Scene<'_>) -> Option<u32> {
    let steps = scene.case.steps.len();
    let heard = scene.observation.steps.len();
    let known = scene.timeline.in_flight().or(scene.observation.step_in_flight);
    known
        .filter(|step| (*step as usize) < steps)
        .or_else(|| u32::try_from(heard).ok().filter(|_| heard < steps))
}

fn during(scene: &Scene<'_>, step: Option<u32>) -> String {
    match step.and_then(|index| scene.case.steps.get(index as usize)) {
        Some(step) => format!("in step {} ({})", step.index, step.r#do.name()),
        None => "after the last step".to_owned(),
    }
}

/// The last driver call of all, which a crash usually has to do with.
fn last_call(scene: &Scene<'_>) -> Vec<Witness> {
    let last: Option<&Event> =
        scene.observation.events.iter().rev().find(|event| call(event).is_some());
    last.map(|event| witness(event.seq, "the last driver call")).into_iter().collect()
}

fn stderr(printed: &Captured) -> String {
    match printed.bytes {
        0 => String::new(),
        _ => format!("; standard error: {}", printed.text.trim_end()),
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
