//! The simpler steps that can replace a step when a sequence is shrunk.

use allocert_suite::interface::Operation;
use allocert_suite::interface::shared::{Fill, Read};
use allocert_suite::nouns::Name;

use crate::step::Step;

/// Simpler forms of a step, the simplest first. `simpler` gives those of its operation.
pub(crate) fn simpler_steps(step: &Step, simpler: fn(&Operation) -> Vec<Operation>) -> Vec<Step> {
    let mut forms: Vec<Step> =
        simpler(&step.r#do).into_iter().map(|r#do| Step { r#do, ..step.clone() }).collect();
    if step.thread.is_some() {
        forms.push(Step { thread: None, ..step.clone() });
    }
    if step.on != "m" {
        forms.push(Step { on: Name::new_static("m"), ..step.clone() });
    }
    forms
}

/// Fills all of the memory, or fills it with a small number.
pub(crate) fn simpler_fills(fill: &Fill) -> Vec<Fill> {
    let mut forms = Vec::new();
    forms.extend(fill.size.map(|_| whole_fill(fill)));
    forms.extend((fill.byte > 9).then(|| Fill { byte: fill.byte % 9 + 1, ..fill.clone() }));
    forms
}

/// Reads all of the memory, or one byte.
pub(crate) fn simpler_reads(read: &Read) -> Vec<Read> {
    let mut forms = Vec::new();
    forms.extend(read.size.map(|_| Read { device: read.device, ..whole_read(read) }));
    let one_byte = Read { size: Some(1), ..read.clone() };
    forms.extend(read.size.filter(|size| *size > 1).map(|_| one_byte));
    forms
}

pub(crate) fn whole_fill(fill: &Fill) -> Fill {
    Fill { offset: 0, size: None, ..fill.clone() }
}

pub(crate) fn whole_read(read: &Read) -> Read {
    Read { offset: 0, size: None, device: false, ..read.clone() }
}

/// Round sizes below this one, and its half. Never 0, which is another kind of request.
pub(crate) fn smaller(size: u64) -> impl Iterator<Item = u64> {
    let round = [1, 64, 256, 4096, 65_536, 1 << 20].into_iter();
    let half = (size / 2).next_power_of_two();
    round.chain([half]).filter(move |simple| *simple < size)
}
