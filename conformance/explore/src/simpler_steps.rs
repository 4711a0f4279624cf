//! The simpler steps that can replace a step when a sequence is shrunk.

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Fill, HostBuffer, Read};
use allocert_suite::nouns::Name;

use crate::step::Step;

/// Simpler forms of a step, the simplest first.
pub(crate) fn simpler_steps(step: &Step) -> Vec<Step> {
    let mut forms: Vec<Step> =
        operations(&step.r#do).into_iter().map(|r#do| Step { r#do, ..step.clone() }).collect();
    if step.thread.is_some() {
        forms.push(Step { thread: None, ..step.clone() });
    }
    if step.on != "m" {
        forms.push(Step { on: Name::new_static("m"), ..step.clone() });
    }
    forms
}

fn operations(operation: &Operation) -> Vec<Operation> {
    let operation = operation.clone();
    match operation {
        Operation::Create { r#as, device } if device > 0 => {
            vec![Operation::Create { r#as, device: 0 }]
        }
        Operation::Memalloc { size, r#as } => {
            let sizes = smaller(u64::try_from(size).unwrap_or_default());
            sizes
                .map(|size| Operation::Memalloc { size: size.into(), r#as: r#as.clone() })
                .collect()
        }
        Operation::Memhostalloc { size, mapped, portable, wc, r#as } => {
            let form = |size, mapped, portable, wc| Operation::Memhostalloc {
                size,
                mapped,
                portable,
                wc,
                r#as: r#as.clone(),
            };
            let mut forms: Vec<Operation> =
                smaller(size).map(|size| form(size, mapped, portable, wc)).collect();
            forms.extend(mapped.then(|| form(size, false, portable, wc)));
            forms.extend(portable.then(|| form(size, mapped, false, wc)));
            forms.extend(wc.then(|| form(size, mapped, portable, false)));
            forms
        }
        Operation::HostBuffer(HostBuffer { size, r#as }) if size > 4096 => {
            vec![Operation::HostBuffer(HostBuffer { size: 4096, r#as })]
        }
        Operation::Mempin { buffer, mapped: true, r#as } => {
            vec![Operation::Mempin { buffer, mapped: false, r#as }]
        }
        Operation::View { of, offset, size, r#as } => {
            let form =
                |offset, size| Operation::View { of: of.clone(), offset, size, r#as: r#as.clone() };
            let offsets = [0, 1, 256]
                .into_iter()
                .filter(|simple| *simple < offset)
                .map(|offset| form(offset, size));
            smaller(size).map(|size| form(offset, size)).chain(offsets).collect()
        }
        Operation::Fill(Fill { memory, byte, offset, size }) => {
            let form = |byte, offset, size| {
                Operation::Fill(Fill { memory: memory.clone(), byte, offset, size })
            };
            let mut forms = Vec::new();
            forms.extend(size.map(|_| form(byte, 0, None)));
            forms.extend((byte > 9).then(|| form(byte % 9 + 1, offset, size)));
            forms
        }
        Operation::Read(Read { memory, offset, size, device }) => {
            let form = |offset, size| {
                Operation::Read(Read { memory: memory.clone(), offset, size, device })
            };
            let mut forms = Vec::new();
            forms.extend(size.map(|_| form(0, None)));
            forms.extend(size.filter(|size| *size > 1).map(|_| form(offset, Some(1))));
            forms
        }
        Operation::Churn { size, times, hold, mixed } => {
            let form = |size, times, hold| Operation::Churn { size, times, hold, mixed };
            let mut forms: Vec<Operation> =
                smaller(size).map(|size| form(size, times, hold)).collect();
            forms.extend((times > 1 && size > 0).then(|| form(size, times / 2, hold)));
            forms.extend((hold > 1 && size > 0).then(|| form(size, times, 1)));
            forms
        }
        Operation::DeferExit { scope, raising: true } => {
            vec![Operation::DeferExit { scope, raising: false }]
        }
        _ => Vec::new(),
    }
}

/// Round sizes below this one, and its half. Never 0, which is another kind of request.
fn smaller(size: u64) -> impl Iterator<Item = u64> {
    let round = [1, 64, 256, 4096, 65_536, 1 << 20].into_iter();
    let half = (size / 2).next_power_of_two();
    round.chain([half]).filter(move |simple| *simple < size)
}
