//! The simpler operations of `emm` that can replace one when a sequence is shrunk.

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::HostBuffer;

use crate::simpler_steps::{simpler_fills, simpler_reads, smaller};

/// Simpler forms of an operation, the simplest first.
pub(super) fn forms(operation: &Operation) -> Vec<Operation> {
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
        Operation::HostBuffer(HostBuffer { size, offset: 0, r#as }) if size > 4096 => {
            vec![Operation::HostBuffer(HostBuffer { size: 4096, offset: 0, r#as })]
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
        Operation::Fill(fill) => simpler_fills(&fill).into_iter().map(Operation::Fill).collect(),
        Operation::Read(read) => simpler_reads(&read).into_iter().map(Operation::Read).collect(),
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
