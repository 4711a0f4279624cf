//! `allocert judge RUN`: a recorded run, judged by this program's catalogue.

use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use allocert_suite::applicability::{Applicability, outside};
use allocert_suite::reason::Reason;
use allocert_suite::run::{self, Header, Judged};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Side, judge};

use crate::arguments::Judge;
use crate::conclude::Conclusion;
use crate::failure::Failure;
use crate::profile;
use crate::suite::Suite;

pub(crate) fn judge(arguments: &Judge) -> Result<ExitCode, Failure> {
    let mut suite = Suite::of(&[])?;
    let path = arguments.run.display().to_string();
    let file = File::open(&arguments.run)
        .map_err(|error| Failure::usage(format!("cannot read the run file {path}: {error}")))?;
    let mut recorded = run::read(&path, BufReader::new(file)).map_err(Failure::usage)?;
    recorded.header.profile =
        choose(&mut suite, &recorded.header, arguments.verdict.profile.as_deref())?;
    let conclusion = Conclusion::prepare(&suite, &arguments.verdict, None)?;
    for judged in &mut recorded.cases {
        again(&suite, judged);
    }
    conclusion.draw(&recorded.header, recorded.cases)
}

/// Puts the profile in force that was asked for, or else the one that the run was made with; gives
/// its name.
fn choose(
    suite: &mut Suite,
    header: &Header,
    asked: Option<&str>,
) -> Result<Option<String>, Failure> {
    let Some(side) = Side::by_name(&header.interface) else { return Ok(None) };
    let profile =
        profile::of(&suite.catalogue, side.interface(), asked.or(header.profile.as_deref()))?;
    suite.catalogue.choose(profile);
    Ok(suite.catalogue.chosen().map(|profile| profile.name.clone()))
}

/// A case that was not run keeps its reason: the subject is not here to be asked again.
fn again(suite: &Suite, judged: &mut Judged) {
    let outside = outside(&judged.case, &suite.catalogue).map(Applicability::NotApplicable);
    judged.judgement = match (&judged.observation, outside, &judged.judgement.verdict) {
        (_, Some(outside), _) => judge::not_run(&judged.case, outside),
        (Some(observation), None, _) => judge::judge(&suite.catalogue, &judged.case, observation),
        (None, None, Verdict::NotApplicable { reason: Reason::OutsideProfile { profile } }) => {
            let reason = Reason::NotRecorded { profile: profile.clone() };
            judge::not_run(&judged.case, Applicability::NotObserved(reason))
        }
        (None, None, _) => return,
    };
}
