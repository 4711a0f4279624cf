//! Host memory that the driver knows of: page-locked, registered and managed.

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
};

/// The process's own memory, reached on the driver's behalf.
pub trait HostSpace: Send {
    /// Zeroed, page-aligned memory; `None` if there is none.
    fn allocate(&mut self, bytes: u64) -> Option<u64>;
    /// Takes back what `allocate` gave.
    fn release(&mut self, address: u64, bytes: u64);
    /// Fills `into` from host memory; the caller of the CUDA function vouches for the range.
    fn read(&self, address: u64, into: &mut [u8]);
    /// Writes host memory; the caller of the CUDA function vouches for the range.
    fn write(&mut self, address: u64, from: &[u8]);
    /// Whether the program has memory at all of these addresses.
    fn is_mapped(&self, address: u64, bytes: u64) -> bool;
    /// Whether the program may write all of it. Asked of memory that it has.
    fn is_writable(&self, address: u64, bytes: u64) -> bool;
    /// Calls back into the program: a `CUhostFn`, or a `CUstreamCallback` if `stream` is given.
    fn call(&mut self, function: u64, stream: Option<u64>, data: u64);
}

/// A range of host memory with a meaning to the driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostBlock {
    pub(crate) size: u64,
    pub(crate) context: u64,
    pub(crate) buffer_id: u64,
    pub(crate) kind: HostKind,
    /// As `cuMemHostGetFlags` answers.
    pub(crate) flags: u32,
    /// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`; managed memory begins with it.
    pub(crate) synchronous: bool,
}

impl HostBlock {
    /// Registered so that a device only reads it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.kind == HostKind::Registered && self.flags & READ_ONLY != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// `cuMemHostAlloc`, `cuMemAllocHost`.
    Allocated,
    /// `cuMemHostRegister`.
    Registered,
    /// `cuMemAllocManaged`.
    Managed,
}

const ALLOC_FLAGS: u32 = 0b111;
const REGISTER_FLAGS: u32 = 0b1111;
const PORTABLE: u32 = 1;
const DEVICEMAP: u32 = 2;
/// `CU_MEMHOSTREGISTER_IOMEMORY`
const IOMEMORY: u32 = 4;
const PAGE_BYTES: u64 = 4096;
/// `CU_MEMHOSTREGISTER_READ_ONLY`
const READ_ONLY: u32 = 8;

impl Driver {
    /// `cuMemHostAlloc`, `cuMemAllocHost`: the address of page-locked memory; 0 for no bytes, which
    /// is no error.
    pub fn host_alloc(&mut self, caller: &Caller, bytes: u64, flags: u32) -> Result<u64> {
        let context = self.current(caller)?;
        if flags & !ALLOC_FLAGS != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if bytes == 0 {
            return Ok(0);
        }
        // Under unified addressing every page-locked allocation is mapped.
        self.insert_host(bytes, context, HostKind::Allocated, flags | DEVICEMAP)
    }

    /// `cuMemAllocManaged`: memory that host and device share.
    pub fn alloc_managed(&mut self, caller: &Caller, bytes: u64, flags: u32) -> Result<u64> {
        // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST; asked even before `cuInit`.
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(CudaError::INVALID_VALUE);
        }
        let context = self.current(caller)?;
        self.insert_host(bytes, context, HostKind::Managed, flags)
    }

    fn insert_host(&mut self, size: u64, context: u64, kind: HostKind, flags: u32) -> Result<u64> {
        if size > self.settings.memory_bytes.saturating_mul(4) {
            return Err(CudaError::OUT_OF_MEMORY);
        }
        let address = self.host.allocate(size).ok_or(CudaError::OUT_OF_MEMORY)?;
        let buffer_id = self.next_buffer_id();
        let synchronous = kind == HostKind::Managed;
        let block = HostBlock { size, context, buffer_id, kind, flags, synchronous };
        self.host_blocks.insert(address, block);
        Ok(address)
    }

    /// `cuMemFreeHost`. Waits for all work of the context that owns the memory first, whichever is
    /// current; an address of 0 is no error.
    pub fn host_free(&mut self, caller: &Caller, address: u64) -> Result {
        self.ready(caller)?;
        if address == 0 {
            return Ok(());
        }
        let block =
            self.host_blocks.get(&address).filter(|block| block.kind == HostKind::Allocated);
        let context = block.ok_or(CudaError::INVALID_VALUE)?.context;
        let drained = self.settle_context(context);
        if drained == Err(CudaError::HOST_FUNCTION_FIRST) {
            return drained;
        }
        self.remove_host(address);
        drained
    }

    pub(crate) fn remove_host(&mut self, address: u64) {
        if let Some(block) = self.host_blocks.remove(&address)
            && block.kind != HostKind::Registered
        {
            self.host.release(address, block.size);
        }
    }

    /// `cuMemHostRegister`.
    pub fn host_register(
        &mut self,
        caller: &Caller,
        address: u64,
        bytes: u64,
        flags: u32,
    ) -> Result {
        let context = self.current(caller)?;
        if address == 0
            || bytes == 0
            || flags & !REGISTER_FLAGS != 0
            || address.checked_add(bytes).is_none()
        {
            return Err(CudaError::INVALID_VALUE);
        }
        self.may_register(address, bytes, flags)?;
        let buffer_id = self.next_buffer_id();
        let block = HostBlock {
            size: bytes,
            context,
            buffer_id,
            kind: HostKind::Registered,
            flags: flags & (PORTABLE | READ_ONLY) | DEVICEMAP,
            synchronous: false,
        };
        self.host_blocks.insert(address, block);
        Ok(())
    }

    /// Whether a range may be registered beside the memory that is known. As measured on an H200.
    fn may_register(&self, address: u64, bytes: u64, flags: u32) -> Result {
        let end = address + bytes;
        let known = |kind| match kind {
            HostKind::Registered => Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED),
            HostKind::Allocated | HostKind::Managed => Err(CudaError::INVALID_VALUE),
        };
        if let Some((_, block)) = self.find_host(address) {
            return known(block.kind);
        }
        let covers_one = self.registrations(address, end).any(|(at, block)| at + block.size <= end);
        let shares_page = || self.shares_page(address, end, flags & READ_ONLY != 0);
        if self.device_of(address).is_some() || !covers_one && shares_page() {
            return Err(CudaError::INVALID_VALUE);
        }
        let begins_in_one = || {
            let page = address - address % PAGE_BYTES;
            self.registrations(page, page.saturating_add(PAGE_BYTES)).next().is_some()
        };
        match self.meeting(address, end).last() {
            Some(_) if flags & IOMEMORY != 0 && !covers_one && !begins_in_one() => {
                Err(CudaError::INVALID_VALUE)
            }
            Some((_, block)) => known(block.kind),
            // Memory of a device counts as none that is mapped; all other memory has to be.
            None if (flags & IOMEMORY == 0) != self.host.is_mapped(address, bytes) => {
                Err(CudaError::INVALID_VALUE)
            }
            None if flags & (READ_ONLY | IOMEMORY) == 0
                && !self.host.is_writable(address, bytes) =>
            {
                Err(CudaError::INVALID_VALUE)
            }
            None => Ok(()),
        }
    }

    /// Whether a range begins or ends in a page in which a registration with another access ends.
    /// As measured: a range that ends one byte into a page counts as one that ends in the page
    /// before. A registration does not count if it ends with the first page, or one byte into the
    /// last one. Of several that end in the page, only the first counts.
    fn shares_page(&self, start: u64, end: u64, read_only: bool) -> bool {
        let first_page = start - start % PAGE_BYTES;
        let last_page = (end - 2) / PAGE_BYTES * PAGE_BYTES;
        [(first_page, 1..PAGE_BYTES), (last_page, 2..PAGE_BYTES + 1)].into_iter().any(
            |(page, ends)| {
                self.registrations(page, page.saturating_add(PAGE_BYTES))
                    .find(|(at, block)| ends.contains(&(at + block.size - page)))
                    .is_some_and(|(_, block)| block.is_read_only() != read_only)
            },
        )
    }

    /// The registered memory that a range overlaps, by address.
    fn registrations(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &HostBlock)> {
        self.meeting(start, end).filter(|(_, block)| block.kind == HostKind::Registered)
    }

    /// The known host memory that a range overlaps, by address.
    fn meeting(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &HostBlock)> {
        let first = self.find_host(start).map_or(start, |(first, _)| first);
        self.host_blocks.range(first..end.max(first)).map(|(at, block)| (*at, block))
    }

    /// `cuMemHostUnregister`. Waits for all work of the context that registered the memory first.
    pub fn host_unregister(&mut self, caller: &Caller, address: u64) -> Result {
        self.ready(caller)?;
        let block =
            self.host_blocks.get(&address).filter(|block| block.kind == HostKind::Registered);
        let Some(block) = block else {
            let known = address == 0 || self.allocation(address).is_some();
            return Err(if known {
                CudaError::INVALID_VALUE
            } else {
                CudaError::HOST_MEMORY_NOT_REGISTERED
            });
        };
        let context = block.context;
        let drained = self.settle_context(context);
        if drained == Err(CudaError::HOST_FUNCTION_FIRST) {
            return drained;
        }
        self.remove_host(address);
        drained
    }

    /// `cuMemHostGetDevicePointer`: the same address, under unified addressing.
    pub fn host_device_pointer(&self, caller: &Caller, address: u64, flags: u32) -> Result<u64> {
        self.current(caller)?;
        match self.find_host(address) {
            Some((_, block)) if flags == 0 && block.kind != HostKind::Managed => Ok(address),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// `cuMemHostGetFlags`.
    pub fn host_flags(&self, caller: &Caller, address: u64) -> Result<u32> {
        self.current(caller)?;
        match self.find_host(address) {
            Some((_, block)) if block.kind == HostKind::Managed => Ok(DEVICEMAP),
            Some((_, block)) => Ok(block.flags & !READ_ONLY),
            None => Err(CudaError::INVALID_VALUE),
        }
    }

    /// The start and the block of known host memory around `address`.
    pub(crate) fn find_host(&self, address: u64) -> Option<(u64, &HostBlock)> {
        let (start, block) = self.host_blocks.range(..=address).next_back()?;
        (address - start < block.size).then_some((*start, block))
    }
}
