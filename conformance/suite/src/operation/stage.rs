//! Where an operation can be done.

use allocert_requirements::Side;

use super::Operation;

impl Operation {
    /// The sides that it is an operation of.
    #[must_use]
    pub fn belongs(&self) -> &'static [Side] {
        match self {
            Self::Fault { .. }
            | Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment { .. }
            | Self::Drop { .. } => {
                &[Side::Emm, Side::EmmHost, Side::CaiProducer, Side::CaiConsumer]
            }
            Self::Describe {}
            | Self::HostBuffer { .. }
            | Self::PeerRead { .. }
            | Self::Pickle { .. }
            | Self::Fill { .. }
            | Self::Read { .. } => &[Side::Emm, Side::EmmHost],
            Self::Attach { .. } | Self::Detach {} => {
                &[Side::Emm, Side::CaiProducer, Side::CaiConsumer]
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
            | Self::Close {} => &[Side::EmmHost],
            Self::Instantiate { .. }
            | Self::Stream { .. }
            | Self::SubjectStream { .. }
            | Self::Synchronize { .. }
            | Self::Alive { .. }
            | Self::Consume { .. } => &[Side::CaiProducer, Side::CaiConsumer],
            Self::Array(_)
            | Self::Derive(_)
            | Self::Work { .. }
            | Self::ReadWork { .. }
            | Self::PlainObject { .. }
            | Self::HasInterface { .. }
            | Self::Export { .. }
            | Self::EditExport { .. } => &[Side::CaiProducer],
            Self::Produce(_)
            | Self::Pend(_)
            | Self::Import(_)
            | Self::Access(_)
            | Self::Launch(_)
            | Self::Inspect { .. }
            | Self::Reuse(_)
            | Self::Release { .. }
            | Self::Reexport { .. } => &[Side::CaiConsumer],
            _ => &[Side::Emm],
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
