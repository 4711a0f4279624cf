//! Where an operation can be done.

use super::Operation;
use crate::case::Through;

impl Operation {
    /// The kinds of cases that it belongs to.
    #[must_use]
    pub fn belongs(&self) -> &'static [Through] {
        match self {
            Self::Fault { .. }
            | Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment { .. }
            | Self::Drop { .. } => &Through::ALL,
            Self::Describe {}
            | Self::HostBuffer { .. }
            | Self::PeerRead { .. }
            | Self::Pickle { .. }
            | Self::Fill { .. }
            | Self::Read { .. } => &[Through::Manager, Through::Host],
            Self::Attach { .. } | Self::Detach {} => {
                &[Through::Manager, Through::Producer, Through::Consumer]
            }
            Self::Register { .. }
            | Self::RegisterByEnvironment { .. }
            | Self::OpenContext {}
            | Self::DeviceArray { .. }
            | Self::PinnedArray { .. }
            | Self::MappedArray { .. }
            | Self::ManagedArray { .. }
            | Self::ToDevice { .. }
            | Self::CopyToHost { .. }
            | Self::Slice { .. }
            | Self::PinBlock { .. }
            | Self::HostDeferEnter { .. }
            | Self::HostDeferExit { .. }
            | Self::HostMemoryInfo {}
            | Self::HostIpcHandle { .. }
            | Self::HostReset {}
            | Self::DescribeHost {}
            | Self::PluginFails { .. }
            | Self::SelectDevice { .. }
            | Self::HostMemory { .. }
            | Self::HostObject { .. }
            | Self::HostSynchronize {}
            | Self::ForeignHandle(_)
            | Self::OpenHandle { .. }
            | Self::CloseHandle { .. }
            | Self::HandleBlock { .. }
            | Self::Close {} => &[Through::Host],
            Self::Instantiate { .. }
            | Self::Stream { .. }
            | Self::SubjectStream { .. }
            | Self::Synchronize { .. }
            | Self::Alive { .. }
            | Self::Consume { .. } => &[Through::Producer, Through::Consumer],
            Self::Array(_)
            | Self::Derive(_)
            | Self::Work { .. }
            | Self::ReadWork { .. }
            | Self::PlainObject { .. }
            | Self::HasInterface { .. }
            | Self::Export { .. }
            | Self::EditExport { .. } => &[Through::Producer],
            Self::Produce(_)
            | Self::Pend(_)
            | Self::Import(_)
            | Self::Access(_)
            | Self::Launch(_)
            | Self::Inspect { .. }
            | Self::Reuse(_)
            | Self::Release { .. }
            | Self::Reexport { .. } => &[Through::Consumer],
            _ => &[Through::Manager],
        }
    }

    /// Whether an adapter of a library does it, which may say that the library cannot.
    #[must_use]
    pub fn adapted(&self) -> bool {
        matches!(
            self,
            Self::SubjectStream { .. }
                | Self::Array(_)
                | Self::Derive(_)
                | Self::Work { .. }
                | Self::ReadWork { .. }
                | Self::PlainObject { .. }
                | Self::Import(_)
                | Self::Access(_)
                | Self::Launch(_)
                | Self::Reexport { .. }
        )
    }

    /// Whether a manager is called, so that `on` has to name one.
    #[must_use]
    pub fn on_manager(&self) -> bool {
        matches!(
            self,
            Self::Destroy {}
                | Self::Initialize {}
                | Self::Memalloc { .. }
                | Self::Memhostalloc { .. }
                | Self::Mempin { .. }
                | Self::GetMemoryInfo { .. }
                | Self::GetIpcHandle { .. }
                | Self::Reset {}
                | Self::DeferEnter { .. }
                | Self::DeferExit { .. }
                | Self::Churn { .. }
                | Self::Reenter { .. }
                | Self::Stress { .. }
                | Self::Call(_)
        )
    }
}
