//! The result of one case of one pair, from the observation and the judge's findings.

use strum::VariantArray;

use crate::interface::exchange::{CONSUMER, PRODUCER};
use crate::observation::{Ending, Observation, Outcome, Raised};
use crate::plan::{Part, PlannedCase, PlannedStep};
use crate::verdict::{Check, Finding, Judgement, Verdict};

/// The possible results, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum State {
    Crashes,
    Misreads,
    /// The consumer does not wait for the producer's pending work.
    RacesForward,
    /// The producer's next work does not come after the consumer's.
    RacesBack,
    Exchanges,
    Refuses,
    /// The trace does not show it.
    Unseen,
    /// One of the two libraries has no such array or no such operation.
    Unavailable,
}

impl State {
    /// One character, which no other state has.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Crashes => 'C',
            Self::Misreads => 'M',
            Self::RacesForward => 'F',
            Self::RacesBack => 'B',
            Self::Exchanges => 'E',
            Self::Refuses => 'R',
            Self::Unseen => '?',
            Self::Unavailable => '–',
        }
    }

    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Crashes => "crashes",
            Self::Misreads => "misreads",
            Self::RacesForward => "races forward",
            Self::RacesBack => "races back",
            Self::Exchanges => "exchanges",
            Self::Refuses => "refuses",
            Self::Unseen => "not seen",
            Self::Unavailable => "not available",
        }
    }

    /// What it means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Crashes => "the process ended, or did not come to an end",
            Self::Misreads => {
                "the consumer reads other data than the producer wrote, cannot read what it took, \
                 or ignores what it must obey"
            }
            Self::RacesForward => {
                "the consumer's work can run before work of the producer that was pending"
            }
            Self::RacesBack => "the producer's next work can run before the consumer's is over",
            Self::Exchanges => "the data arrive, in order",
            Self::Refuses => {
                "the consumer raises an error when it is to take the array, or to write to it"
            }
            Self::Unseen => {
                "the trace does not show whether accesses are ordered, or the suite could not do \
                 its part"
            }
            Self::Unavailable => "one of the two libraries has no such array or operation",
        }
    }
}

/// One case of one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The name of the case.
    pub case: String,
    pub about: String,
    pub state: State,
    /// What happened, with untrusted text of the subject. Empty if everything went well.
    pub text: String,
}

impl Exchange {
    /// Reads one case.
    #[must_use]
    pub fn of(
        name: &str,
        case: &PlannedCase,
        observation: &Observation,
        judgement: &Judgement,
    ) -> Self {
        let (state, text) = state(case, observation, judgement);
        Self { case: name.to_owned(), about: case.about.clone(), state, text }
    }

    /// What stands for all cases of a pair that could not be loaded.
    #[must_use]
    pub fn broken(state: State, text: String) -> Self {
        Self {
            case: "loading".to_owned(),
            about: "both libraries in one process".to_owned(),
            state,
            text,
        }
    }
}

fn state(case: &PlannedCase, observation: &Observation, judgement: &Judgement) -> (State, String) {
    if let Some(crash) = crash(case, observation) {
        return (State::Crashes, crash);
    }
    if let Some(stopped) = stopped(case, observation) {
        return stopped;
    }
    // A finding with events shows the cause; wrong data is only the effect.
    let telling = judgement
        .findings
        .iter()
        .filter(|finding| counts(finding))
        .max_by_key(|one| !one.events.is_empty());
    if let Some(finding) = telling {
        return (
            of_finding(case, finding),
            format!("{}; expected: {}", finding.observed, finding.expected),
        );
    }
    match &judgement.verdict {
        Verdict::Unusable { message } | Verdict::HarnessError { message } => {
            (State::Unseen, message.clone())
        }
        Verdict::NotObserved { reason } | Verdict::NotApplicable { reason } => {
            (State::Unseen, reason.to_string())
        }
        _ => (State::Exchanges, String::new()),
    }
}

fn crash(case: &PlannedCase, observation: &Observation) -> Option<String> {
    let how = match &observation.ending {
        Ending::Signal(signal) => format!("ended by signal {signal}"),
        Ending::Code(code) => format!("ended with code {code}"),
        Ending::Stopped { timeouts } => {
            format!("was not run, because {timeouts} cases before it had timed out")
        }
        Ending::TimedOut { after_s } | Ending::Slow { after_s } => {
            format!("did not come to an end in {after_s} s")
        }
        Ending::Done | Ending::OutOfTime { .. } | Ending::Lost { .. } => return None,
    };
    let step = observation.step_in_flight.and_then(|index| case.steps.get(index as usize));
    Some(
        step.map_or(how.clone(), |step| {
            format!("{how} in {} of the {}", step.r#do.name(), step.on)
        }),
    )
}

/// The first step that did not return, if it decides the result of the case.
fn stopped(case: &PlannedCase, observation: &Observation) -> Option<(State, String)> {
    let steps = observation
        .steps
        .iter()
        .filter_map(|line| Some((case.steps.get(line.index as usize)?, &line.outcome)));
    steps.filter(|(step, _)| step.part != Part::Teardown).find_map(
        |(step, outcome)| match outcome {
            Outcome::Raised(raised) => Some(of_error(step, raised)),
            Outcome::Declined { because } => {
                Some((State::Unavailable, format!("{}: {because}", step.on)))
            }
            Outcome::Unsupported { operation } => {
                Some((State::Unseen, format!("the worker has no operation {operation}")))
            }
            Outcome::Returned(_) | Outcome::Skipped { .. } => None,
        },
    )
}

/// What an error means. A consumer that raises when it takes an array, or writes to it, refuses. A
/// consumer that raises `NotImplementedError` when it reads or writes what it took has no such
/// operation. Any other error of a read comes too late to be a refusal: the consumer misreads.
fn of_error(step: &PlannedStep, raised: &Raised) -> (State, String) {
    let unable = raised.bases.iter().any(|base| base == "NotImplementedError");
    let properties = step.r#do.properties();
    let takes = properties.takes_foreign;
    if unable && !takes {
        return (State::Unavailable, format!("{}: {}", step.on, raised.message));
    }
    let state = match step.part {
        Part::Step if takes || properties.writes_foreign => State::Refuses,
        Part::Step if step.on == CONSUMER => State::Misreads,
        _ => State::Unavailable,
    };
    (
        state,
        format!(
            "{} of the {} raised {}: {}",
            step.r#do.name(),
            step.on,
            raised.r#type,
            raised.message
        ),
    )
}

/// Whether a finding says something about the exchange: expectations do, and of the always-on
/// checks these.
fn counts(finding: &Finding) -> bool {
    matches!(
        finding.check,
        None | Some(
            Check::Race
                | Check::ViewRace
                | Check::RaceBeside
                | Check::UseAfterFree
                | Check::Crash
                | Check::Hang
        )
    )
}

/// The library whose work comes too early causes the race. If work was pending, wrong data are a
/// sign of a race.
fn of_finding(case: &PlannedCase, finding: &Finding) -> State {
    if matches!(finding.check, Some(Check::Crash | Check::Hang)) {
        return State::Crashes;
    }
    let step = finding.step.and_then(|index| case.steps.get(index as usize));
    let ordered = step.is_some_and(|step| step.expect.values().any(|one| one.ordered.is_some()));
    if !ordered && !matches!(finding.check, Some(Check::Race | Check::ViewRace)) {
        return State::Misreads;
    }
    if step.is_some_and(|step| step.on == PRODUCER) {
        State::RacesBack
    } else {
        State::RacesForward
    }
}
