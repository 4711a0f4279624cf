//! What the machinery asks of the operations of `nep49`.

use allocert_suite::interface::nep49::Operation;
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::{Name, Need};

use crate::model::ExploredOperation;
use crate::simpler_steps::{simpler_fills, simpler_reads, smaller, whole_fill, whole_read};

impl ExploredOperation for Operation {
    fn need(&self) -> Option<Need> {
        None
    }

    fn simpler(&self) -> Vec<Self> {
        match self.clone() {
            Self::Malloc { size, .. }
            | Self::Realloc { size, .. }
            | Self::ReallocNull { size, .. } => {
                smaller(size).map(|size| with_size(self, size)).collect()
            }
            Self::Calloc { nelem, .. } => {
                smaller(nelem).map(|size| with_size(self, size)).collect()
            }
            Self::FreeWithSize { block, .. } => vec![Self::Drop(Drop { name: block })],
            Self::FreeNull { size } if size > 0 => vec![Self::FreeNull { size: 0 }],
            Self::Fill(fill) => simpler_fills(&fill).into_iter().map(Self::Fill).collect(),
            Self::Read(read) => simpler_reads(&read).into_iter().map(Self::Read).collect(),
            Self::Churn { size, times, hold } => {
                let mut forms: Vec<Self> =
                    smaller(size).map(|size| Self::Churn { size, times, hold }).collect();
                forms.extend((times > 1).then_some(Self::Churn { size, times: times / 2, hold }));
                forms.extend((hold > 1).then_some(Self::Churn { size, times, hold: 1 }));
                forms
            }
            Self::Stress { threads, size, times } => {
                let mut forms: Vec<Self> =
                    smaller(size).map(|size| Self::Stress { threads, size, times }).collect();
                forms.extend((threads > 2).then_some(Self::Stress { threads: 2, size, times }));
                forms.extend((times > 1).then_some(Self::Stress {
                    threads,
                    size,
                    times: times / 2,
                }));
                forms
            }
            _ => Vec::new(),
        }
    }

    fn requested(&self) -> Option<&Name> {
        match self {
            Self::Malloc { r#as, .. } | Self::Calloc { r#as, .. } | Self::Realloc { r#as, .. } => {
                Some(r#as)
            }
            _ => None,
        }
    }

    fn whole(&self, name: &Name, size_bytes: u64) -> Option<Self> {
        match self {
            Self::Fill(fill) if fill.memory == *name => Some(Self::Fill(whole_fill(fill))),
            Self::Read(read) if read.memory == *name => Some(Self::Read(whole_read(read))),
            _ if self.requested() == Some(name) => Some(with_size(self, size_bytes)),
            _ => None,
        }
    }

    fn names(&mut self) -> Vec<&mut Name> {
        match self {
            Self::Malloc { r#as, .. }
            | Self::Calloc { r#as, .. }
            | Self::ReallocNull { r#as, .. } => vec![r#as],
            Self::Realloc { block, r#as, .. } => vec![block, r#as],
            Self::ReallocTooMuch { block, .. } | Self::FreeWithSize { block, .. } => {
                vec![block]
            }
            Self::Drop(Drop { name }) => vec![name],
            Self::Fill(Fill { memory, .. }) | Self::Read(Read { memory, .. }) => vec![memory],
            _ => Vec::new(),
        }
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
