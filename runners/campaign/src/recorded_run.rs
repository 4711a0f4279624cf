//! A recorded run, judged again by this program's catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use allocert_requirements::profile::Profile;
use allocert_suite::applicability::{Applicability, outside};
use allocert_suite::offer::Driver;
use allocert_suite::plan::PlannedCase;
use allocert_suite::reason::Reason;
use allocert_suite::report::format::{self, Format};
use allocert_suite::report::style::Palette;
use allocert_suite::report::{self, Completeness, Report};
use allocert_suite::run_format::{Header, Judged, PAIR_INTERFACE, Run, Selection};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, RefusalCode, Side, judge};

use crate::case_filter::{Filter, Shard};
use crate::failure::Failure;
use crate::output_file::{OutputFile, refuse_one_file_twice};
use crate::run::RunOptions;
use crate::suite::Suite;
use crate::verdict_reports::{VerdictFiles, VerdictOptions, Verdicts, check_update};
use crate::{case_filter, left_out, profiles, run_file};

/// Reads the run at `path`, whose cases must be those that its header names.
///
/// # Errors
/// What is wrong with the run file.
pub fn read(path: &Path) -> Result<Run, Failure> {
    read_whole(path).map(|(run, _)| run)
}

/// As [`read`], and whether the run has all its cases.
fn read_whole(path: &Path) -> Result<(Run, Completeness), Failure> {
    let run = run_file::read(path)?;
    let suite = suite_of(path, &run.header, &run.cases)?;
    let completeness = completeness(unknown_cases(path, &run.header, &suite).as_ref());
    check_left_out(path, &suite.catalogue, completeness, &run.header, &run.cases)?;
    Ok((run, completeness))
}

/// The case of a run with this id.
///
/// # Errors
/// The run has none.
pub fn case<'r>(run: &'r Run, id: &str) -> Result<&'r Judged, Failure> {
    let case = case_filter::by_id(run.cases.iter().map(|judged| &judged.case), id)?;
    Ok(run.cases.iter().find(|judged| judged.case.id == case.id).expect("found above"))
}

/// Reads the run at `path` and judges it.
///
/// # Errors
/// What is wrong with the run file or the options.
pub fn judge(path: &Path, options: &VerdictOptions) -> Result<Verdicts, Failure> {
    judge_run(path, run_file::read(path)?, options)
}

/// As [`judge`], for a run that was interrupted. The verdict of cases that had not ended is
/// `not-observed`.
///
/// # Errors
/// As [`judge`], or this program has another suite, so that the missing cases are not known.
pub fn judge_partial(path: &Path, options: &VerdictOptions) -> Result<Verdicts, Failure> {
    let Run { header, cases, footer } = run_file::read_partial(path)?;
    let side = Side::by_name(&header.interface);
    let suite = Suite::of(side.as_slice())?;
    let (Some(side), Some(selection)) = (side, &header.selection) else {
        return Err(wrong(path, "the header does not say which cases were run"));
    };
    if suite.hash() != header.suite {
        let made_by = report::clean(&header.allocert);
        let message = format!("it was made with another suite; judge it with allocert {made_by}");
        return Err(wrong(path, &message));
    }
    let filter = Filter::new(selection.filter.as_deref())?;
    let selected = filter.select(suite.cases_of(side), shard(path, selection)?)?;
    let mut recorded: BTreeMap<String, Judged> =
        cases.into_iter().map(|judged| (judged.case.id.clone(), judged)).collect();
    let mut cases: Vec<Judged> = Vec::new();
    for case in selected {
        let interrupted = || {
            let decision = Applicability::NotObserved(Reason::Interrupted);
            let judgement = judge::not_run(case, decision);
            Judged { case: case.clone(), observation: None, judgement }
        };
        cases.push(recorded.remove(&case.id).unwrap_or_else(interrupted));
    }
    cases.extend(recorded.into_values());
    judge_run(path, Run { header, cases, footer }, options)
}

fn judge_run(path: &Path, run: Run, options: &VerdictOptions) -> Result<Verdicts, Failure> {
    let Run { mut header, mut cases, footer } = run;
    let suite = suite_of(path, &header, &cases)?;
    let unknown = unknown_cases(path, &header, &suite);
    let completeness = completeness(unknown.as_ref());
    let warnings = unknown.into_iter().collect();
    let Suite { mut catalogue, cases: known, .. } = suite;
    check_update(options, header.selection.as_ref())?;
    let profile = choose_profile(&mut catalogue, &header, options.profile.as_deref())?;
    check_left_out(path, &catalogue, completeness, &header, &cases)?;
    header.profile = profile;
    let known: Vec<&PlannedCase> =
        known.iter().chain(cases.iter().map(|judged| &judged.case)).collect();
    let subject = &header.subject.argument;
    let files = VerdictFiles::open(&catalogue, subject, &known, options, &[], Some(path))?;
    for judged in &mut cases {
        judge_again(&catalogue, judged);
    }
    let whole = Verdicts::of_whole_run(header, cases, catalogue);
    let mut verdicts = Verdicts { warnings, completeness, repeats: footer.repeats, ..whole };
    verdicts.unwritten = files.apply(&mut verdicts)?.write(&verdicts, None).err();
    Ok(verdicts)
}

/// Renders recorded runs as they were judged, and writes the document to a file where one is
/// named; otherwise gives it.
///
/// # Errors
/// A run file cannot be read, the format takes one run alone, or the output cannot be written.
pub fn report(
    runs: &[PathBuf],
    format: Format,
    out: Option<&Path>,
    palette: Palette,
) -> Result<Option<String>, Failure> {
    if runs.len() > 1 && !format.takes_several() {
        return Err(Failure::refused(
            RefusalCode::OptionConflict,
            format!("--format {} is about one run: name one run file", format.name()),
        ));
    }
    // Two columns may be about one run.
    runs.iter()
        .try_for_each(|run| refuse_one_file_twice(out.into_iter().chain([run.as_path()])))?;
    let mut catalogue = Catalogue::embedded()?;
    let runs = runs.iter().map(|path| read_whole(path)).collect::<Result<Vec<_>, _>>()?;
    if let [(run, _)] = runs.as_slice() {
        choose_profile(&mut catalogue, &run.header, None)?;
    }
    let reports: Vec<Report<'_>> = runs
        .iter()
        .map(|(run, completeness)| Report {
            header: &run.header,
            cases: &run.cases,
            catalogue: &catalogue,
            completeness: *completeness,
            repeats: run.footer.repeats.as_ref(),
        })
        .collect();
    let text = format::render(format, &reports, palette).map_err(Failure::harness)?;
    match out {
        Some(out) => OutputFile::create(out)?.write_text(&text).map(|()| None),
        None => Ok(Some(text)),
    }
}

/// The catalogue and the cases of the run's side. If the run was made with the fixtures of this
/// program, all cases that it selected must be in it: one that is missing may have failed.
pub(crate) fn suite_of(path: &Path, header: &Header, cases: &[Judged]) -> Result<Suite, Failure> {
    let side = Side::by_name(&header.interface);
    if side.is_none() && header.interface != PAIR_INTERFACE {
        let name = report::clean(&header.interface);
        return Err(wrong(path, &format!("allocert knows no side `{name}`; run the suite again")));
    }
    let suite = Suite::of(side.as_slice())?;
    let (Some(side), Some(selection)) = (side, &header.selection) else { return Ok(suite) };
    if suite.hash() != header.suite {
        return Ok(suite);
    }
    let wrong = |message: String| wrong(path, &message);
    let filter = Filter::new(selection.filter.as_deref())?;
    let selected = filter.select(suite.cases_of(side), shard(path, selection)?).map_err(|_| {
        wrong("the filter of the header matches no case; run the suite again".to_owned())
    })?;
    let mut unswept = cases.iter().map(|judged| &judged.case).filter(|case| !case.is_swept());
    let recorded: BTreeSet<&str> = unswept.clone().map(|case| case.id.as_str()).collect();
    let planned: BTreeSet<&str> = selected.iter().map(|case| case.id.as_str()).collect();
    if let Some(missing) = planned.difference(&recorded).next() {
        return Err(wrong(format!(
            "the case {missing} is missing, and the header says that it was run; run the suite \
             again"
        )));
    }
    if let Some(added) = recorded.difference(&planned).next() {
        return Err(wrong(format!(
            "the case {} is none of those that the header says were run; run the suite again",
            report::clean(added)
        )));
    }
    let mut seen = BTreeSet::new();
    if let Some(again) = unswept.clone().find(|case| !seen.insert(case.id.as_str())) {
        return Err(wrong(format!("the case {} is there twice; run the suite again", again.id)));
    }
    let changed = unswept.find(|case| !selected.contains(case));
    match changed {
        Some(case) => Err(wrong(format!(
            "the case {} is not as this suite states it; run the suite again",
            case.id
        ))),
        None => Ok(suite),
    }
}

/// Refuses a run of this suite that calls a case not applicable which its subject can run: it may
/// have failed.
fn check_left_out(
    path: &Path,
    catalogue: &Catalogue,
    completeness: Completeness,
    header: &Header,
    cases: &[Judged],
) -> Result<(), Failure> {
    if completeness == Completeness::Unknown {
        return Ok(());
    }
    let mut catalogue = catalogue.clone();
    choose_profile(&mut catalogue, header, None)?;
    let not_applicable =
        |judged: &&Judged| matches!(judged.judgement.verdict, Verdict::NotApplicable { .. });
    let cases = cases.iter().filter(not_applicable);
    let Some(judged) = left_out::runnable(&catalogue, header, cases) else { return Ok(()) };
    let message = format!(
        "the case {} is called not applicable, and the subject can run it; run the suite again",
        report::clean(&judged.case.id)
    );
    Err(wrong(path, &message))
}

/// What to know of a run of which [`suite_of`] compares no cases.
fn unknown_cases(path: &Path, header: &Header, suite: &Suite) -> Option<String> {
    let is_compared = suite.hash() == header.suite && header.selection.is_some();
    let path = path.display().to_string();
    (!is_compared && Side::by_name(&header.interface).is_some()).then(|| {
        let made_by =
            format!("{path} was made with another suite, of allocert {}", header.allocert);
        report::clean(&format!("{made_by}: whether it has all cases is not known"))
    })
}

fn completeness(unknown: Option<&String>) -> Completeness {
    if unknown.is_some() { Completeness::Unknown } else { Completeness::Known }
}

/// What runs the cases of a recorded run again, on another subject: on the software driver, with
/// every other choice left to the program.
///
/// # Errors
/// The header names no shard.
pub fn options_of(path: &Path, header: &Header, subject: &str) -> Result<RunOptions, Failure> {
    let Header { interface, profile, selection, .. } = header.clone();
    let selection = selection.unwrap_or_default();
    let shard = shard(path, &selection)?;
    let options = RunOptions::new(interface, subject.to_owned(), profile, Driver::Sim);
    Ok(RunOptions { filter: selection.filter, shard, ..options })
}

/// The part of the cases that a run file says it has.
pub(crate) fn shard(path: &Path, selection: &Selection) -> Result<Option<Shard>, Failure> {
    let shard = selection.shard.as_deref().map(str::parse).transpose();
    shard.map_err(|error| wrong(path, &format!("the header names no shard: {error}")))
}

pub(crate) fn wrong(path: &Path, message: &str) -> Failure {
    Failure::refused(RefusalCode::InvalidRunFile, format!("{}: {message}", path.display()))
}

/// Puts the profile in force that was asked for, or else the one that the run was made with; gives
/// its name.
pub(crate) fn choose_profile(
    catalogue: &mut Catalogue,
    header: &Header,
    asked: Option<&str>,
) -> Result<Option<String>, Failure> {
    let Some(side) = Side::by_name(&header.interface) else { return Ok(None) };
    let named = asked.or(header.profile.as_deref());
    let profile = profiles::of(catalogue, side.interface(), named)?;
    let recorded = header.profile.as_deref().and_then(|name| catalogue.profile(name));
    check_host(header, recorded, profile.as_ref())?;
    catalogue.choose(profile);
    Ok(catalogue.chosen().map(|profile| profile.name.clone()))
}

/// A plugin in Python ran in a host that was true to the text of its profile, or in the host of
/// today. What it did there says nothing of the other.
fn check_host(
    header: &Header,
    recorded: Option<&Profile>,
    wanted: Option<&Profile>,
) -> Result<(), Failure> {
    let plugin = header.interface == "emm" && header.subject.flavor == "python";
    let ([Some(recorded), Some(wanted)], true) = ([recorded, wanted], plugin) else {
        return Ok(());
    };
    if recorded == wanted || !(recorded.is_text() || wanted.is_text()) {
        return Ok(());
    }
    let message = format!(
        "the run was made in a host that is true to the profile {}; to judge the plugin by {}, run \
         it again with --profile {}",
        recorded.name, wanted.name, wanted.name
    );
    Err(Failure::refused(RefusalCode::OptionConflict, message))
}

/// Judges one case. A case that was not run keeps its reason, because the subject is not here.
pub(crate) fn judge_again(catalogue: &Catalogue, judged: &mut Judged) {
    let outside = outside(&judged.case, catalogue).map(Applicability::NotApplicable);
    judged.judgement = match (&judged.observation, outside, &judged.judgement.verdict) {
        (_, Some(outside), _) => judge::not_run(&judged.case, outside),
        (Some(observation), None, _) => judge::judge(catalogue, &judged.case, observation),
        (None, None, Verdict::NotApplicable { reason: Reason::OutsideProfile { profile } }) => {
            let reason = Reason::NotRecorded { profile: profile.clone() };
            judge::not_run(&judged.case, Applicability::NotObserved(reason))
        }
        (None, None, _) => return,
    };
}
