//! Cases that wait in a file until the run is written, so that a long sweep takes little memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use allocert_suite::observation::Observation;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::Judged;
use allocert_suite::verdict::Judgement;

/// Events that are kept before and after each one that a finding names, for the report.
const AROUND: usize = 16;

/// What a run file needs of a case and the memory does not keep. The set has the requirements that
/// were judged.
type Whole = (PlannedCase, Option<Observation>, BTreeSet<String>);

/// A file without a name, and where in it each case is.
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

    pub(crate) fn put(&mut self, judged: &Judged) -> io::Result<()> {
        let Judged { case, observation, judgement } = judged;
        let text = serde_json::to_vec(&(case, observation, &judgement.checked))?;
        self.file.write_all(&text)?;
        self.places.insert(case.id.clone(), (self.end_bytes, text.len()));
        self.end_bytes += text.len() as u64;
        Ok(())
    }

    /// The case as it was before [`trim`], with its verdict of now; nothing if it is not here.
    pub(crate) fn get(&self, judged: &Judged) -> io::Result<Option<Judged>> {
        let Some((begin, length)) = self.places.get(&judged.case.id) else { return Ok(None) };
        let mut text = vec![0; *length];
        self.file.read_exact_at(&mut text, *begin)?;
        let (case, observation, checked): Whole = serde_json::from_slice(&text)?;
        let judgement = Judgement { checked, ..judged.judgement.clone() };
        Ok(Some(Judged { case, observation, judgement }))
    }
}

/// What the reports need of cases that conform without a finding.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needed {
    /// JUnit lists the requirements of each case.
    pub(crate) steps: bool,
    /// An expectation file asks which requirements were judged.
    pub(crate) checked: bool,
}

/// Leaves what a report shows. Of a case that conforms without a finding these are its name and its
/// verdict, of others the steps and the events around those that findings name.
pub(crate) fn trim(judged: &mut Judged, needed: Needed) {
    if judged.is_clear() {
        if !needed.steps {
            judged.case.steps = Vec::new();
            judged.case.r#finally = BTreeMap::new();
        }
        if !needed.checked {
            judged.judgement.checked = BTreeSet::new();
        }
    }
    let Some(observation) = &mut judged.observation else { return };
    let findings = &judged.judgement.findings;
    let named = |seq: u64| findings.iter().flat_map(|one| &one.events).any(|one| one.seq == seq);
    let events = std::mem::take(&mut observation.events);
    let places: Vec<usize> = (0..events.len()).filter(|place| named(events[*place].seq)).collect();
    let near = |place: usize| places.iter().any(|at| at.abs_diff(place) <= AROUND);
    let kept = events.into_iter().enumerate().filter(|(place, _)| near(*place));
    observation.events = kept.map(|(_, event)| event).collect();
    // The collection may have taken over the room of all events.
    observation.events.shrink_to_fit();
    observation.events_recorded = None;
    observation.steps = Vec::new();
}
