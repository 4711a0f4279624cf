//! The partial run file: what a run has observed so far. It lies beside the run file and is removed
//! when the run file is written. A run that is interrupted or killed leaves it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use allocert_harness::Progress;
use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::{Header, Judged, Writer};
use allocert_suite::{Catalogue, judge};

use crate::failure::Failure;

/// A partial run file that is being written.
#[derive(Debug)]
pub(crate) struct PartialRun {
    path: PathBuf,
    writer: Option<Writer<BufWriter<File>>>,
    /// How many cases it has that ran.
    cases: usize,
    /// How many cases came when nothing more was written.
    missed: usize,
    /// Why nothing more is written.
    broken: Option<io::Error>,
}

/// What a run file begins with.
const BEGIN: &[u8] = b"{\"header\":";

/// Whether the file is empty, or begins as a run file does.
fn is_of_a_run(file: &mut File) -> io::Result<bool> {
    let mut found = Vec::with_capacity(BEGIN.len());
    file.take(BEGIN.len() as u64).read_to_end(&mut found)?;
    file.rewind()?;
    Ok(found.is_empty() || found == BEGIN)
}

impl PartialRun {
    /// Begins the partial file of the run file at `run`. What an earlier run left is gone then.
    pub(crate) fn begin(run: &Path, header: &Header) -> Result<Self, Failure> {
        let mut name = run.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".partial");
        let path = run.with_file_name(name);
        let refused = |error: io::Error| Failure::unwritable(&path, error);
        let options =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = options().map_err(refused)?;
        file.try_lock()
            .map_err(|_| Failure::unwritable(&path, "another run writes it; name another file"))?;
        if !is_of_a_run(&mut file).map_err(refused)? {
            let why = "it is no file of an earlier run; remove it, or name another";
            return Err(Failure::unwritable(&path, why));
        }
        file.set_len(0).map_err(refused)?;
        let writer = Writer::begin(BufWriter::new(file), header).map_err(refused)?;
        Ok(Self { path, writer: Some(writer), cases: 0, missed: 0, broken: None })
    }

    /// Adds a case. After an error nothing more is added: the run goes on without its partial file.
    pub(crate) fn add(&mut self, judged: &Judged) {
        let Some(writer) = &mut self.writer else {
            self.missed += 1;
            return;
        };
        match writer.add(judged).and_then(|()| writer.flush()) {
            Ok(()) => self.cases += usize::from(judged.observation.is_some()),
            Err(error) => {
                (self.broken, self.writer) = (Some(error), None);
                self.missed += 1;
            }
        }
    }

    /// What a user should know if the file could not be written.
    pub(crate) fn warning(&self) -> Option<String> {
        let error = self.broken.as_ref()?;
        Some(format!("{} is not complete: {error}", self.path.display()))
    }

    /// Removes the file, which is not needed any more.
    pub(crate) fn remove(self) {
        // A file that is not there is what is wanted.
        let _removed = fs::remove_file(&self.path);
    }

    /// Leaves the file where cases are in it, and tells the user of it.
    pub(crate) fn keep(self, failure: Failure) -> Failure {
        if self.cases == 0 {
            self.remove();
            return failure;
        }
        let (path, cases, missed) = (self.path.display(), self.cases, self.missed);
        let first = if missed == 0 { "" } else { "first " };
        let failure = failure.with_hint(&format!(
            "the {first}{cases} cases that ended are in {path}; `allocert judge --partial {path}` \
             judges them"
        ));
        match &self.broken {
            None => failure,
            Some(error) => failure.with_hint(&format!(
                "the {missed} cases after them are not: {error}; make room, or name a file on \
                 another disk with --out, and run again"
            )),
        }
    }
}

/// Writes each case that is observed, and shows the progress too.
pub(crate) struct Recording<'r> {
    pub(crate) progress: &'r mut dyn Progress,
    pub(crate) partial: Option<&'r mut PartialRun>,
    pub(crate) catalogue: &'r Catalogue,
    pub(crate) cases: &'r [&'r PlannedCase],
}

impl Progress for Recording<'_> {
    fn expect(&mut self, total: u64) {
        self.progress.expect(total);
    }

    fn advance(&mut self, count: u64, name: &str) {
        self.progress.advance(count, name);
    }

    fn observe(&mut self, observation: &Observation) {
        let Some(partial) = &mut self.partial else { return };
        // A case that ran out of its time is run again alone before anybody is blamed.
        let ending = &observation.ending;
        if ending.timed_out() || matches!(ending, Ending::Stopped { .. }) {
            return;
        }
        let planned = self.cases.iter().find(|case| case.id == observation.case);
        if let Some(case) = planned {
            let judgement = judge::judge(self.catalogue, case, observation);
            let (case, observation) = ((*case).clone(), Some(observation.clone()));
            partial.add(&Judged { case, observation, judgement });
        }
    }
}
