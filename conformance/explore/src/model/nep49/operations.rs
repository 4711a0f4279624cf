//! What the machinery asks of the operations of `nep49`.

use allocert_suite::interface::nep49::Operation;
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::Name;

use crate::simpler_steps::{simpler_fills, simpler_reads, smaller, whole_fill, whole_read};

/// Simpler forms of an operation, the simplest first.
pub(super) fn simpler(operation: &Operation) -> Vec<Operation> {
    match operation.clone() {
        Operation::Malloc { size, .. }
        | Operation::Realloc { size, .. }
        | Operation::ReallocNull { size, .. } => {
            smaller(size).map(|size| with_size(operation, size)).collect()
        }
        Operation::Calloc { nelem, .. } => {
            smaller(nelem).map(|size| with_size(operation, size)).collect()
        }
        Operation::FreeWithSize { block, .. } => vec![Operation::Drop(Drop { name: block })],
        Operation::FreeNull { size } if size > 0 => vec![Operation::FreeNull { size: 0 }],
        Operation::Fill(fill) => simpler_fills(&fill).into_iter().map(Operation::Fill).collect(),
        Operation::Read(read) => simpler_reads(&read).into_iter().map(Operation::Read).collect(),
        Operation::Churn { size, times, hold } => {
            let mut forms: Vec<Operation> =
                smaller(size).map(|size| Operation::Churn { size, times, hold }).collect();
            forms.extend((times > 1).then_some(Operation::Churn { size, times: times / 2, hold }));
            forms.extend((hold > 1).then_some(Operation::Churn { size, times, hold: 1 }));
            forms
        }
        Operation::Stress { threads, size, times } => {
            let mut forms: Vec<Operation> =
                smaller(size).map(|size| Operation::Stress { threads, size, times }).collect();
            forms.extend((threads > 2).then_some(Operation::Stress { threads: 2, size, times }));
            forms.extend((times > 1).then_some(Operation::Stress {
                threads,
                size,
                times: times / 2,
            }));
            forms
        }
        _ => Vec::new(),
    }
}

/// The name of the block that it asks for.
pub(super) fn requested(operation: &Operation) -> Option<&Name> {
    match operation {
        Operation::Malloc { r#as, .. }
        | Operation::Calloc { r#as, .. }
        | Operation::Realloc { r#as, .. } => Some(r#as),
        _ => None,
    }
}

/// The same where the block has this size, and is written and read whole.
pub(super) fn whole(operation: &Operation, name: &Name, size_bytes: u64) -> Option<Operation> {
    match operation {
        Operation::Fill(fill) if fill.memory == *name => Some(Operation::Fill(whole_fill(fill))),
        Operation::Read(read) if read.memory == *name => Some(Operation::Read(whole_read(read))),
        _ if requested(operation) == Some(name) => Some(with_size(operation, size_bytes)),
        _ => None,
    }
}

/// The same request for a block of another size.
fn with_size(request: &Operation, size_bytes: u64) -> Operation {
    let mut request = request.clone();
    if let Operation::Malloc { size, .. }
    | Operation::Calloc { nelem: size, .. }
    | Operation::Realloc { size, .. }
    | Operation::ReallocNull { size, .. } = &mut request
    {
        *size = size_bytes;
    }
    request
}

/// The names in an operation that the model knows.
pub(super) fn names(operation: &mut Operation) -> Vec<&mut Name> {
    match operation {
        Operation::Malloc { r#as, .. }
        | Operation::Calloc { r#as, .. }
        | Operation::ReallocNull { r#as, .. } => vec![r#as],
        Operation::Realloc { block, r#as, .. } => vec![block, r#as],
        Operation::ReallocTooMuch { block, .. } | Operation::FreeWithSize { block, .. } => {
            vec![block]
        }
        Operation::Drop(Drop { name }) => vec![name],
        Operation::Fill(Fill { memory, .. }) | Operation::Read(Read { memory, .. }) => vec![memory],
        _ => Vec::new(),
    }
}
