pub use allocert_cuda::{HostAllocFlags as HostFlags, MemoryInfo};

/// Names one allocation of one manager. Never 0, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// NBEP 7, "Representing pointers": `MemoryPointer`, `PinnedMemory`, `MappedMemory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    Device,
    Pinned,
    Mapped,
}

/// One allocation or pinned region, live until its token is released or the manager reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub kind: MemoryKind,
    /// Device address; 0 for pinned memory that is not mapped.
    pub device_pointer: u64,
    /// Host address; 0 for device memory.
    pub host_pointer: usize,
    /// Exactly the size that was asked for.
    pub size_bytes: u64,
    pub token: Token,
}

/// What another process needs to open device memory (Numba EMM documentation, "IPC").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpcHandle {
    pub handle: [u8; allocert_cuda::IPC_HANDLE_BYTES],
    /// Size of the whole allocation, as in [`Memory`].
    pub size_bytes: u64,
    /// From the base that opening yields to the byte asked for.
    pub offset_bytes: u64,
    /// The device to open it on.
    pub device_uuid: [u8; 16],
}
