//! What the machinery asks of the operations of `place`.

use allocert_suite::interface::place::Operation;
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::Name;

use crate::simpler_steps::{simpler_fills, simpler_reads, smaller, whole_fill, whole_read};

/// Simpler forms of an operation, the simplest first.
pub(super) fn simpler(operation: &Operation) -> Vec<Operation> {
    match operation.clone() {
        Operation::Alloc { place, size, r#as, .. } => smaller(size)
            .map(|size| Operation::Alloc { place, size, r#as: r#as.clone(), stream: None })
            .collect(),
        Operation::Fill(fill) => simpler_fills(&fill).into_iter().map(Operation::Fill).collect(),
        Operation::Read(read) => simpler_reads(&read).into_iter().map(Operation::Read).collect(),
        Operation::Churn { place, size, times, hold } => {
            let mut forms: Vec<Operation> =
                smaller(size).map(|size| Operation::Churn { place, size, times, hold }).collect();
            let fewer = Operation::Churn { place, size, times: times / 2, hold };
            forms.extend((times > 1).then_some(fewer));
            forms.extend((hold > 1).then_some(Operation::Churn { place, size, times, hold: 1 }));
            forms
        }
        Operation::Stress { place, threads, size, times } => {
            let with = |threads, times| Operation::Stress { place, threads, size, times };
            let fewer = (threads > 2).then(|| with(2, times));
            fewer.into_iter().chain((times > 1).then(|| with(threads, times / 2))).collect()
        }
        _ => Vec::new(),
    }
}

/// The name of the block that it asks for.
pub(super) fn requested(operation: &Operation) -> Option<&Name> {
    match operation {
        Operation::Alloc { r#as, .. } => Some(r#as),
        _ => None,
    }
}

/// The same where the block has this size, and is written and read whole.
pub(super) fn whole(operation: &Operation, name: &Name, size_bytes: u64) -> Option<Operation> {
    match operation {
        Operation::Fill(fill) if fill.memory == *name => Some(Operation::Fill(whole_fill(fill))),
        Operation::Read(read) if read.memory == *name => Some(Operation::Read(whole_read(read))),
        Operation::Alloc { place, r#as, .. } if r#as == name => Some(Operation::Alloc {
            place: *place,
            size: size_bytes,
            r#as: r#as.clone(),
            stream: None,
        }),
        _ => None,
    }
}

/// The names in an operation that the model knows.
pub(super) fn names(operation: &mut Operation) -> Vec<&mut Name> {
    match operation {
        Operation::Alloc { r#as, .. } => vec![r#as],
        Operation::FreeAddress { memory, .. } => vec![memory],
        Operation::Drop(Drop { name }) => vec![name],
        Operation::Fill(Fill { memory, .. }) | Operation::Read(Read { memory, .. }) => vec![memory],
        _ => Vec::new(),
    }
}
