//! The cases of one side, run on one subject and judged.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use allocert_harness::{
    Artifact, Error, Harness, Isolation, Loaded, Machine, Progress, Request, RunDir, RunEnd,
    Subject,
};
use allocert_suite::applicability::Applicability;
use allocert_suite::offer::{Driver, Flavor};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::clean;
use allocert_suite::run_format::{self, DriverInfo, Header, Judged, Repeats, Selection};
use allocert_suite::sweep::Width;
use allocert_suite::{Catalogue, RefusalCode, judge};

use crate::case_filter::{Filter, Shard};
use crate::failure::Failure;
use crate::judging::{decide, judge_all};
use crate::partial_run::{PartialRun, Recording};
use crate::spool::{Needed, Spool};
use crate::suite::Suite;
use crate::verdict_reports::{VerdictFiles, VerdictOptions, Verdicts, check_update};
use crate::workers::{Workers, default_jobs};
use crate::{clock, fault_sweep, find_side, profiles, subject_file};

/// The least time for loading a subject: numba-cuda takes some of it to import on a busy machine.
const LEAST_LOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the run file in the folder of a run that is kept.
const RUN_FILE: &str = "run.jsonl";

/// What a user wants run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The name of the side.
    pub side: String,
    /// The subject as [`Subject::parse`] reads it.
    pub subject: String,
    /// The ABI of a subject that is two functions, as [`Subject::parse_with`] reads it.
    pub abi: Option<String>,
    /// Files and folders of fixtures, instead of those that this program was built with.
    pub fixtures: Vec<PathBuf>,
    pub filter: Option<String>,
    pub shard: Option<Shard>,
    pub driver: Driver,
    /// Whether faults are swept, and how many.
    pub faults: Option<Option<Width>>,
    pub isolation: Option<Isolation>,
    pub jobs: Option<NonZeroUsize>,
    /// For each case, instead of its own.
    pub timeout_s: Option<u32>,
    /// Seconds for the whole run.
    pub max_time_s: Option<u32>,
    /// How often each case is run; nothing is once.
    pub repeat: Option<NonZeroU32>,
    /// Where the run file goes.
    pub out: Option<PathBuf>,
    /// Whether a run that is interrupted leaves what it observed. One that repeats its cases does
    /// not: what it observed is not all that the user wants to know.
    pub leaves_partial: bool,
    /// The folder that keeps the run: the run file, the traces, the worker's files.
    pub keep: Option<PathBuf>,
    pub verdict: VerdictOptions,
}

impl RunOptions {
    /// All cases of a side, with every other choice left to the program.
    #[must_use]
    pub fn new(side: String, subject: String, profile: Option<String>, driver: Driver) -> Self {
        Self {
            side,
            subject,
            abi: None,
            fixtures: Vec::new(),
            filter: None,
            shard: None,
            driver,
            faults: None,
            isolation: None,
            jobs: None,
            timeout_s: None,
            max_time_s: None,
            repeat: None,
            out: None,
            leaves_partial: true,
            keep: None,
            verdict: VerdictOptions { profile, ..VerdictOptions::default() },
        }
    }
}

/// Runs what is wanted and judges it.
///
/// # Errors
/// What is wrong with the options, their files or the subject, or what kept the harness from its
/// work.
pub fn run(
    options: &RunOptions,
    workers: &Workers,
    progress: &mut dyn Progress,
) -> Result<Verdicts, Failure> {
    let mut suite = match options.fixtures.as_slice() {
        [] => Suite::of(&[find_side::named(&options.side)?])?,
        paths => Suite::read(paths)?,
    };
    let side = find_side::side(&options.side, &suite)?;
    if options.faults.is_some() {
        fault_sweep::check(side)?;
    }
    let subject = Subject::parse_with(&options.subject, options.abi.as_deref(), side)?;
    let named = options.verdict.profile.as_deref();
    let profile = profiles::of_subject(&suite.catalogue, side, named, subject.abi())?;
    suite.catalogue.choose(profile);
    let filter = Filter::new(options.filter.as_deref())?;
    let cases = filter.select(suite.cases_of(side), options.shard)?;
    check_driver(options)?;
    check_repeats(options)?;
    check_update(&options.verdict, Some(&selection(options)))?;
    let end = options.max_time_s.map(RunEnd::after);
    let run_dir = options.keep.as_deref().map(keep).transpose()?;
    let kept = options.keep.as_ref().map(|folder| folder.join(RUN_FILE));
    let out = [options.out.as_deref(), kept.as_deref()];
    let library = match &subject {
        Subject::Library { path, .. } | Subject::Functions { path: Some(path), .. } => {
            Some(path.as_path())
        }
        _ => None,
    };
    let all: Vec<&PlannedCase> = suite.cases_of(side).collect();
    let (argument, verdict) = (argument(options), &options.verdict);
    let files = VerdictFiles::open(&suite.catalogue, &argument, &all, verdict, &out, library)?;

    let (mut request, machine) = request(options, workers, subject, run_dir)?;
    request.end = end;
    if let Some(text) = suite.catalogue.chosen_text() {
        request.launch.be_true_to(&text.name);
    }
    let mut harness = Harness::load(&Arc::new(request))?;
    files.keep_apart_from(harness.loaded())?;
    let header = header(&suite, options, &machine, harness.loaded());
    let offer = harness.loaded().offer(&machine);
    let (runnable, decisions) = decide(&suite.catalogue, &cases, &offer);
    let leaves_partial = options.leaves_partial && options.repeat.is_none();
    let mut partial = if leaves_partial { files.begin_partial(&header)? } else { None };
    let mut spool = (options.faults.is_some() && !out.iter().all(Option::is_none))
        .then(|| Spool::new().map_err(fault_sweep::cannot_spool))
        .transpose()?;
    let planned = Planned { catalogue: &suite.catalogue, cases, runnable, decisions };
    let seen = observe(options, &planned, &mut harness, partial.as_mut(), progress).and_then(
        |mut seen| {
            sweep(options, &planned, &mut harness, &mut seen, spool.as_mut(), progress)?;
            Ok(seen)
        },
    );
    let left = |failure, partial: Option<PartialRun>| match partial {
        Some(partial) => partial.keep(failure),
        None => failure,
    };
    let Seen { judged, mut warnings, repeats } = match seen {
        Ok(seen) => seen,
        Err(failure) => return Err(left(failure, partial)),
    };
    warnings.extend(partial.as_ref().and_then(PartialRun::warning));
    let catalogue = suite.catalogue;
    let mut verdicts =
        Verdicts { warnings, repeats, ..Verdicts::of_whole_run(header, judged, catalogue) };
    let files = match files.apply(&mut verdicts) {
        Ok(files) => files,
        Err(failure) => return Err(left(failure, partial)),
    };
    match (files.write(&verdicts, spool.as_ref()), partial) {
        (Ok(()), partial) => partial.into_iter().for_each(PartialRun::remove),
        (Err(failure), None) => {
            let hint = "the report is all that is left of the run; make room, or name another file";
            verdicts.unwritten = Some(failure.with_hint(hint));
        }
        (Err(failure), partial) => verdicts.unwritten = Some(left(failure, partial)),
    }
    Ok(verdicts)
}

/// The cases of a run, and which of them the subject can run.
struct Planned<'p> {
    catalogue: &'p Catalogue,
    cases: Vec<&'p PlannedCase>,
    runnable: Vec<&'p PlannedCase>,
    decisions: Vec<Applicability>,
}

/// What was seen of all cases.
struct Seen {
    judged: Vec<Judged>,
    warnings: Vec<String>,
    repeats: Option<Repeats>,
}

/// Runs the cases as often as was asked for, and gives the worst judgement of each. The partial
/// file has those of the first time.
fn observe(
    options: &RunOptions,
    planned: &Planned<'_>,
    harness: &mut Harness,
    mut partial: Option<&mut PartialRun>,
    progress: &mut dyn Progress,
) -> Result<Seen, Failure> {
    let Planned { catalogue, cases, runnable, decisions } = planned;
    if let Some(partial) = &mut partial {
        let unrun = cases.iter().zip(decisions).filter(|(_, one)| **one != Applicability::Run);
        for (case, decision) in unrun {
            let judgement = judge::not_run(case, decision.clone());
            partial.add(&Judged { case: (*case).clone(), observation: None, judgement });
        }
    }
    let mut repeats = Repeats::default();
    let mut judged = Vec::new();
    let mut warnings: Vec<String> =
        harness.loaded().loaded_again.iter().map(ToString::to_string).collect();
    for _ in 0..options.repeat.map_or(1, NonZeroU32::get) {
        let partial = partial.take();
        let mut recording = Recording { progress: &mut *progress, partial, catalogue, cases };
        let output = harness.run(runnable, &mut recording)?;
        warnings.extend(output.warnings.iter().map(ToString::to_string));
        let repeat = judge_all(catalogue, cases, decisions.clone(), output.observations);
        repeats.add(repeat, &mut judged);
    }
    Ok(Seen { judged, warnings, repeats: options.repeat.map(|_| repeats) })
}

/// Repeats the cases with faults, if that was asked for.
fn sweep(
    options: &RunOptions,
    planned: &Planned<'_>,
    harness: &mut Harness,
    seen: &mut Seen,
    spool: Option<&mut Spool>,
    progress: &mut dyn Progress,
) -> Result<(), Failure> {
    let Some(width) = options.faults else { return Ok(()) };
    let Some(side) = planned.cases.first().map(|case| case.side) else { return Ok(()) };
    let flavor = harness.loaded().flavor;
    let width = width.unwrap_or_else(|| fault_sweep::default_width(side, flavor));
    let isolation = options.isolation.unwrap_or_else(|| fault_sweep::default_isolation(flavor));
    let VerdictOptions { junit, expect, .. } = &options.verdict;
    let needed = Needed { steps: junit.is_some(), checked: expect.is_some() };
    let (how, keep) = ((width, isolation), (needed, spool));
    let swept = fault_sweep::run(planned.catalogue, harness, &seen.judged, how, keep, progress)?;
    seen.judged.extend(swept.judged);
    seen.warnings.extend(swept.warnings);
    Ok(())
}

fn request(
    options: &RunOptions,
    workers: &Workers,
    subject: Subject,
    run_dir: Option<RunDir>,
) -> Result<(Request, Machine), Failure> {
    let machine = workers.machine(options.driver)?;
    let mut request = match run_dir {
        Some(run_dir) => workers.request_in(run_dir, &machine, &options.side, subject),
        None => workers.request(&machine, &options.side, subject)?,
    };
    request.isolation = options.isolation.unwrap_or_default();
    request.jobs = options.jobs.unwrap_or_else(|| default_jobs(&machine));
    request.timeout_s = options.timeout_s;
    limit_loading(&mut request, options.timeout_s);
    Ok((request, machine))
}

fn keep(folder: &Path) -> Result<RunDir, Error> {
    RunDir::keep(folder, &Artifact::Driver.find()?)
}

/// A user who gives a case less time than an import takes does not mean the import.
pub(crate) fn limit_loading(request: &mut Request, timeout_s: Option<u32>) {
    if let Some(timeout_s) = timeout_s {
        let timeout = Duration::from_secs(timeout_s.into());
        request.launch.load_timeout = timeout.max(LEAST_LOAD_TIMEOUT);
    }
}

/// Refuses what cannot be repeated or ended in time.
fn check_repeats(options: &RunOptions) -> Result<(), Failure> {
    let conflict = |message| Err(Failure::refused(RefusalCode::OptionConflict, message));
    let shares = matches!(options.isolation, Some(Isolation::Group | Isolation::None));
    if options.max_time_s.is_some() && shares {
        return conflict(
            "--max-time takes --isolation case alone: cases that share a process begin one after \
             the other, without looking at the time",
        );
    }
    if options.repeat.is_some() && options.max_time_s.is_some() {
        return conflict(
            "--repeat does not take --max-time: a repeat that is cut off has no verdicts; leave \
             one of them out",
        );
    }
    if options.repeat.is_some() && options.faults.is_some() {
        return conflict(
            "--repeat does not apply to --faults: a fault is injected into what one run did; \
             leave one of them out",
        );
    }
    Ok(())
}

/// Refuses what a real driver cannot do.
fn check_driver(options: &RunOptions) -> Result<(), Failure> {
    match (options.driver, options.isolation) {
        (Driver::Sim, _) => Ok(()),
        (Driver::Real, _) if options.faults.is_some() => Err(Failure::refused(
            RefusalCode::OptionConflict,
            "--driver real takes no --faults: each of thousands of injections needs a driver that \
             starts over, which only the software driver does",
        )),
        (Driver::Real, None | Some(Isolation::Case)) => Ok(()),
        (Driver::Real, Some(Isolation::Group | Isolation::None)) => Err(Failure::refused(
            RefusalCode::OptionConflict,
            "--driver real takes --isolation case alone: a genuine driver cannot start over, so a \
             case would find what the last one left",
        )),
    }
}

/// The subject as the command line names it.
fn argument(options: &RunOptions) -> String {
    run_format::Subject::argument_of(&options.subject, options.abi.as_deref())
}

fn header(suite: &Suite, options: &RunOptions, machine: &Machine, loaded: &Loaded) -> Header {
    let flavor = match loaded.flavor {
        Flavor::Native => "native",
        Flavor::Python => "python",
    };
    Header {
        format: run_format::FORMAT,
        allocert: env!("CARGO_PKG_VERSION").to_owned(),
        suite: suite.hash(),
        interface: options.side.clone(),
        profile: suite.catalogue.chosen().map(|profile| profile.name.clone()),
        subject: run_format::Subject {
            argument: argument(options),
            flavor: flavor.to_owned(),
            capabilities: loaded.capabilities.clone(),
            details: loaded.subject.clone().into_iter().collect(),
        },
        subject_file: loaded.subject.get("file").and_then(subject_file::of_subject),
        driver: driver_info(machine),
        started_unix_ms: clock::unix_time_ms(),
        selection: Some(selection(options)),
    }
}

pub(crate) fn driver_info(machine: &Machine) -> DriverInfo {
    let Machine { driver, version, device, .. } = machine.clone();
    DriverInfo { kind: driver, version, device: device.as_deref().map(clean) }
}

fn selection(options: &RunOptions) -> Selection {
    Selection {
        filter: options.filter.clone(),
        shard: options.shard.map(|shard| shard.to_string()),
    }
}
