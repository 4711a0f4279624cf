//! The calls of a trace as lines, with streams and events numbered as they appear.

use allocert_contract::trace::{Call, Event, What, cuda::Function};

/// Calls that order or do work, in the part of a role that a test looks at. Work on piece after
/// piece is one line.
pub(crate) fn lines(events: &[Event]) -> Vec<String> {
    let (before, part) = part(events);
    let mut names = Names::default();
    for made in before.iter().filter(|call| call.function == Function::cuStreamCreate) {
        names.stream(made.output("stream").expect("created"));
    }
    let mut lines: Vec<String> = part.iter().filter_map(|call| names.line(call)).collect();
    lines.dedup();
    lines
}

/// How many calls there are in that part, of any kind.
pub(crate) fn count(events: &[Event]) -> usize {
    part(events).1.len()
}

/// The calls before that part, and those in it. A role asks for the driver's version where the part
/// begins, and where it ends if that is not the end of the role.
fn part(events: &[Event]) -> (Vec<&Call>, Vec<&Call>) {
    let calls: Vec<&Call> = events.iter().filter_map(call).collect();
    let mut parts = calls.split(|call| call.function == Function::cuDriverGetVersion);
    let mut next = || parts.next().map(<[_]>::to_vec);
    (next().unwrap_or_default(), next().expect("the role marks where the part begins"))
}

fn call(event: &Event) -> Option<&Call> {
    if let What::Call(call) = &event.what { Some(call) } else { None }
}

#[derive(Default)]
struct Names {
    streams: Vec<u64>,
    events: Vec<u64>,
}

impl Names {
    fn line(&mut self, call: &Call) -> Option<String> {
        assert_eq!(call.result, Some(0), "{call:?}");
        let stream = call.arg("stream").map(|stream| self.stream(stream));
        let event = call.arg("event").map(|event| self.event(event));
        let (stream, event) = (stream.unwrap_or_default(), event.unwrap_or_default());
        Some(match call.function.cuda()? {
            Function::cuEventRecord => format!("record {event} in {stream}"),
            Function::cuStreamWaitEvent => format!("{stream} waits for {event}"),
            Function::cuStreamSynchronize => format!("host waits for {stream}"),
            Function::cuEventSynchronize => format!("host waits for {event}"),
            Function::cuMemsetD8Async => format!("fill in {stream}"),
            Function::cuMemcpyDtoDAsync_v2 => format!("copy in {stream}"),
            Function::cuStreamCreate => {
                format!("create {}", self.stream(call.output("stream").unwrap_or(0)))
            }
            _ => return None,
        })
    }

    fn stream(&mut self, handle: u64) -> String {
        match handle {
            1 => "legacy".to_owned(),
            2 => "per-thread".to_owned(),
            handle => format!("s{}", number(&mut self.streams, handle)),
        }
    }

    fn event(&mut self, handle: u64) -> String {
        format!("e{}", number(&mut self.events, handle))
    }
}

fn number(all: &mut Vec<u64>, handle: u64) -> usize {
    let found = all.iter().position(|known| *known == handle);
    found.unwrap_or_else(|| {
        all.push(handle);
        all.len() - 1
    }) + 1
}
