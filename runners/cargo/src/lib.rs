//! The suite as `cargo test` trials, for a Rust crate that builds a plugin. In the plugin's
//! `Cargo.toml`:
//!
//! ```toml
//! [[test]]
//! name = "allocert"
//! harness = false
//! ```
//!
//! and in its `tests/allocert.rs`, one trial for each case:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     allocert_cargo::main("emm", "libpool.so")
//! }
//! ```
//!
//! [`main_with`] takes a list of known violations too.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod closed_output;
mod known;
mod trial;
mod worker_pool;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use allocert_campaign::{Failure, Suite, Workers, find_side, profiles, read_expectations, tell};
use allocert_harness::{AloneLock, Interrupt, Machine, Subject};
use allocert_suite::Side;
use libtest_mimic::Arguments;

use crate::known::Known;
use crate::trial::{Shared, trial};
use crate::worker_pool::WorkerPool;

/// Names the interpreter that runs Python subjects.
const PYTHON: &str = "ALLOCERT_PYTHON";

/// The exit code of libtest if a trial failed.
const FAILED: u8 = 101;

/// Runs the cases of `interface` against `subject` as libtest would run tests, and takes libtest's
/// arguments.
///
/// `interface` and `subject` are those of `allocert run`: any side that has cases, and a subject of
/// it. A library may also be the bare name of one that cargo put beside the test executable. A
/// Python subject runs in the interpreter that `ALLOCERT_PYTHON` names, or in `python3`. A case
/// that ran without showing what it asks about fails, unless the variable
/// `ALLOCERT_ALLOW_NOT_OBSERVED` is set.
pub fn main(interface: &str, subject: &str) -> ExitCode {
    main_with(interface, subject, &Options::default())
}

/// What a crate can say besides: each field is the option of `allocert run` of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The expectation file, relative to the folder of the crate. A case whose violations it lists
    /// is ignored. If an entry is out of date, the test fails after its last trial.
    pub expect: Option<PathBuf>,
    /// Ignores cases that are not observed.
    pub allow_not_observed: bool,
    /// The requirements that apply.
    pub profile: Option<String>,
}

/// [`main()`] with options:
///
/// ```no_run
/// use allocert_cargo::{Options, main_with};
///
/// fn main() -> std::process::ExitCode {
///     let expect = Some("tests/known-violations.yaml".into());
///     main_with("emm", "libpool.so", &Options { expect, ..Options::default() })
/// }
/// ```
pub fn main_with(interface: &str, subject: &str, options: &Options) -> ExitCode {
    match serve_or_test(interface, subject, options) {
        Ok(exit) => exit,
        Err(failure) => {
            tell(&failure);
            failure.exit.code().into()
        }
    }
}

/// The test executable is its own native worker, so that nothing but the driver has to be
/// installed.
fn serve_or_test(interface: &str, subject: &str, options: &Options) -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["worker-native", socket] => served(allocert_native::worker(Path::new(socket))),
        ["ipc-peer", ..] => served(allocert_native::peer(&arguments[1..])),
        _ => test(interface, subject, options),
    }
}

fn served(result: Result<(), allocert_native::WorkerError>) -> Result<ExitCode, Failure> {
    result.map(|()| ExitCode::SUCCESS).map_err(Failure::harness)
}

fn test(interface: &str, argument: &str, options: &Options) -> Result<ExitCode, Failure> {
    let arguments = Arguments::from_args();
    let mut suite = Suite::of(&[find_side::named(interface)?])?;
    let side = find_side::side(interface, &suite)?;
    let profile = profiles::of(&suite.catalogue, side.interface(), options.profile.as_deref())?;
    suite.catalogue.choose(profile);
    let known = options.expect.as_deref().map(|path| known(&suite, argument, path)).transpose()?;

    let program = env::current_exe()
        .map_err(|error| Failure::harness(format!("cannot find this program: {error}")))?;
    let subject = parse(argument, side, &program)?;
    let interpreter = env::var_os(PYTHON).unwrap_or_else(|| "python3".into()).into();
    let workers = Workers { program, interpreter, interrupt: Interrupt::default() };
    let mut request = workers.request(&Machine::simulated(), side.name(), subject)?;
    request.alone = Some(AloneLock::default());
    if let Some(text) = suite.catalogue.chosen_text() {
        request.launch.be_true_to(&text.name);
    }
    let shared = Arc::new(Shared {
        catalogue: suite.catalogue,
        pool: WorkerPool::new(request),
        known,
        allow_not_observed: options.allow_not_observed,
    });
    let trials = suite.cases.into_iter().map(|case| trial(case, Arc::clone(&shared)));
    closed_output::end_quietly();
    let exit = libtest_mimic::run(&arguments, trials.collect()).exit_code();
    let stale = shared.known.as_ref().map(Known::stale).unwrap_or_default();
    stale.iter().for_each(tell);
    Ok(if stale.is_empty() { exit } else { FAILED.into() })
}

fn known(suite: &Suite, subject: &str, path: &Path) -> Result<Known, Failure> {
    let cases: Vec<_> = suite.cases.iter().collect();
    Ok(Known::new(read_expectations(&suite.catalogue, subject, &cases, path)?))
}

/// Cargo puts a crate's library beside its test executables, or one folder above.
fn parse(subject: &str, side: Side, program: &Path) -> Result<Subject, Failure> {
    let folders = program.ancestors().skip(1).take(2);
    let beside: Option<PathBuf> =
        folders.map(|folder| folder.join(subject)).find(|path| path.is_file());
    let subject = beside.map_or_else(|| subject.to_owned(), |path| path.display().to_string());
    Subject::parse(&subject, side).map_err(Failure::from)
}
