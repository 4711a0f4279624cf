//! What the machinery asks of the operations of `emm`.

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Drop, Fill, HostBuffer, Read};
use allocert_suite::nouns::{Name, Need};

use crate::model::ExploredOperation;
use crate::simpler_steps;

use super::simpler_operations;

impl ExploredOperation for Operation {
    fn need(&self) -> Option<Need> {
        match self {
            Self::Memhostalloc { .. } | Self::Mempin { .. } | Self::HostBuffer(_) => {
                Some(Need::HostMemory)
            }
            Self::GetMemoryInfo { .. } => Some(Need::MemoryInfo),
            Self::GetIpcHandle { .. } => Some(Need::Ipc),
            _ => None,
        }
    }

    fn simpler(&self) -> Vec<Self> {
        simpler_operations::forms(self)
    }

    fn requested(&self) -> Option<&Name> {
        match self {
            Self::Memalloc { r#as, .. } => Some(r#as),
            _ => None,
        }
    }

    fn whole(&self, name: &Name, size_bytes: u64) -> Option<Self> {
        match self {
            Self::Memalloc { r#as, .. } if r#as == name => {
                Some(Self::Memalloc { size: size_bytes.into(), r#as: r#as.clone() })
            }
            Self::Fill(fill) if fill.memory == *name => {
                Some(Self::Fill(simpler_steps::whole_fill(fill)))
            }
            Self::Read(read) if read.memory == *name => {
                Some(Self::Read(simpler_steps::whole_read(read)))
            }
            _ => None,
        }
    }

    fn names(&mut self) -> Vec<&mut Name> {
        match self {
            Self::Create { r#as, .. }
            | Self::Memalloc { r#as, .. }
            | Self::Memhostalloc { r#as, .. }
            | Self::HostBuffer(HostBuffer { r#as, .. })
            | Self::DeferEnter { r#as } => vec![r#as],
            Self::Mempin { buffer, r#as, .. } => vec![buffer, r#as],
            Self::GetIpcHandle { memory, r#as } => vec![memory, r#as],
            Self::View { of, r#as, .. } => vec![of, r#as],
            Self::DeferExit { scope, .. } => vec![scope],
            Self::Drop(Drop { name }) => vec![name],
            Self::Fill(Fill { memory, .. }) | Self::Read(Read { memory, .. }) => vec![memory],
            _ => Vec::new(),
        }
    }
}
