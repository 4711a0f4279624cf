//! What the machinery asks of the operations of `place`.

use allocert_suite::interface::OperationSet;
use allocert_suite::interface::place::Operation;
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::{Name, Need};

use crate::model::ExploredOperation;
use crate::simpler_steps::{simpler_fills, simpler_reads, smaller, whole_fill, whole_read};

impl ExploredOperation for Operation {
    fn need(&self) -> Option<Need> {
        self.properties().requires
    }

    fn simpler(&self) -> Vec<Self> {
        match self.clone() {
            Self::Alloc { place, size, r#as, .. } => smaller(size)
                .map(|size| Self::Alloc { place, size, r#as: r#as.clone(), stream: None })
                .collect(),
            Self::Fill(fill) => simpler_fills(&fill).into_iter().map(Self::Fill).collect(),
            Self::Read(read) => simpler_reads(&read).into_iter().map(Self::Read).collect(),
            Self::Churn { place, size, times, hold, then } => {
                let with = |size, times, hold| Self::Churn { place, size, times, hold, then };
                let mut forms: Vec<Self> =
                    smaller(size).map(|size| with(size, times, hold)).collect();
                forms.extend((times > 1).then_some(with(size, times / 2, hold)));
                forms.extend((hold > 1).then_some(with(size, times, 1)));
                forms
            }
            Self::Stress { place, threads, size, times } => {
                let with = |threads, times| Self::Stress { place, threads, size, times };
                let fewer = (threads > 2).then(|| with(2, times));
                fewer.into_iter().chain((times > 1).then(|| with(threads, times / 2))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn requested(&self) -> Option<&Name> {
        match self {
            Self::Alloc { r#as, .. } => Some(r#as),
            _ => None,
        }
    }

    fn whole(&self, name: &Name, size_bytes: u64) -> Option<Self> {
        match self {
            Self::Fill(fill) if fill.memory == *name => Some(Self::Fill(whole_fill(fill))),
            Self::Read(read) if read.memory == *name => Some(Self::Read(whole_read(read))),
            Self::Alloc { place, r#as, .. } if r#as == name => Some(Self::Alloc {
                place: *place,
                size: size_bytes,
                r#as: r#as.clone(),
                stream: None,
            }),
            _ => None,
        }
    }

    fn names(&mut self) -> Vec<&mut Name> {
        match self {
            Self::Alloc { r#as, .. } => vec![r#as],
            Self::FreeAddress { memory, .. } => vec![memory],
            Self::Drop(Drop { name }) => vec![name],
            Self::Fill(Fill { memory, .. }) | Self::Read(Read { memory, .. }) => vec![memory],
            _ => Vec::new(),
        }
    }
}
