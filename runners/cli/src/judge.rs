//! `allocert judge RUN`: a recorded run, judged by this program's catalogue.

use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use allocert_suite::judge;
use allocert_suite::run::{self, Judged};

use crate::arguments::Judge;
use crate::conclude::Conclusion;
use crate::failure::Failure;
use crate::suite::Suite;

pub(crate) fn judge(arguments: &Judge) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let conclusion = Conclusion::prepare(&suite, &arguments.verdict, None)?;
    let path = arguments.run.display().to_string();
    let file = File::open(&arguments.run)
        .map_err(|error| Failure::usage(format!("cannot read the run file {path}: {error}")))?;
    let mut recorded = run::read(&path, BufReader::new(file)).map_err(Failure::usage)?;
    for judged in &mut recorded.cases {
        again(&suite, judged);
    }
    conclusion.draw(&recorded.header, recorded.cases)
}

/// A case that was not run keeps its reason: the subject is not here to be asked again.
fn again(suite: &Suite, judged: &mut Judged) {
    if let Some(observation) = &judged.observation {
        judged.judgement = judge::judge(&suite.catalogue, &judged.case, observation);
    }
}
