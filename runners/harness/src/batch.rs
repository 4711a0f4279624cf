//! One batch of cases in one child process: what its lines may say, how long it may take, what was
//! seen of it.
//!
//! The child holds the subject, so its lines are claims. They must come in the plan's order; the
//! process table and the trace decide where they can.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use allocert_contract::trace::{Event, Marker, What, cuda};
use allocert_suite::interface::interface;
use allocert_suite::observation::{Captured, Ending, Observation, StepOutcome};
use allocert_suite::plan::{PlannedCase, WireCase};

use crate::call_limit::CallLimit;
use crate::channel::Received;
use crate::error::Error;
use crate::message::{Ended, Exit, FromWorker, ToWorker};
use crate::own_time::OwnTime;
use crate::process_table;
use crate::ring::Slice;
use crate::run_request::Request;
use crate::worker::Worker;

/// From the order to run a batch to its first case.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// From the killing of a batch's process to the server's word that it is gone.
const ENDED_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a subject that is not known to hang may take to its next call.
const NEXT_CALL_S: u32 = 4;
/// Why a worker that works would have done what it cannot do.
const POSSIBLE_CAUSE: &str = "only a subject that forks, writes to what is not its own or changes \
     Python's own modules brings that about";

/// Cases to run in one process.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) number: u64,
    pub(crate) cases: &'a [&'a PlannedCase],
    pub(crate) request: &'a Request,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Of the cases that began, in order.
    pub(crate) observations: Vec<Observation>,
    /// Why nothing more can be run by this worker.
    pub(crate) lost: Option<String>,
    /// How the child ended, for cases that never began.
    pub(crate) how: String,
}

/// Why the harness ended the child.
#[derive(Debug)]
enum Stop {
    TimedOut { after_s: u32 },
    Slow { after_s: u32 },
    ProtocolBroken(String),
}

/// What the lines of a batch said so far.
#[derive(Debug, Default)]
struct BatchState {
    child: Option<u32>,
    /// The server's children before the batch; not its to end.
    before: HashSet<i32>,
    begun: Vec<CaseState>,
    trace: Slice,
}

#[derive(Debug)]
struct CaseState {
    begun_at: Instant,
    /// Until the case was done; nothing while it is not.
    duration: Option<Duration>,
    steps: Vec<StepOutcome>,
}

impl Batch<'_> {
    pub(crate) fn run(&self, worker: &mut Worker) -> Result<Finished, Error> {
        let mut state =
            BatchState { before: process_table::children(worker.pid()), ..BatchState::default() };
        let wire: Vec<WireCase<'_>> = self.cases.iter().map(|case| case.wire()).collect();
        if let Err(error) = worker.channel.send(&ToWorker::Run { batch: self.number, cases: &wire })
        {
            return Ok(self.abandon_worker(
                state,
                worker,
                format!("does not read what it is told ({error})"),
            ));
        }
        let mut stop: Option<Stop> = None;
        let mut limit = OwnTime::begin(self.request.limit(START_TIMEOUT), Instant::now());
        let mut call: Option<CallLimit> = None;
        loop {
            let process = state.child.unwrap_or(worker.pid());
            let interrupt = &self.request.interrupt;
            let broken = match worker.receive(&mut limit, call.as_mut(), process, interrupt) {
                Received::Interrupted => return Err(Error::Interrupted),
                Received::Closed => return Ok(self.finish_closed(state, worker)),
                Received::Late if stop.is_some() => {
                    return Ok(self.abandon_worker(state, worker, "hangs".to_owned()));
                }
                Received::Late => {
                    let after_s = self.timeout_s(&state);
                    stop = Some(match self.calls_return(&state, worker, process) {
                        true => Stop::Slow { after_s },
                        false => Stop::TimedOut { after_s },
                    });
                    (limit, call) = (end_child(worker, &state), None);
                    continue;
                }
                Received::CallLate => {
                    let after_s = self.longest_call_s(&state).unwrap_or_default();
                    stop = Some(Stop::TimedOut { after_s });
                    (limit, call) = (end_child(worker, &state), None);
                    continue;
                }
                Received::Garbage(what) => what,
                Received::Message(message) => match *message {
                    FromWorker::Ended(ended) if ended.batch < self.number => continue,
                    FromWorker::Ended(ended) => match self.check_end(&state, &ended, worker) {
                        Ok(()) => return Ok(self.finish(state, worker, ended, stop)),
                        Err(broken) => broken,
                    },
                    _ if stop.is_some() => continue,
                    message => match self.accept(&mut state, message, worker) {
                        Ok(()) => {
                            if state.enters_case() {
                                limit = self.case_limit(&state);
                                call = self.call_limit(&state);
                            }
                            continue;
                        }
                        Err(broken) => broken,
                    },
                },
            };
            if stop.is_none() {
                stop = Some(Stop::ProtocolBroken(broken));
                (limit, call) = (end_child(worker, &state), None);
            }
        }
    }

    /// Takes a line in, or says why it cannot be true.
    fn accept(
        &self,
        state: &mut BatchState,
        message: FromWorker,
        worker: &mut Worker,
    ) -> Result<(), String> {
        match message {
            FromWorker::Child { batch, pid } if batch == self.number && state.child.is_none() => {
                // A child that was quick is gone already; one that is not the server's is never
                // touched.
                state.child = Some(pid).filter(|&pid| process_table::is_child(pid, worker.pid()));
            }
            FromWorker::Case { id } => {
                let expected = self.cases.get(state.begun.len()).map(|case| case.id.as_str());
                if expected != Some(id.as_str())
                    || state.begun.last().is_some_and(|begun| !begun.is_done())
                {
                    return Err(format!(
                        "case {id} began where {} was due",
                        expected.unwrap_or("no further one")
                    ));
                }
                let planned = self.cases[state.begun.len()].steps.len();
                state.begun.push(CaseState {
                    begun_at: Instant::now(),
                    duration: None,
                    steps: Vec::with_capacity(planned),
                });
            }
            FromWorker::Step { index, outcome, plugin_calls, table_calls } => {
                let planned = self.current(state).map_or(0, |case| case.steps.len());
                let begun = state
                    .begun
                    .last_mut()
                    .filter(|begun| !begun.is_done() && begun.steps.len() < planned);
                let begun =
                    begun.ok_or_else(|| format!("step {index} was reported where none was due"))?;
                if index as usize != begun.steps.len() {
                    return Err(format!(
                        "step {index} was reported where step {} was due",
                        begun.steps.len()
                    ));
                }
                begun.steps.push(StepOutcome { index, outcome, plugin_calls, table_calls });
            }
            FromWorker::Done { id } => {
                let case = self.current(state).filter(|case| case.id == id);
                let case =
                    case.ok_or_else(|| format!("case {id} was called done while another one ran"))?;
                let begun = state.begun.last_mut().filter(|begun| !begun.is_done());
                let begun = begun.filter(|begun| begun.steps.len() == case.steps.len());
                begun
                    .ok_or_else(|| format!("case {id} was called done before its last step"))?
                    .end();
                state.take(worker.ring.settled());
            }
            other => return Err(format!("a line that is not due: {other:?}")),
        }
        Ok(())
    }

    /// `ended` is the server's line. The child could write it too, but not while it is seen alive.
    fn check_end(&self, state: &BatchState, ended: &Ended, worker: &Worker) -> Result<(), String> {
        if ended.batch != self.number {
            return Err(format!("batch {} ended while batch {} ran", ended.batch, self.number));
        }
        if state.child.is_some_and(|child| process_table::is_child(child, worker.pid())) {
            return Err("the process of the batch was called ended while it lived".to_owned());
        }
        Ok(())
    }

    /// Each case has its own limit; so has the leaving after the last one.
    fn case_limit(&self, state: &BatchState) -> OwnTime {
        let limit = Duration::from_secs(self.timeout_s(state).into());
        OwnTime::begin(self.request.limit(limit), Instant::now())
    }

    fn timeout_s(&self, state: &BatchState) -> u32 {
        let case = self.current(state).or(self.cases.first().copied());
        let limit_s =
            self.request.timeout_s.or(case.map(|case| case.timeout_s)).unwrap_or_default();
        let leaves = state.begun.len() == self.cases.len()
            && state.begun.last().is_some_and(|begun| begun.is_done());
        // Leaving makes no calls that take longer than those of a step.
        let longest_s = if leaves { self.longest_call_s(state) } else { None };
        longest_s.map_or(limit_s, |longest_s| longest_s.min(limit_s))
    }

    fn call_limit(&self, state: &BatchState) -> Option<CallLimit> {
        let longest_s = self.longest_call_s(state)?;
        let limit = self.request.limit(Duration::from_secs(longest_s.into()));
        Some(CallLimit::begin(limit, Instant::now()))
    }

    /// Whether the case is out of time because the subject takes long for all calls together.
    fn calls_return(&self, state: &BatchState, worker: &Worker, process: u32) -> bool {
        let running = state.begun.last().is_some_and(|begun| !begun.is_done());
        let side =
            self.current(state).filter(|_| running).and_then(|case| interface(case.operations));
        let Some(boundary) = side.and_then(|side| side.facts.implements) else { return false };
        let wait_s = self.request.timeout_s.unwrap_or(NEXT_CALL_S);
        let wait = OwnTime::begin(Duration::from_secs(wait_s.into()), Instant::now());
        worker.begins_call(boundary, wait, process, &self.request.interrupt)
    }

    fn longest_call_s(&self, state: &BatchState) -> Option<u32> {
        self.request.longest_call_s(self.current(state).or(self.cases.first().copied())?)
    }

    fn current(&self, state: &BatchState) -> Option<&PlannedCase> {
        self.cases.get(state.begun.len().checked_sub(1)?).copied()
    }

    fn finish(
        &self,
        mut state: BatchState,
        worker: &mut Worker,
        ended: Ended,
        stop: Option<Stop>,
    ) -> Finished {
        process_table::kill_leftovers(worker.pid(), &state.before);
        state.take(worker.ring.rest());
        let how = format!("the process of the batch {}\n{}", ended.exit, ended.stderr.text);
        let mut observations = self.observe(state);
        let alone = self.cases.len() == 1;
        if let Some(last) = observations.last_mut() {
            last.ending = ending(stop, ended.exit, last.done);
            // What several cases printed cannot be told apart, except that the one that broke spoke
            // last.
            if alone || last.ending != Ending::Done {
                (last.stdout, last.stderr) = (ended.stdout, ended.stderr);
            }
        }
        if !worker.ring.is_intact() {
            observations.iter_mut().for_each(mark_trace_lost);
        }
        Finished { observations, lost: None, how }
    }

    /// Ends a batch whose server closed the connection. Under a debugger the server performs the
    /// cases itself, and is gone after the last one.
    fn finish_closed(&self, mut state: BatchState, worker: &mut Worker) -> Finished {
        if self.request.launch.debugger.is_some() {
            worker.wait_for_debugger(&self.request.interrupt);
            if state.begun.last().is_some_and(|last| last.is_done()) {
                state.take(worker.ring.rest());
                let observations = self.observe(state);
                let how = "the debugged process ended".to_owned();
                return Finished { observations, lost: Some(how.clone()), how };
            }
        }
        self.abandon_worker(state, worker, String::new())
    }

    /// Ends a batch whose server is dead or stuck. The case that ran is [`Ending::Lost`].
    fn abandon_worker(&self, mut state: BatchState, worker: &mut Worker, how: String) -> Finished {
        process_table::kill_batch(worker.pid(), state.child);
        state.take(worker.ring.rest());
        let how = format!("the worker {}", worker.exit_report(&how));
        let mut observations = self.observe(state);
        if let Some(last) = observations.last_mut() {
            last.ending = Ending::Lost { message: how.clone() };
            last.stderr = Captured::default();
        }
        Finished { observations, lost: Some(how.clone()), how }
    }

    /// One observation for each case that began, with the events between its mark and the next.
    fn observe(&self, state: BatchState) -> Vec<Observation> {
        // Where a worker had a trace to write to and no case is marked in it, all that was written
        // is missing.
        let unmarked = (Vec::new(), state.trace.end - state.trace.begin);
        let mut traces = split(state.trace).into_iter();
        let begun = state.begun.into_iter().zip(self.cases);
        begun
            .map(|(begun, case)| {
                let (mut events, events_lost) = traces.next().unwrap_or_else(|| unmarked.clone());
                let step_in_flight = in_flight(&events);
                events.retain(|event| !looks_up_a_function(event));
                Observation {
                    duration_ms: u64::try_from(begun.duration().as_millis()).ok(),
                    // A child that forges the line cannot have ended the step that it is in.
                    done: begun.is_done() && step_in_flight.is_none(),
                    steps: begun.steps,
                    events_lost,
                    events_recorded: Some(events.len() as u64),
                    events,
                    step_in_flight,
                    ..Observation::silent(&case.id, Ending::Done)
                }
            })
            .collect()
    }
}

impl CaseState {
    fn end(&mut self) {
        self.duration = Some(self.begun_at.elapsed());
    }

    fn is_done(&self) -> bool {
        self.duration.is_some()
    }

    /// A case that is not done lasted until now.
    fn duration(&self) -> Duration {
        self.duration.unwrap_or_else(|| self.begun_at.elapsed())
    }
}

impl BatchState {
    /// Whether the last line was the first or the last of a case.
    fn enters_case(&self) -> bool {
        self.begun.last().is_some_and(|begun| begun.is_done() || begun.steps.is_empty())
    }

    fn take(&mut self, slice: Slice) {
        if self.trace.end == 0 {
            self.trace.begin = slice.begin;
        }
        self.trace.events.extend(slice.events);
        self.trace.end = slice.end;
    }
}

/// Kills the child, and gives the limit of the server's word about that.
fn end_child(worker: &Worker, state: &BatchState) -> OwnTime {
    process_table::kill_batch(worker.pid(), state.child);
    OwnTime::begin(ENDED_TIMEOUT, Instant::now())
}

fn ending(stop: Option<Stop>, exit: Exit, done: bool) -> Ending {
    match (stop, exit) {
        (Some(Stop::TimedOut { after_s }), _) => Ending::TimedOut { after_s },
        (Some(Stop::Slow { after_s }), _) => Ending::Slow { after_s },
        (Some(Stop::ProtocolBroken(what)), _) => Ending::Lost {
            message: format!("the worker's lines stopped making sense: {what}; {POSSIBLE_CAUSE}"),
        },
        (None, Exit::Signal(signal)) => Ending::Signal(signal),
        (None, Exit::Code(0)) if done => Ending::Done,
        (None, Exit::Code(code)) => Ending::Code(code),
    }
}

/// Where the trace is destroyed and a case left nothing in it, the case is lost. A crash is told
/// without a trace.
fn mark_trace_lost(observation: &mut Observation) {
    if observation.events.is_empty() && observation.ending == Ending::Done {
        let message = format!("the trace of its driver calls was destroyed; {POSSIBLE_CAUSE}");
        observation.ending = Ending::Lost { message };
    }
}

/// The events of each case and how many are missing among them; what came before the first case's
/// mark is nobody's.
fn split(trace: Slice) -> Vec<(Vec<Event>, u64)> {
    let Slice { mut events, mut end, .. } = trace;
    let begins = |event: &Event| matches!(event.what, What::Marker(Marker::CaseBegin));
    let mut cases = Vec::new();
    while let Some(begin) = events.iter().rposition(begins) {
        let case = events.split_off(begin);
        let lost = missing(&case, end);
        // What is missing before a mark is missing of the case before it.
        end = case[0].seq;
        cases.push((case, lost));
    }
    cases.reverse();
    cases
}

/// How many events are missing among these, which begin with the first and go on to `end`.
fn missing(events: &[Event], end: u64) -> u64 {
    let mut due = events.first().map_or(end, |event| event.seq);
    let mut lost = 0;
    for event in events {
        lost += event.seq.saturating_sub(due);
        due = event.seq + 1;
    }
    lost + end.saturating_sub(due)
}

/// A binding asks for the address of each function that it may ever call, hundreds at a time. That
/// says nothing about the case in which it happens, so no observation has it. A look-up that never
/// returned stays, because it shows where the process ended.
fn looks_up_a_function(event: &Event) -> bool {
    let What::Call(call) = &event.what else { return false };
    let look_ups = [cuda::Function::cuGetProcAddress, cuda::Function::cuGetProcAddress_v2];
    call.result.is_some() && call.function.cuda().is_some_and(|one| look_ups.contains(&one))
}

fn in_flight(events: &[Event]) -> Option<u32> {
    events.iter().fold(None, |current, event| match event.what {
        What::Marker(Marker::StepBegin { step }) => u32::try_from(step).ok(),
        What::Marker(Marker::StepEnd { step }) if current == u32::try_from(step).ok() => None,
        _ => current,
    })
}
