//! `allocert run INTERFACE SUBJECT`

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, thread};

use allocert_harness::{
    Asset, Harness, Interrupt, Launch, Loaded, Machine, Request, RunDir, Sighting, Subject,
};
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::exit::Exit;
use allocert_suite::judge;
use allocert_suite::offer::{Driver, Flavor, Offer};
use allocert_suite::plan::PlannedCase;
use allocert_suite::run::{self, DriverInfo, Header, Judged};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::arguments::{self, Isolation, Run};
use crate::conclude::Conclusion;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::selection::Filter;
use crate::suite::Suite;
use crate::{interface, profile, sweep, terminal};

/// What numba-cuda takes to import on a machine that is busy with other runs.
const LEAST_LOAD_PATIENCE: Duration = Duration::from_secs(10);
/// Signals that come this close together are one wish to stop.
const SAME_WISH: Duration = Duration::from_millis(500);
/// The interpreter that started this program, where one did.
const PYTHON: &str = "ALLOCERT_PYTHON";

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let mut suite = match arguments.fixtures.as_slice() {
        [] => Suite::of(&[interface::named(&arguments.interface)?])?,
        paths => Suite::read(paths)?,
    };
    let side = interface::side(&arguments.interface, &suite)?;
    if arguments.faults.is_some() {
        sweep::check(side)?;
    }
    let profile =
        profile::of(&suite.catalogue, side.interface(), arguments.verdict.profile.as_deref())?;
    suite.catalogue.choose(profile);
    let subject = Subject::parse(&arguments.subject, side).map_err(Failure::usage)?;
    let filter = Filter::new(arguments.filter.as_deref())?;
    let cases = filter.select(suite.cases_of(side), arguments.shard)?;
    let conclusion = Conclusion::prepare(&suite, &arguments.verdict, arguments.out.as_ref())?;

    let (request, machine) = request(arguments, subject)?;
    let request = Arc::new(request);
    let mut harness = Harness::load(&request)?;
    let header = header(&suite, arguments, &machine, harness.loaded());
    let offer = harness.loaded().offer(&machine);
    let (runnable, decisions) = decide(&suite, &cases, &offer);
    let sighting = harness.run(&runnable, &mut Progress::new())?;
    let mut notes: Vec<String> = sighting.remarks.iter().map(ToString::to_string).collect();
    let mut judged = judge_all(&suite, &cases, decisions, sighting);
    if let Some(width) = arguments.faults {
        let width = width.map_or_else(|| sweep::width(offer.flavor), Into::into);
        let isolation =
            arguments.isolation.map_or_else(|| sweep::isolation(offer.flavor), Into::into);
        let swept =
            sweep::run(&suite, &mut harness, &judged, width, isolation, &mut Progress::new())?;
        judged.extend(swept.judged);
        notes.extend(swept.notes);
    }
    let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    let exit = conclusion.draw(&header, judged)?;
    terminal::print(&notes)?;
    Ok(exit)
}

fn request(arguments: &Run, subject: Subject) -> Result<(Request, Machine), Failure> {
    let interrupt = listen()?;
    let own = own()?;
    let run = RunDir::create(&Asset::Driver.find()?)?;
    let machine = machine(arguments, &own, &run)?;
    let launch = launch(&subject, arguments.python.as_ref(), arguments.timeout, own, &run);
    let jobs = match machine.driver {
        Driver::Sim => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        Driver::Real => NonZeroUsize::MIN,
    };
    let request = Request {
        run,
        launch: launch.on(&machine),
        interface: arguments.interface.clone(),
        subject,
        isolation: arguments.isolation.map(Into::into).unwrap_or_default(),
        jobs: arguments.jobs.unwrap_or(jobs),
        timeout_s: arguments.timeout,
        interrupt,
    };
    Ok((request, machine))
}

/// This program's own file: it is its own worker.
pub(crate) fn own() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::new(Exit::Harness, format!("cannot find this program: {error}")))
}

/// The interpreter that was named, or that started this program, or the usual one.
pub(crate) fn interpreter(given: Option<&PathBuf>) -> PathBuf {
    let started = || env::var_os(PYTHON).map(PathBuf::from);
    given.cloned().or_else(started).unwrap_or_else(|| PathBuf::from("python3"))
}

/// A case may be given less time than an import takes, and nobody who does means the import.
fn load_patience(timeout_s: u32) -> Duration {
    Duration::from_secs(timeout_s.into()).max(LEAST_LOAD_PATIENCE)
}

/// The worker for a subject.
pub(crate) fn launch(
    subject: &Subject,
    python: Option<&PathBuf>,
    timeout_s: Option<u32>,
    own: PathBuf,
    run: &RunDir,
) -> Launch {
    let mut launch = if subject.is_python() {
        Launch::python(interpreter(python), run)
    } else {
        Launch::native(own)
    };
    if let Some(timeout_s) = timeout_s {
        launch.load_patience = load_patience(timeout_s);
    }
    launch
}

/// The machine that was asked for; a real one is asked whether it is there.
fn machine(arguments: &Run, own: &Path, run: &RunDir) -> Result<Machine, Failure> {
    match (arguments.driver, arguments.isolation) {
        (arguments::Driver::Sim, _) => Ok(Machine::simulated()),
        (arguments::Driver::Real, _) if arguments.faults.is_some() => Err(Failure::usage(
            "--driver real takes no --faults: only the software driver can be told to make a call fail",
        )),
        (arguments::Driver::Real, None | Some(Isolation::Case)) => Ok(Machine::real(own, run)?),
        (arguments::Driver::Real, Some(Isolation::Group | Isolation::None)) => Err(Failure::usage(
            "--driver real takes --isolation case alone: a genuine driver cannot start over, so a case would find what the last one left",
        )),
    }
}

/// The first Ctrl-C ends the run in order, a later one ends this program at once. What comes
/// together with the first is the same wish: `timeout` and terminals send it to a program and to
/// its group.
pub(crate) fn listen() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    let trouble =
        |error| Failure::new(Exit::Harness, format!("cannot listen for signals: {error}"));
    // A write beyond `ulimit -f` is then an error that is told, not the end of this program with
    // its files left behind.
    signal_hook::flag::register(SIGXFSZ, Interrupt::default().flag()).map_err(trouble)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(trouble)?;
    let wish = interrupt.clone();
    thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            wish.raise();
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                process::exit(Exit::Harness as i32);
            }
        }
    });
    Ok(interrupt)
}

fn header(suite: &Suite, arguments: &Run, machine: &Machine, loaded: &Loaded) -> Header {
    let flavor = match loaded.flavor {
        Flavor::Native => "native",
        Flavor::Python => "python",
    };
    Header {
        format: run::FORMAT,
        allocert: env!("CARGO_PKG_VERSION").to_owned(),
        suite: suite.hash(),
        interface: arguments.interface.clone(),
        profile: suite.catalogue.chosen().map(|profile| profile.name.clone()),
        subject: run::Subject {
            argument: arguments.subject.clone(),
            flavor: flavor.to_owned(),
            capabilities: loaded.capabilities.clone(),
            details: loaded.subject.clone().into_iter().collect(),
        },
        driver: DriverInfo { kind: machine.driver, version: machine.version },
        started: None,
    }
}

/// Which cases are run, and the decision on each.
fn decide<'c>(
    suite: &Suite,
    cases: &[&'c PlannedCase],
    offer: &Offer,
) -> (Vec<&'c PlannedCase>, Vec<Applicability>) {
    let decisions: Vec<Applicability> =
        cases.iter().map(|case| applicability(case, &suite.catalogue, offer)).collect();
    let runs = |decision: &Applicability| matches!(decision, Applicability::Run);
    let runnable =
        cases.iter().zip(&decisions).filter(|(_, decision)| runs(decision)).map(|(case, _)| *case);
    (runnable.collect(), decisions)
}

/// Every planned case with its judgement, in the order of the plan.
pub(crate) fn judge_all(
    suite: &Suite,
    cases: &[&PlannedCase],
    decisions: Vec<Applicability>,
    sighting: Sighting,
) -> Vec<Judged> {
    let mut observations = sighting.observations.into_iter();
    let judged = cases.iter().zip(decisions).map(|(case, decision)| {
        let observation = if decision == Applicability::Run { observations.next() } else { None };
        let judgement = match &observation {
            Some(observation) => judge::judge(&suite.catalogue, case, observation),
            None => judge::not_run(case, decision),
        };
        Judged { case: (*case).clone(), observation, judgement }
    });
    judged.collect()
}
