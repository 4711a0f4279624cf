//! The names that operations bind, use and let go.

use super::{Operation, TableCall};

/// What a bound name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundType {
    Manager,
    /// Of a library, through which the subject is called.
    Adapter,
    Memory,
    Buffer,
    Info,
    Handle,
    Scope,
    /// Of the subject or of Numba.
    Array,
    /// The worker's.
    Stream,
    SubjectStream,
    /// An object of the subject without data on a device.
    Object,
    /// A stream, an event or a module of a host.
    HostObject,
    /// What an attribute said, and nothing more.
    Export,
    /// An object of the worker that has the interface.
    Produced,
    /// What the subject made of one.
    Imported,
}

impl Operation {
    /// The name that this operation binds, and to what.
    #[must_use]
    pub fn binds(&self) -> Option<(&str, BoundType)> {
        let (name, noun) = match self {
            Self::Create { r#as, .. } => (r#as, BoundType::Manager),
            Self::Memalloc { r#as, .. }
            | Self::Memhostalloc { r#as, .. }
            | Self::Mempin { r#as, .. }
            | Self::View { r#as, .. } => (r#as, BoundType::Memory),
            Self::HostMemory { r#as, .. } => (r#as, BoundType::Memory),
            Self::HostObject { r#as, .. } => (r#as, BoundType::HostObject),
            Self::HostBuffer { r#as, .. } => (r#as, BoundType::Buffer),
            Self::GetMemoryInfo { r#as } => (r#as.as_ref()?, BoundType::Info),
            Self::GetIpcHandle { r#as, .. } | Self::HostIpcHandle { r#as, .. } => {
                (r#as, BoundType::Handle)
            }
            Self::ForeignHandle(foreign) => (&foreign.r#as, BoundType::Handle),
            Self::DeferEnter { r#as } | Self::HostDeferEnter { r#as } => (r#as, BoundType::Scope),
            Self::DeviceArray { r#as, .. }
            | Self::PinnedArray { r#as, .. }
            | Self::MappedArray { r#as, .. }
            | Self::ManagedArray { r#as, .. }
            | Self::ToDevice { r#as, .. }
            | Self::OpenHandle { r#as, .. }
            | Self::Slice { r#as, .. } => (r#as, BoundType::Array),
            Self::Instantiate { r#as } => (r#as, BoundType::Adapter),
            Self::Array(array) => (&array.r#as, BoundType::Array),
            Self::Derive(derive) => (&derive.r#as, BoundType::Array),
            Self::Stream { r#as, .. } => (r#as, BoundType::Stream),
            Self::SubjectStream { r#as, .. } => (r#as, BoundType::SubjectStream),
            Self::PlainObject { r#as, .. } => (r#as, BoundType::Object),
            Self::Export { r#as, .. } | Self::Reexport { r#as, .. } => (r#as, BoundType::Export),
            Self::Produce(produce) => (&produce.r#as, BoundType::Produced),
            Self::Import(import) => (&import.r#as, BoundType::Imported),
            _ => return None,
        };
        Some((name, noun))
    }

    /// The names that this operation uses, and what each may stand for; empty: anything but a
    /// manager or an adapter.
    #[must_use]
    pub fn uses(&self) -> Vec<(&str, &'static [BoundType])> {
        let (name, nouns): (&str, &[BoundType]) = match self {
            Self::Mempin { buffer, .. }
            | Self::Call(TableCall::Mempin { buffer: Some(buffer), .. }) => {
                (buffer, &[BoundType::Buffer])
            }
            Self::GetIpcHandle { memory, .. } => (memory, &[BoundType::Memory]),
            Self::Pickle { handle }
            | Self::PeerRead { handle, .. }
            | Self::OpenHandle { handle, .. }
            | Self::CloseHandle { handle }
            | Self::HandleBlock { handle, .. } => (handle, &[BoundType::Handle]),
            Self::DeferExit { scope, .. } | Self::HostDeferExit { scope, .. } => {
                (scope, &[BoundType::Scope])
            }
            Self::Drop { name } => (name, &[]),
            Self::Free { name } => (name, &[BoundType::Memory]),
            Self::View { of, .. } => (of, &[BoundType::Memory]),
            Self::Fill { memory, .. } | Self::Read { memory, .. } => {
                (memory, &[BoundType::Memory, BoundType::Buffer, BoundType::Array])
            }
            Self::CopyToHost { array } | Self::HostIpcHandle { array, .. } => {
                (array, &[BoundType::Array])
            }
            Self::Slice { of, .. } => (of, &[BoundType::Array]),
            Self::Synchronize { stream } => (stream, &[BoundType::Stream]),
            Self::Derive(derive) => (&derive.of, &[BoundType::Array]),
            Self::HasInterface { of } => (of, &[BoundType::Array, BoundType::Object]),
            Self::Export { of, .. } => (of, &[BoundType::Array]),
            Self::EditExport { export } | Self::Consume { export, .. } => {
                (export, &[BoundType::Export])
            }
            Self::Import(import) => (&import.of, &[BoundType::Produced]),
            Self::Access(access) => (&access.on, &[BoundType::Imported]),
            Self::Reexport { of, .. } => (of, &[BoundType::Imported]),
            _ => return self.uses_more(),
        };
        vec![(name, nouns)]
    }

    /// Those of operations that may use several.
    fn uses_more(&self) -> Vec<(&str, &'static [BoundType])> {
        let stream = |name| (name, [BoundType::SubjectStream].as_slice());
        let own = |name| (name, [BoundType::Stream].as_slice());
        let array = |name| (name, [BoundType::Array].as_slice());
        let produced = |name| (name, [BoundType::Produced].as_slice());
        match self {
            Self::Array(made) => {
                let mask = made.mask.as_deref().map(array);
                mask.into_iter().chain(made.stream.as_deref().map(stream)).collect()
            }
            Self::Work { on, stream: name, .. } | Self::ReadWork { on, stream: name } => {
                [array(on.as_str())].into_iter().chain(name.as_deref().map(stream)).collect()
            }
            Self::Produce(made) => {
                let mask = made.mask.as_deref().map(produced);
                mask.into_iter().chain(made.stream.as_deref().map(own)).collect()
            }
            Self::Pend(pend) | Self::Reuse(pend) => vec![produced(&pend.on), own(&pend.stream)],
            Self::Inspect { on, stream: name } | Self::Release { on, stream: name } => {
                [produced(on.as_str())].into_iter().chain(name.as_deref().map(own)).collect()
            }
            Self::Launch(launch) => {
                let arguments = launch.on.iter().map(|name| produced(name));
                arguments.chain(launch.stream.as_deref().map(stream)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A name that this operation asks about, which may be gone.
    #[must_use]
    pub fn recalls(&self) -> Option<&str> {
        match self {
            Self::Alive { of } => Some(of),
            Self::Call(call) => call.of(),
            _ => None,
        }
    }

    /// The name that stands for nothing afterwards.
    #[must_use]
    pub fn unbinds(&self) -> Option<&str> {
        match self {
            Self::Drop { name } => Some(name),
            Self::DeferExit { scope, .. } | Self::HostDeferExit { scope, .. } => Some(scope),
            _ => None,
        }
    }
}
