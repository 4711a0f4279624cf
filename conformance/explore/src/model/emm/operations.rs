//! What the machinery asks of the operations of `emm`.

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Drop, Fill, HostBuffer, Read};
use allocert_suite::nouns::{Name, Need};

use crate::simpler_steps;

/// The capability without which an operation is not asked for.
pub(super) fn need(operation: &Operation) -> Option<Need> {
    match operation {
        Operation::Memhostalloc { .. } | Operation::Mempin { .. } | Operation::HostBuffer(_) => {
            Some(Need::HostMemory)
        }
        Operation::GetMemoryInfo { .. } => Some(Need::MemoryInfo),
        Operation::GetIpcHandle { .. } => Some(Need::Ipc),
        _ => None,
    }
}

/// The name of the device memory that it asks for.
pub(super) fn requested(operation: &Operation) -> Option<&Name> {
    match operation {
        Operation::Memalloc { r#as, .. } => Some(r#as),
        _ => None,
    }
}

/// The same where the memory has this size, and is written and read whole.
pub(super) fn whole(operation: &Operation, name: &Name, size_bytes: u64) -> Option<Operation> {
    match operation {
        Operation::Memalloc { r#as, .. } if r#as == name => {
            Some(Operation::Memalloc { size: size_bytes.into(), r#as: r#as.clone() })
        }
        Operation::Fill(fill) if fill.memory == *name => {
            Some(Operation::Fill(simpler_steps::whole_fill(fill)))
        }
        Operation::Read(read) if read.memory == *name => {
            Some(Operation::Read(simpler_steps::whole_read(read)))
        }
        _ => None,
    }
}

/// The names in an operation that the model knows.
pub(super) fn names(operation: &mut Operation) -> Vec<&mut Name> {
    match operation {
        Operation::Create { r#as, .. }
        | Operation::Memalloc { r#as, .. }
        | Operation::Memhostalloc { r#as, .. }
        | Operation::HostBuffer(HostBuffer { r#as, .. })
        | Operation::DeferEnter { r#as } => vec![r#as],
        Operation::Mempin { buffer, r#as, .. } => vec![buffer, r#as],
        Operation::GetIpcHandle { memory, r#as } => vec![memory, r#as],
        Operation::View { of, r#as, .. } => vec![of, r#as],
        Operation::DeferExit { scope, .. } => vec![scope],
        Operation::Drop(Drop { name }) => vec![name],
        Operation::Fill(Fill { memory, .. }) | Operation::Read(Read { memory, .. }) => vec![memory],
        _ => Vec::new(),
    }
}
