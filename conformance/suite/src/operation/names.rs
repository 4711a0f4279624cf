//! The names that operations bind, use and let go.

use super::{Operation, TableCall};

/// What a bound name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
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
    pub fn binds(&self) -> Option<(&str, Noun)> {
        let (name, noun) = match self {
            Self::Create { r#as, .. } => (r#as, Noun::Manager),
            Self::Memalloc { r#as, .. }
            | Self::Memhostalloc { r#as, .. }
            | Self::Mempin { r#as, .. }
            | Self::View { r#as, .. } => (r#as, Noun::Memory),
            Self::HostMemory { r#as, .. } => (r#as, Noun::Memory),
            Self::HostObject { r#as, .. } => (r#as, Noun::HostObject),
            Self::HostBuffer { r#as, .. } => (r#as, Noun::Buffer),
            Self::GetMemoryInfo { r#as } => (r#as.as_ref()?, Noun::Info),
            Self::GetIpcHandle { r#as, .. } | Self::HostIpcHandle { r#as, .. } => {
                (r#as, Noun::Handle)
            }
            Self::ForeignHandle(foreign) => (&foreign.r#as, Noun::Handle),
            Self::DeferEnter { r#as } | Self::HostDeferEnter { r#as } => (r#as, Noun::Scope),
            Self::DeviceArray { r#as, .. }
            | Self::PinnedArray { r#as, .. }
            | Self::MappedArray { r#as, .. }
            | Self::ManagedArray { r#as, .. }
            | Self::ToDevice { r#as, .. }
            | Self::OpenHandle { r#as, .. }
            | Self::Slice { r#as, .. } => (r#as, Noun::Array),
            Self::Instantiate { r#as } => (r#as, Noun::Adapter),
            Self::Array(array) => (&array.r#as, Noun::Array),
            Self::Derive(derive) => (&derive.r#as, Noun::Array),
            Self::Stream { r#as, .. } => (r#as, Noun::Stream),
            Self::SubjectStream { r#as, .. } => (r#as, Noun::SubjectStream),
            Self::PlainObject { r#as, .. } => (r#as, Noun::Object),
            Self::Export { r#as, .. } | Self::Reexport { r#as, .. } => (r#as, Noun::Export),
            Self::Produce(produce) => (&produce.r#as, Noun::Produced),
            Self::Import(import) => (&import.r#as, Noun::Imported),
            _ => return None,
        };
        Some((name, noun))
    }

    /// The names that this operation uses, and what each may stand for; empty: anything but a
    /// manager or an adapter.
    #[must_use]
    pub fn uses(&self) -> Vec<(&str, &'static [Noun])> {
        let (name, nouns): (&str, &[Noun]) = match self {
            Self::Mempin { buffer, .. }
            | Self::Call(TableCall::Mempin { buffer: Some(buffer), .. }) => {
                (buffer, &[Noun::Buffer])
            }
            Self::GetIpcHandle { memory, .. } => (memory, &[Noun::Memory]),
            Self::Pickle { handle }
            | Self::PeerRead { handle, .. }
            | Self::OpenHandle { handle, .. }
            | Self::CloseHandle { handle }
            | Self::HandleBlock { handle, .. } => (handle, &[Noun::Handle]),
            Self::DeferExit { scope, .. } | Self::HostDeferExit { scope, .. } => {
                (scope, &[Noun::Scope])
            }
            Self::Drop { name } => (name, &[]),
            Self::Free { name } => (name, &[Noun::Memory]),
            Self::View { of, .. } => (of, &[Noun::Memory]),
            Self::Fill { memory, .. } | Self::Read { memory, .. } => {
                (memory, &[Noun::Memory, Noun::Buffer, Noun::Array])
            }
            Self::CopyToHost { array } | Self::HostIpcHandle { array, .. } => {
                (array, &[Noun::Array])
            }
            Self::Slice { of, .. } => (of, &[Noun::Array]),
            Self::Synchronize { stream } => (stream, &[Noun::Stream]),
            Self::Derive(derive) => (&derive.of, &[Noun::Array]),
            Self::HasInterface { of } => (of, &[Noun::Array, Noun::Object]),
            Self::Export { of, .. } => (of, &[Noun::Array]),
            Self::EditExport { export } | Self::Consume { export, .. } => (export, &[Noun::Export]),
            Self::Import(import) => (&import.of, &[Noun::Produced]),
            Self::Access(access) => (&access.on, &[Noun::Imported]),
            Self::Reexport { of, .. } => (of, &[Noun::Imported]),
            _ => return self.uses_more(),
        };
        vec![(name, nouns)]
    }

    /// Those of operations that may use several.
    fn uses_more(&self) -> Vec<(&str, &'static [Noun])> {
        let stream = |name| (name, [Noun::SubjectStream].as_slice());
        let own = |name| (name, [Noun::Stream].as_slice());
        let array = |name| (name, [Noun::Array].as_slice());
        let produced = |name| (name, [Noun::Produced].as_slice());
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
