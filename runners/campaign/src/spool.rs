//! Observations that wait in a file until the run is written, so that a long sweep takes little
//! memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use allocert_suite::observation::Observation;
use allocert_suite::run::Judged;

/// Events that are kept before and after each one that a finding names, for the report.
const AROUND: usize = 16;

/// A file without a name, and where in it each case's observation is.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    end_bytes: u64,
    places: HashMap<String, (u64, usize)>,
}

impl Spool {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, end_bytes: 0, places: HashMap::new() })
    }

    pub(crate) fn put(&mut self, observation: &Observation) -> io::Result<()> {
        let text = serde_json::to_vec(observation)?;
        self.file.write_all(&text)?;
        self.places.insert(observation.case.clone(), (self.end_bytes, text.len()));
        self.end_bytes += text.len() as u64;
        Ok(())
    }

    /// The whole observation of a case; nothing if the case is not here.
    pub(crate) fn get(&self, case: &str) -> io::Result<Option<Observation>> {
        let Some((begin, length)) = self.places.get(case) else { return Ok(None) };
        let mut text = vec![0; *length];
        self.file.read_exact_at(&mut text, *begin)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }
}

/// Leaves of the observation what a report shows: the events around those that findings name.
pub(crate) fn trim(judged: &mut Judged) {
    let Some(observation) = &mut judged.observation else { return };
    let findings = &judged.judgement.findings;
    let named = |seq: u64| findings.iter().flat_map(|one| &one.events).any(|one| one.seq == seq);
    let events = std::mem::take(&mut observation.events);
    let places: Vec<usize> = (0..events.len()).filter(|place| named(events[*place].seq)).collect();
    let near = |place: usize| places.iter().any(|at| at.abs_diff(place) <= AROUND);
    let kept = events.into_iter().enumerate().filter(|(place, _)| near(*place));
    observation.events = kept.map(|(_, event)| event).collect();
    observation.steps = Vec::new();
}
