//! One case in one process that a person watches with a debugger.

use std::path::PathBuf;
use std::sync::Arc;

use allocert_harness::{Debugger, Harness, Machine, RunOutput, Subject};
use allocert_suite::run_format::Judged;

use crate::failure::Failure;
use crate::judging::{decide, judge_all};
use crate::suite::Suite;
use crate::workers::Workers;
use crate::{case_filter, find_side, profiles};

/// What a user wants debugged.
#[derive(Debug, Clone)]
pub struct DebugOptions {
    /// The name of the side.
    pub side: String,
    pub subject: String,
    /// As for a run.
    pub abi: Option<String>,
    /// The id of the case.
    pub case: String,
    /// Files and folders of fixtures, instead of those that this program was built with.
    pub fixtures: Vec<PathBuf>,
    /// The debugger and its arguments; gdb where there are none, or pdb for a Python subject.
    pub debugger: Vec<String>,
}

/// Runs the case on the software driver, and judges it as far as it came.
///
/// # Errors
/// What is wrong with the options or the subject, or what kept the harness from its work.
pub fn debug(options: &DebugOptions, workers: &Workers) -> Result<Judged, Failure> {
    let mut suite = match options.fixtures.as_slice() {
        [] => Suite::of(&[find_side::named(&options.side)?])?,
        paths => Suite::read(paths)?,
    };
    let side = find_side::side(&options.side, &suite)?;
    let subject = Subject::parse_with(&options.subject, options.abi.as_deref(), side)?;
    let profile = profiles::of_subject(&suite.catalogue, side, None, subject.abi())?;
    suite.catalogue.choose(profile);
    let case = case_filter::by_id(suite.cases_of(side), &options.case)?;

    let machine = Machine::simulated();
    let debugger = debugger(&options.debugger, &subject);
    let mut request = workers.request(&machine, side.name(), subject)?;
    request.launch.debugger = Some(debugger);
    let mut harness = Harness::load(&Arc::new(request))?;
    let (runnable, decisions) =
        decide(&suite.catalogue, &[case], &harness.loaded().offer(&machine));
    let RunOutput { observations, .. } = harness.run(&runnable, &mut ())?;
    let judged = judge_all(&suite.catalogue, &[case], decisions, observations);
    Ok(judged.into_iter().next().expect("one case was given"))
}

fn debugger(words: &[String], subject: &Subject) -> Debugger {
    match words {
        [] if subject.is_python() => Debugger::Pdb,
        [] => Debugger::Program("gdb".into(), vec!["--args".into()]),
        [one] if one == "pdb" && subject.is_python() => Debugger::Pdb,
        [program, arguments @ ..] => {
            Debugger::Program(program.into(), arguments.iter().map(Into::into).collect())
        }
    }
}
