//! When the host waits for what it queues: copies and fills, by function, memory and size.

/// Where memory lies, as far as waits depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryClass {
    Device,
    /// Device memory with `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`.
    SyncMemops,
    /// Of `cuMemAllocAsync` and `cuMemAllocFromPoolAsync`.
    Pool,
    Managed,
    /// Managed memory without `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`, which it begins with.
    ManagedNoSyncMemops,
    Pinned,
    Registered,
    Pageable,
}

/// What is queued in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Copy {
        form: CopyForm,
        synchronous: bool,
    },
    Fill {
        synchronous: bool,
    },
    /// Memory of a pool. The stream does something only if the memory is in use by other work.
    Allocation,
    /// The host goes on at once.
    Other,
}

/// What the function's parameters say of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyForm {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The addresses tell: `cuMemcpy`.
    Unified,
    /// `cuMemcpy2D`.
    Rows,
    Peer,
}

/// What is over when a call returns that queued something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostWait {
    /// The call moves no byte and leaves no trace in its stream.
    NothingQueued,
    Never,
    /// What was queued before in the stream, and what that comes after. The copy may go on.
    EarlierWork,
    /// What `cuStreamSynchronize` waits for, before the copy is queued. The copy is over as well if
    /// `arrives`, and if it has to wait for nothing else.
    StreamBefore {
        arrives: bool,
    },
    /// The copy or fill itself.
    Completion,
}

/// A synchronous copy of so many bytes from pageable memory may go on when the call has returned:
/// "the DMA to final destination may not have completed" (CUDA Driver API, "API synchronization
/// behavior"). On an H200 no copy of 1 MiB had arrived, some of 64 KiB had not, and all smaller
/// ones had. The text promises that of no size. But libraries fill their arrays with such copies,
/// the GPU keeps them in order, and so do the rules.
const ARRIVES_LATER_BYTES: u64 = 64 << 10;
/// An asynchronous copy of more bytes from pageable memory waits for earlier work: they do not fit
/// into the staging buffer.
const STAGED_BYTES: u64 = 2 << 20;
/// The least size at which the `_ptds` forms were seen to wait for the same reason.
const PER_THREAD_EXCEEDS_STAGING_BYTES: u64 = 4 << 20;

impl Work {
    /// When the host goes on. `per_thread`: the default stream of the call is that of its thread.
    pub(crate) fn host_wait(
        self,
        per_thread: bool,
        write: MemoryClass,
        read: MemoryClass,
        size_bytes: u64,
    ) -> HostWait {
        match self {
            Self::Other | Self::Allocation => HostWait::Never,
            _ if size_bytes == 0 => HostWait::NothingQueued,
            _ if [write, read].contains(&MemoryClass::ManagedNoSyncMemops) => {
                self.wait_without_sync_memops(per_thread, write, read, size_bytes)
            }
            Self::Fill { synchronous: true } if !per_thread && write.makes_fills_wait() => {
                HostWait::Completion
            }
            Self::Fill { .. } => HostWait::Never,
            Self::Copy { form, synchronous: true } if per_thread => {
                form.per_thread_wait(write, read, size_bytes)
            }
            Self::Copy { form, synchronous: true } => {
                form.synchronous_wait(write, read, size_bytes)
            }
            Self::Copy { form, synchronous: false } => {
                form.asynchronous_wait(write, read, size_bytes)
            }
        }
    }
}

impl Work {
    /// Of managed memory without SYNC_MEMOPS. Only copies between it and the host wait, and those
    /// whose function takes managed memory for the host's.
    fn wait_without_sync_memops(
        self,
        per_thread: bool,
        write: MemoryClass,
        read: MemoryClass,
        size_bytes: u64,
    ) -> HostWait {
        let Self::Copy { form, synchronous } = self else { return HostWait::Never };
        let of_host = |class| matches!(class, MemoryClass::Pinned | MemoryClass::Pageable);
        let managed = MemoryClass::ManagedNoSyncMemops;
        let or_device = |class| class == managed || class == MemoryClass::Device;
        let waits = match form {
            _ if per_thread => false,
            CopyForm::Unified | CopyForm::Rows if synchronous => of_host(read) || of_host(write),
            CopyForm::Unified | CopyForm::Rows => write == MemoryClass::Pageable,
            CopyForm::HostToDevice => {
                synchronous && (of_host(read) || read == managed && or_device(write))
            }
            CopyForm::DeviceToHost => {
                synchronous && (of_host(write) || write == managed && or_device(read))
            }
            CopyForm::DeviceToDevice | CopyForm::Peer => false,
        };
        if !waits {
            HostWait::Never
        } else if synchronous && arrives_later(write, read, size_bytes) {
            HostWait::EarlierWork
        } else {
            HostWait::Completion
        }
    }
}

impl CopyForm {
    /// Whether the function is documented for memory of these two classes, and was measured.
    fn takes(self, write: MemoryClass, read: MemoryClass) -> bool {
        match self {
            Self::HostToDevice => {
                let swapped = (write, read) == (MemoryClass::Managed, MemoryClass::Device);
                let from_host = read.is_of_host() || read == MemoryClass::Managed;
                let locked = matches!(write, MemoryClass::Pinned | MemoryClass::Registered);
                !write.is_of_host() && from_host
                    || locked && read == MemoryClass::Pageable
                    || swapped
            }
            Self::DeviceToHost => {
                let swapped = (write, read) == (MemoryClass::Device, MemoryClass::Managed);
                let to_host = write.is_of_host() || write == MemoryClass::Managed;
                !read.is_of_host() && to_host || swapped
            }
            Self::DeviceToDevice => {
                let both = [write, read];
                let mixed =
                    both.contains(&MemoryClass::Managed) && both.iter().any(|one| one.is_of_host());
                !mixed && !both.contains(&MemoryClass::Pageable)
            }
            Self::Unified | Self::Rows | Self::Peer => true,
        }
    }

    /// Waits for the copy, except from device memory to device memory.
    fn synchronous_wait(self, write: MemoryClass, read: MemoryClass, size_bytes: u64) -> HostWait {
        let on_device = match self {
            Self::Peer => true,
            // Not measured with SYNC_MEMOPS.
            Self::Rows => write.is_device() && read.is_device(),
            _ => write.is_only_on_device() && read.is_only_on_device(),
        };
        if on_device || !self.takes(write, read) {
            HostWait::Never
        } else if arrives_later(write, read, size_bytes) {
            HostWait::EarlierWork
        } else {
            HostWait::Completion
        }
    }

    /// The `_ptds` forms that were measured: from pageable memory to the device's own they do not
    /// wait for the legacy stream, which their own stream comes after, unless the staging buffer is
    /// too small.
    fn per_thread_wait(self, write: MemoryClass, read: MemoryClass, size_bytes: u64) -> HostWait {
        let pageable_or = |class| read == MemoryClass::Pageable || write == class;
        let measured = match self {
            Self::HostToDevice => pageable_or(MemoryClass::Device) && self.takes(write, read),
            Self::DeviceToHost => read == MemoryClass::Device && self.takes(write, read),
            Self::Unified => {
                pageable_or(MemoryClass::Device)
                    && write != MemoryClass::Pageable
                    && (read.is_of_host() || read == MemoryClass::Managed)
            }
            Self::Rows => read == MemoryClass::Pageable && write != MemoryClass::Pageable,
            Self::DeviceToDevice | Self::Peer => false,
        };
        match read {
            _ if !measured => HostWait::Never,
            MemoryClass::Pageable if !write.is_only_on_device() => HostWait::Completion,
            MemoryClass::Pageable if size_bytes >= PER_THREAD_EXCEEDS_STAGING_BYTES => {
                HostWait::EarlierWork
            }
            MemoryClass::Pageable => {
                HostWait::StreamBefore { arrives: !arrives_later(write, read, size_bytes) }
            }
            _ => HostWait::Completion,
        }
    }

    /// Waits where pageable memory is written, between two places of the host, before a copy that
    /// does not fit into the staging buffer, and before `cuMemcpyHtoDAsync` of managed memory.
    fn asynchronous_wait(self, write: MemoryClass, read: MemoryClass, size_bytes: u64) -> HostWait {
        let completes = match self {
            Self::HostToDevice | Self::Peer => false,
            Self::DeviceToHost => matches!(write, MemoryClass::Managed | MemoryClass::Pageable),
            Self::DeviceToDevice => write.is_of_host() && read.is_of_host(),
            Self::Unified | Self::Rows => {
                write == MemoryClass::Pageable || (write.is_of_host() && read.is_of_host())
            }
        };
        let exceeds_staging = size_bytes > STAGED_BYTES
            && matches!(self, Self::HostToDevice | Self::Unified | Self::Rows)
            && read == MemoryClass::Pageable
            && write != MemoryClass::Pageable;
        let from_managed = self == Self::HostToDevice && read == MemoryClass::Managed;
        if completes && self.takes(write, read) {
            HostWait::Completion
        } else if exceeds_staging {
            HostWait::EarlierWork
        } else if from_managed && self.takes(write, read) {
            HostWait::StreamBefore { arrives: false }
        } else {
            HostWait::Never
        }
    }
}

impl MemoryClass {
    /// The class once `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` is set to this value.
    pub(crate) fn with_sync_memops(self, on: bool) -> Self {
        match (self, on) {
            (Self::Device, true) => Self::SyncMemops,
            (Self::SyncMemops, false) => Self::Device,
            (Self::ManagedNoSyncMemops, true) => Self::Managed,
            (Self::Managed, false) => Self::ManagedNoSyncMemops,
            _ => self,
        }
    }

    /// Whether copies of it in a legacy stream are work of the context that owns it too.
    pub(crate) fn has_context(self) -> bool {
        matches!(self, Self::Device | Self::Managed)
    }

    fn is_device(self) -> bool {
        matches!(self, Self::Device | Self::SyncMemops | Self::Pool)
    }

    /// Device memory, and nothing makes its copies and fills synchronous.
    fn is_only_on_device(self) -> bool {
        matches!(self, Self::Device | Self::Pool)
    }

    /// The host can see it, or has asked to wait.
    fn makes_fills_wait(self) -> bool {
        !self.is_only_on_device() && self != Self::Pageable
    }

    fn is_of_host(self) -> bool {
        matches!(self, Self::Pinned | Self::Registered | Self::Pageable)
    }
}

fn arrives_later(write: MemoryClass, read: MemoryClass, size_bytes: u64) -> bool {
    let of_device = write.is_only_on_device() || write == MemoryClass::ManagedNoSyncMemops;
    read == MemoryClass::Pageable && of_device && size_bytes >= ARRIVES_LATER_BYTES
}
