//! Why a case was not run, or was not judged to its end.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::effect::cuda::BEGIN_OF_RUNTIME;
use crate::nouns::Need;
use crate::offer::Flavor;

/// Why a case was not run or not judged to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The subject does not declare this capability.
    NotDeclared {
        need: Need,
    },
    /// The case is for subjects of the other flavor.
    OtherFlavor {
        flavor: Flavor,
    },
    /// The case stops a thread between two instructions, which the worker of Python subjects cannot
    /// do.
    StopsNoThread,
    /// The steps call numba-cuda, which this worker cannot use.
    NoHost,
    /// The steps call numba-cuda, which is not the host of this profile's text.
    HostDiffers {
        profile: String,
    },
    /// The worker cannot start a second process.
    NoPeer,
    TooFewDevices {
        needed: u32,
        found: u32,
    },
    /// The case sets what only the software driver lets it set.
    SoftwareDriverOnly {
        because: String,
    },
    /// The subject said "not supported" in this step to what the case needs.
    Declined {
        step: u32,
        operation: String,
        message: String,
    },
    /// The subject raised an error in a step that only prepares what the case tests.
    Refused {
        step: u32,
        operation: String,
        message: String,
    },
    /// The subject raised an error in a step in which it called a function that the software driver
    /// does not have.
    NotInDriver {
        step: u32,
        function: String,
    },
    /// The case needs more time with this subject, whose calls returned until it was ended.
    Slow {
        after_s: u32,
    },
    /// The case was not run, because so many cases had timed out.
    Stopped {
        timeouts: u32,
    },
    /// The case was not run, because the time of the whole run was over.
    OutOfTime {
        limit_s: u32,
    },
    /// The run was interrupted before the case ended.
    Interrupted,
    /// The subject called a function for memory whose arguments and result nobody records.
    UnseenMemory {
        step: Option<u32>,
        function: String,
    },
    /// All expectations of the case have a condition, and none holds.
    GivenUnmet {
        /// The first step with such an expectation.
        step: u32,
        given: String,
    },
    /// The adapter does not say this of what its library took.
    NotDescribed {
        step: u32,
        fact: String,
    },
    /// The worker has no such operation.
    NoSuchOperation {
        step: u32,
        operation: String,
    },
    /// The trace does not show where this step begins or ends.
    NoMarkers {
        step: u32,
    },
    /// The trace is incomplete.
    EventsLost {
        events: u64,
    },
    /// The profile contains none of the requirements that the case states.
    OutsideProfile {
        profile: String,
    },
    /// As [`Reason::OutsideProfile`] when the run was made, and it is judged by another profile
    /// now.
    NotRecorded {
        profile: String,
    },
    /// The fault sweep leaves this out.
    Unswept {
        because: Unswept,
    },
    /// The call that was to fail was never made.
    FaultNotReached {
        call: String,
    },
    /// Accesses would race, but something that the trace does not show may have put them in order.
    OrderUnknown {
        because: Doubt,
    },
    /// Code of the host, which the subject called or inherits, took or asked for all memory that an
    /// expectation of this step is about.
    TakenByHostCode {
        step: u32,
    },
    /// No access of this step conflicts with one of the labelled step.
    NothingToOrder {
        step: u32,
        after: String,
    },
    /// Nothing was seen to read or write the memory of this name.
    NothingAccessed {
        step: u32,
        name: String,
    },
    /// The facts of this name describe no memory.
    NoMemory {
        step: u32,
        name: String,
    },
    /// The export is too long to be recorded whole, so this entry cannot be judged.
    NotCarried {
        step: u32,
        entry: String,
    },
    /// The fact that should name a stream names none.
    NoStream {
        step: u32,
        found: String,
    },
}

/// What a case that is `not-observed` says about its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The case was left out on purpose, or asks nothing of this subject: the profile, the driver,
    /// the options or what the subject does decide it.
    NothingAsked,
    /// The case ran, and its record does not show what it asks about.
    Unseen,
    /// The case was not run, or its record is incomplete. That may hide anything, and the subject
    /// can cause it.
    Unfinished,
}

impl Reason {
    /// Whether the subject got no further because the CUDA runtime did not start.
    #[must_use]
    pub fn is_for_want_of_runtime(&self) -> bool {
        matches!(self, Self::NotInDriver { function, .. } if function == BEGIN_OF_RUNTIME.name())
    }

    /// What a case with this reason says about its run, if it is `not-observed`.
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        match self {
            Self::NotDeclared { .. }
            | Self::OtherFlavor { .. }
            | Self::StopsNoThread
            | Self::NoHost
            | Self::HostDiffers { .. }
            | Self::NoPeer
            | Self::TooFewDevices { .. }
            | Self::SoftwareDriverOnly { .. }
            | Self::Declined { .. }
            | Self::Refused { .. }
            | Self::GivenUnmet { .. }
            | Self::OutsideProfile { .. }
            | Self::NotRecorded { .. }
            | Self::Unswept { .. }
            | Self::FaultNotReached { .. }
            | Self::TakenByHostCode { .. }
            | Self::NothingToOrder { .. } => Meaning::NothingAsked,
            Self::NotInDriver { .. }
            | Self::UnseenMemory { .. }
            | Self::NotDescribed { .. }
            | Self::NoSuchOperation { .. }
            | Self::NoMarkers { .. }
            | Self::OrderUnknown { .. }
            | Self::NothingAccessed { .. }
            | Self::NoMemory { .. }
            | Self::NotCarried { .. }
            | Self::NoStream { .. } => Meaning::Unseen,
            Self::Slow { .. }
            | Self::Stopped { .. }
            | Self::OutOfTime { .. }
            | Self::Interrupted
            | Self::EventsLost { .. } => Meaning::Unfinished,
        }
    }
}

/// What can put accesses in order without a trace of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// A call whose parameters are not known.
    PassedOn { call: String, seq: u64 },
    /// A function of the host in a stream.
    HostFunction { seq: u64 },
    /// A wait for an event whose creation is not in the trace.
    UnknownEvent { seq: u64 },
    /// A stream is captured: its work is not run.
    Capture { seq: u64 },
    /// More streams exist at a time than the judge distinguishes.
    ManyStreams { limit: u64 },
    /// Memory was read and written in more pieces than the judge distinguishes.
    ManyPieces,
}

/// The fault sweep makes this many first calls of one function in one step fail, and the last one.
pub(crate) const SWEPT_REPEATS: u64 = 8;

/// Why the fault sweep leaves an injection out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unswept {
    /// The driver's documentation does not list this error for the function.
    NeverAnswers { function: String, error: String },
    /// The call gives back or restores a context. If it fails, the subject has no other way to do
    /// so.
    Restores { function: String },
    /// The case makes calls fail itself.
    OwnFaults,
    /// The case did not conform without a fault.
    NotClean,
    /// The catalogue says nothing about failed calls for this side.
    OtherSubject,
    /// What can fail below a handler of NumPy is where it takes its memory from, and allocert does
    /// not stand between the two.
    OwnSource,
    /// The handler of the case is Python, and such a function loses the error that the host has
    /// raised.
    LosesErrors,
    /// A second interpreter imports the host, and an import that fails leaves what it has made.
    HalfImported,
    /// Several threads make calls, so the nth call is a different one in each run.
    Threads,
    /// numba-cuda makes calls too, and the trace does not distinguish them from the subject's.
    HostCalls,
    /// The same call at the same place of another case is swept.
    Sampled,
    /// The case writes gigabytes, and each injection would do so again.
    Heavy,
    /// One of many calls of one step, neither among the first nor the last.
    Repeated,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDeclared { need: Need::Numpy } => f.write_str(
                "NumPy calls only handlers that Python gives it; if this is a shared library, run \
                 `allocert.numpy.library(PATH)` as a Python subject too",
            ),
            Self::NotDeclared { need: Need::OwnHostMemory } => f.write_str(
                "the host's own class allocates and pins host memory for the subject, which does \
                 not override its memhostalloc() and mempin()",
            ),
            Self::NotDeclared { need: Need::DeferredHostMemory } => f.write_str(
                "the subject allocates or pins host memory itself, and may give it back at once",
            ),
            Self::NotDeclared { need } => write!(f, "the subject does not declare `{need}`"),
            Self::OtherFlavor { flavor: Flavor::Python } => f.write_str("only for Python subjects"),
            Self::OtherFlavor { flavor: Flavor::Native } => f.write_str("only for native subjects"),
            Self::StopsNoThread => f.write_str(
                "a race of a few instructions is looked for in shared libraries only; if a library \
                 exports the handler, run it as PATH.so:symbol too",
            ),
            Self::NoHost => f.write_str("numba-cuda cannot be used with this worker"),
            Self::HostDiffers { profile } => {
                write!(f, "numba-cuda is not the host that the text of the profile {profile} means")
            }
            Self::NoPeer => f.write_str("the worker cannot start a second process"),
            Self::TooFewDevices { needed, found } => {
                write!(f, "needs {needed} devices, the driver shows {found}")
            }
            Self::SoftwareDriverOnly { because } => {
                write!(f, "only on the software driver: {because}")
            }
            Self::Declined { step, operation, message } => {
                write!(f, "the subject declined {operation} in step {step}: {message}")
            }
            Self::Refused { step, operation, message } => {
                write!(f, "the subject refused {operation} in step {step}: {message}")
            }
            Self::Slow { after_s } => write!(
                f,
                "the subject is slow: its calls returned, and the case did not end in \
                 {after_s} s; --timeout allows more"
            ),
            Self::Stopped { timeouts } => {
                write!(
                    f,
                    "the run stopped, because {timeouts} cases had timed out; run the case \
                     with --filter to try it"
                )
            }
            Self::Interrupted => f.write_str("the run was interrupted before the case ended"),
            Self::OutOfTime { limit_s } => {
                write!(f, "not run, because the run was longer than --max-time {limit_s}")
            }
            Self::UnseenMemory { step, function } => {
                let place = step.map_or_else(String::new, |step| format!(" in step {step}"));
                write!(
                    f,
                    "the subject called {function}{place}, and allocert does not record what \
                     memory it stands for"
                )
            }
            Self::NotInDriver { step, function } if self.is_for_want_of_runtime() => {
                write!(
                    f,
                    "the CUDA runtime does not start on the software driver, which does not have \
                     {function} (step {step}); use --driver real"
                )
            }
            Self::NotInDriver { step, function } => {
                write!(
                    f,
                    "the software driver does not have {function}, which the subject called in \
                     step {step}"
                )
            }
            Self::GivenUnmet { step, given } => {
                write!(
                    f,
                    "the case asks nothing of this subject: step {step} expects something only if \
                     {given}"
                )
            }
            Self::NotDescribed { step, fact } => {
                write!(
                    f,
                    "the adapter does not say `{fact}` of what the library took in step {step}"
                )
            }
            Self::NoSuchOperation { step, operation } => {
                write!(f, "the worker has no operation {operation} (step {step})")
            }
            Self::NoMarkers { step } => {
                write!(f, "the trace does not show where step {step} begins and ends")
            }
            Self::EventsLost { events } => write!(
                f,
                "the subject makes more calls than the trace holds: {events} events are lost"
            ),
            Self::OutsideProfile { profile } => {
                write!(f, "the profile {profile} contains nothing of what the case states")
            }
            Self::NotRecorded { profile } => {
                write!(
                    f,
                    "the run was made with the profile {profile}, which leaves the case out; run \
                     the subject again with the profile that is wanted now"
                )
            }
            Self::Unswept { because } => because.fmt(f),
            Self::FaultNotReached { call } => {
                write!(f, "the call of {call} that was to fail was not made this time")
            }
            Self::OrderUnknown { because } => {
                write!(f, "whether accesses to memory are ordered is not known: {because}")
            }
            Self::TakenByHostCode { step } => {
                write!(
                    f,
                    "the host's own code, which the subject called, asked for the memory that \
                     step {step} is about"
                )
            }
            Self::NothingToOrder { step, after } => {
                write!(
                    f,
                    "no access to memory in step {step} conflicts with one of `{after}`: nothing \
                     to order"
                )
            }
            Self::NothingAccessed { step, name } => {
                write!(f, "nothing was seen to read or write `{name}` until the end of step {step}")
            }
            Self::NoMemory { step, name } => {
                write!(f, "the facts of `{name}` describe no memory (step {step})")
            }
            Self::NotCarried { step, entry } => {
                write!(
                    f,
                    "`{entry}` of the export in step {step} is too long or too deep to be judged"
                )
            }
            Self::NoStream { step, found } => write!(f, "the stream of step {step} is {found}"),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PassedOn { call, seq } => {
                write!(
                    f,
                    "{call} (#{seq}) was passed on by name alone and may have waited for anything"
                )
            }
            Self::HostFunction { seq } => {
                write!(
                    f,
                    "the function of the host that #{seq} queued may have told a thread of it"
                )
            }
            Self::UnknownEvent { seq } => {
                write!(f, "#{seq} waits for an event that was created out of sight")
            }
            Self::Capture { seq } => write!(f, "a stream is captured from #{seq} on"),
            Self::ManyStreams { limit } => {
                write!(f, "there are more than {limit} streams at a time")
            }
            Self::ManyPieces => f.write_str("memory was accessed in too many pieces"),
        }
    }
}

impl fmt::Display for Unswept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not swept: ")?;
        match self {
            Self::NeverAnswers { function, error } => write!(f, "{function} never answers {error}"),
            Self::Restores { function } => {
                write!(
                    f,
                    "{function} gives a context back; if it fails, the subject cannot do so in \
                     another way"
                )
            }
            Self::OwnFaults => f.write_str("the case makes driver calls fail itself"),
            Self::NotClean => f.write_str("the case does not conform without a fault"),
            Self::OtherSubject => {
                f.write_str("no requirement of the side says what a failed call may lead to")
            }
            Self::OwnSource => f.write_str(
                "a handler takes its memory from a source of its own, such as malloc() of libc, \
                 and allocert cannot make that fail",
            ),
            Self::LosesErrors => f.write_str(
                "the handler of this case looks after its blocks in Python, and a call of Python \
                 loses the error that the host has raised",
            ),
            Self::HalfImported => f.write_str(
                "the host is imported in a second interpreter, and an import that fails leaves \
                 what it has made",
            ),
            Self::Heavy => {
                f.write_str("the case writes gigabytes, and each injection would do so again")
            }
            Self::Threads => f.write_str(
                "several threads make driver calls in this case, and their order changes from run \
                 to run",
            ),
            Self::HostCalls => f.write_str(
                "numba-cuda makes driver calls in this case, and the trace does not tell them \
                     from those of the subject",
            ),
            Self::Repeated => {
                write!(
                    f,
                    "of the calls of one function in one step, only the first {SWEPT_REPEATS} and \
                     the last are swept (--faults=every sweeps all)"
                )
            }
            Self::Sampled => f.write_str(
                "the same call at the same place of another case is swept (--faults=every \
                     sweeps all)",
            ),
        }
    }
}
