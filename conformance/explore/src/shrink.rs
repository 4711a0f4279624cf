//! Shortens a sequence that violates a requirement. It removes steps as long as the rest is legal
//! and violates the same requirement (Zeller and Hildebrandt, Simplifying and Isolating
//! Failure-Inducing Input, 2002). Then it simplifies the rest.
//!
//! Every candidate runs in a process of its own, so many candidates run at a time.

use std::ops::Range;
use std::sync::Arc;

use allocert_suite::nouns::Teardown;
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::verdict::{Finding, Judgement};

use crate::findings;
use crate::model::SideModel;
use crate::renumber_names::renumber;
use crate::sequence::{Sequence, SequenceBuilder};
use crate::simpler_steps::simpler_steps;
use crate::step::Step;

/// Shrinking ends after this many candidates.
const CANDIDATES: usize = 4000;
/// Candidates that run at a time.
const AT_ONCE: usize = 64;
/// The longest sequence whose steps are simplified.
const LONGEST_SIMPLIFIED: usize = 64;
/// Sizes of memory that is written and read whole.
const WHOLE_SIZES: [u64; 3] = [64, 4096, 65_536];

/// Runs cases, each in a process of its own, and judges them, in their order.
pub type Run<'a, E> = dyn FnMut(&[PlannedCase]) -> Result<Vec<Judgement>, E> + 'a;

/// A shrunk sequence.
#[derive(Debug)]
pub struct Shrunk {
    pub sequence: Sequence,
    /// The finding that says most about it.
    pub finding: Finding,
    /// How many candidates ran.
    pub candidates: usize,
}

/// Shrinks a sequence that broke `requirement`. `None` if it does not break it in a process of its
/// own.
///
/// # Errors
/// Those of `run`.
pub fn shrink<E>(
    sequence: &Sequence,
    requirement: &str,
    run: &mut Run<'_, E>,
) -> Result<Option<Shrunk>, E> {
    let mut search = Search { requirement, run, candidates: 0 };
    let Some(judgement) = search.judge(std::slice::from_ref(sequence))?.pop().flatten() else {
        return Ok(None);
    };
    let mut best = search.cut(sequence.clone(), &judgement)?;
    loop {
        let before = weight(&best);
        best = search.leave_out(best)?;
        best = search.simplify(best)?;
        if weight(&best) >= before || search.is_over() {
            break;
        }
    }
    best = search.try_one(best.clone(), with_renumbered_names(best))?;
    let Some(judgement) = search.judge(std::slice::from_ref(&best))?.pop().flatten() else {
        return Ok(None);
    };
    let specific =
        findings::most_specific(&judgement, requirement, &sequence.requirements).cloned();
    let Some(specific) = specific else { return Ok(None) };
    search.requirement = &specific.requirement;
    best = search.try_one(best.clone(), with_needed_expectations(&best, &specific.requirement))?;
    let judgement = search.judge(std::slice::from_ref(&best))?.pop().flatten();
    let finding = judgement
        .and_then(|judgement| findings::of_requirement(&judgement, &specific.requirement).cloned());
    let candidates = search.candidates;
    Ok(finding.map(|finding| Shrunk { sequence: best, finding, candidates }))
}

/// A change that may make a sequence shorter or simpler.
#[derive(Debug, Clone)]
enum Edit {
    LeaveOut(Range<usize>),
    Replace(usize, Box<Step>),
    /// The request for memory at this place asks for so much, and all of it is written and read.
    Whole(usize, u64),
    Teardown,
    Machine,
}

struct Search<'a, 'r, E> {
    requirement: &'a str,
    run: &'a mut Run<'r, E>,
    candidates: usize,
}

impl<E> Search<'_, '_, E> {
    /// Runs sequences. The judgements of those that break the requirement.
    fn judge(&mut self, sequences: &[Sequence]) -> Result<Vec<Option<Judgement>>, E> {
        let mut all = Vec::with_capacity(sequences.len());
        for some in sequences.chunks(AT_ONCE) {
            let name = |side: &SideModel, index: usize| {
                format!("{}/explored/candidate-{}", side.side, self.candidates + index)
            };
            let cases: Vec<PlannedCase> = some
                .iter()
                .enumerate()
                .map(|(index, one)| one.planned(&name(one.side, index), "a candidate"))
                .collect();
            self.candidates += some.len();
            let judged = (self.run)(&cases)?;
            all.extend(judged.into_iter().map(|one| {
                findings::of_requirement(&one, self.requirement).is_some().then_some(one)
            }));
        }
        Ok(all)
    }

    /// Leaves out the steps behind the finding, unless it is about the end.
    fn cut(&mut self, sequence: Sequence, judgement: &Judgement) -> Result<Sequence, E> {
        let step =
            findings::of_requirement(judgement, self.requirement).and_then(|finding| finding.step);
        let planned =
            sequence.planned(&format!("{}/explored/cut", sequence.side.side), "a candidate");
        let setup = planned.steps.iter().filter(|step| step.part == Part::Setup).count();
        let end =
            step.map_or(sequence.steps.len(), |step| (step as usize + 1).saturating_sub(setup));
        let rest = Edit::LeaveOut(end.min(sequence.steps.len())..sequence.steps.len());
        let shorter =
            edited(&sequence, &[rest]).filter(|shorter| weight(shorter) < weight(&sequence));
        match shorter {
            Some(shorter) => self.try_one(sequence, Some(shorter)),
            None => Ok(sequence),
        }
    }

    /// Leaves out ever smaller pieces.
    fn leave_out(&mut self, mut best: Sequence) -> Result<Sequence, E> {
        let mut piece = best.steps.len().div_ceil(2);
        while piece > 0 && !self.is_over() {
            let starts = (0..best.steps.len()).step_by(piece);
            let edits = starts
                .map(|start| Edit::LeaveOut(start..(start + piece).min(best.steps.len())))
                .collect();
            match self.improve(&best, edits)? {
                Some(better) => best = better,
                None => piece /= 2,
            }
        }
        Ok(best)
    }

    fn simplify(&mut self, mut best: Sequence) -> Result<Sequence, E> {
        while best.steps.len() <= LONGEST_SIMPLIFIED && !self.is_over() {
            let steps = best.steps.iter().enumerate();
            let replaced = steps.flat_map(|(at, step)| {
                simpler_steps(step, best.side.simpler)
                    .into_iter()
                    .map(move |form| Edit::Replace(at, Box::new(form)))
            });
            let whole =
                (0..best.steps.len()).flat_map(|at| WHOLE_SIZES.map(|size| Edit::Whole(at, size)));
            let edits =
                [Edit::Teardown, Edit::Machine].into_iter().chain(whole).chain(replaced).collect();
            match self.improve(&best, edits)? {
                Some(better) => best = better,
                None => break,
            }
        }
        Ok(best)
    }

    /// Tries each edit alone, then all that keep the finding together; if together they lose it,
    /// the first.
    fn improve(&mut self, best: &Sequence, edits: Vec<Edit>) -> Result<Option<Sequence>, E> {
        let lighter = |edits: &[Edit]| edited(best, edits).filter(|one| weight(one) < weight(best));
        let mut kept: Vec<(Edit, Sequence)> = Vec::new();
        for some in edits.chunks(AT_ONCE) {
            let alone = some
                .iter()
                .filter_map(|edit| Some((edit.clone(), lighter(std::slice::from_ref(edit))?)));
            let (edits, sequences): (Vec<Edit>, Vec<Sequence>) = alone.unzip();
            let judged = self.judge(&sequences)?;
            let pairs = edits.into_iter().zip(sequences).zip(judged);
            kept.extend(pairs.filter_map(|(pair, judgement)| judgement.map(|_| pair)));
            if self.is_over() {
                break;
            }
        }
        let together: Vec<Edit> = kept.iter().map(|(edit, _)| edit.clone()).collect();
        let all = (kept.len() > 1).then(|| lighter(&together)).flatten();
        match kept.into_iter().next() {
            Some((_, first)) => self.try_one(first, all).map(Some),
            None => Ok(None),
        }
    }

    /// The other sequence if it keeps the finding, else this one.
    fn try_one(&mut self, best: Sequence, other: Option<Sequence>) -> Result<Sequence, E> {
        let Some(other) = other else { return Ok(best) };
        let keeps = self.judge(std::slice::from_ref(&other))?.pop().flatten().is_some();
        Ok(if keeps { other } else { best })
    }

    fn is_over(&self) -> bool {
        self.candidates >= CANDIDATES
    }
}

/// The sequence after edits. `None` if a replaced step is not legal in its place.
fn edited(sequence: &Sequence, edits: &[Edit]) -> Option<Sequence> {
    let teardown = edits.iter().any(|edit| matches!(edit, Edit::Teardown));
    let machine = edits.iter().any(|edit| matches!(edit, Edit::Machine));
    let machine = if machine { sequence.side.plain_machine } else { sequence.machine };
    let teardown = if teardown { Teardown::Clean } else { sequence.teardown };
    let requirements = Arc::clone(&sequence.requirements);
    let mut builder = SequenceBuilder::new(sequence.side, machine, teardown, requirements);
    for (at, step) in sequence.steps.iter().enumerate() {
        if edits.iter().any(|edit| matches!(edit, Edit::LeaveOut(range) if range.contains(&at))) {
            continue;
        }
        let replaced = edits.iter().find_map(|edit| match edit {
            Edit::Replace(place, form) if *place == at => Some(Step::clone(form)),
            Edit::Whole(place, size_bytes) => whole(sequence, *place, *size_bytes, at),
            _ => None,
        });
        let legal = builder.push(replaced.as_ref().unwrap_or(step).clone());
        if !legal && replaced.is_some() {
            return None;
        }
    }
    let edited = builder.finish();
    // A fixture has to expect something.
    edited.steps.iter().any(|step| !step.expect.is_empty()).then_some(edited)
}

/// The step at `at`, if the memory that is asked for at `place` gets this size and is written and
/// read whole.
fn whole(sequence: &Sequence, place: usize, size_bytes: u64, at: usize) -> Option<Step> {
    let Sequence { side, steps, .. } = sequence;
    let name = (side.requested)(&steps[place].r#do)?;
    let r#do = (side.whole)(&steps[at].r#do, name, size_bytes)?;
    Some(Step { r#do, ..steps[at].clone() })
}

/// How much there is to read: steps first, then flags, then numbers.
fn weight(sequence: &Sequence) -> (usize, u32, u64) {
    let flags = u32::from(sequence.teardown != Teardown::Clean)
        + u32::from(sequence.machine != sequence.side.plain_machine);
    let steps = sequence.steps.iter().map(|step| {
        let text = serde_json::to_string(&step.r#do).unwrap_or_default();
        let numbers = text
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse::<u64>().ok());
        let flags = text.matches("true").count() as u64
            + u64::from(step.thread.is_some())
            + u64::from(step.on != "m");
        numbers.map(|number| number.min(1 << 40)).sum::<u64>() + flags
    });
    (sequence.steps.len(), flags, steps.sum())
}

/// The sequence with its names numbered from 1.
fn with_renumbered_names(mut sequence: Sequence) -> Option<Sequence> {
    renumber(&mut sequence.steps, sequence.side.names);
    let length = sequence.steps.len();
    edited(&sequence, &[]).filter(|renumbered| renumbered.steps.len() == length)
}

/// The sequence with only those expectations that state the requirement or allow an error.
fn with_needed_expectations(sequence: &Sequence, requirement: &str) -> Option<Sequence> {
    let mut needed = sequence.clone();
    for step in &mut needed.steps {
        step.expect.retain(|id, expectation| id == requirement || expectation.raises.is_some());
    }
    let states = needed.steps.iter().any(|step| !step.expect.is_empty());
    states.then_some(needed)
}
