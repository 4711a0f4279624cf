//! The operations on an allocator by place: calls of its table, allowed and not, and what a case
//! needs besides.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::operation_arguments::{AMOUNT, OCCUPIED, Place};
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::Gains;
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{BUFFER, MEMORY, STREAM};
use crate::interface::shared::{
    Attach, DETACH, Drop, Environment, Fault, Fill, HostBuffer, Read, is_zero, one,
};
use crate::nouns::{Name, Need};

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Makes calls of a driver function fail: `count` calls, from the `nth` call on.
    Fault(Fault),
    /// Ends all faults.
    ClearFaults {},
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Makes the primary context of a device current on the step's thread.
    Attach(Attach),
    /// Leaves the step's thread without a current context.
    Detach {},
    /// Makes a pageable buffer of the worker, in pages of its own.
    ///
    /// Facts: `host_pointer`, `size_bytes`.
    HostBuffer(HostBuffer),
    /// The worker takes memory of a device, as another library in the process does.
    ///
    /// Facts: `size_bytes`.
    Occupy { device: u32, size: u64, r#as: Name },
    /// Calls `free(place, pointer)` with the place at which the block was taken, and with its
    /// stream. Memory that the worker took goes back to the driver, and a stream of the worker is
    /// destroyed; a buffer stays until the case ends.
    ///
    /// Facts: `leaves_current`, as for `alloc`.
    Drop(Drop),
    /// Makes a stream of the worker on a device. It does not wait for the default stream.
    Stream { device: u32, r#as: Name },
    /// Queues on a stream that a byte is written to all of a block of a device. It may be written
    /// as late as at `synchronize`.
    QueueFill { memory: Name, byte: u8, stream: Name },
    /// Waits for all work that is queued on a stream.
    Synchronize { stream: Name },
    /// Writes a byte to a block: to memory of a device through the driver.
    Fill(Fill),
    /// Reads a block.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    Read(Read),
    /// Asks the driver in which context a block of a device lies.
    ///
    /// Facts: `context` (`primary`, `other`, or null for memory that belongs to no context, such as
    /// that of a pool).
    ContextOf {
        /// The block.
        memory: Name,
    },
    /// Reads the table, and calls none of its functions.
    ///
    /// Facts: `interface_version`, `size_bytes` (as the table says), `reserved`, `null_members`
    /// (names of functions that must be set and are null), `name`, `version` (null if there is no
    /// text or it is not UTF-8), `same_table` (whether the symbol returns the same table as at load
    /// time, with the same content).
    Describe {},
    /// Calls `alloc(place, size)`. NULL binds no name. Where the library has served no place of
    /// this kind yet and answers that it does not, the case is not applicable.
    ///
    /// Facts: `kind` (`block`, or `none` for NULL), `pointer` (0 for NULL), `host_pointer` (0 for
    /// memory of a device), `size_bytes` (as asked for), `device` (the device on which the driver
    /// says that it lies; null if the driver does not know it as memory of a device),
    /// `leaves_current` (whether the context is current that was before the call; null for a table,
    /// whose calls the judge checks), `stated_bytes` (the size that a returned buffer says it has;
    /// null where an address is returned).
    Alloc {
        /// `cpu`, `cuda`, `cuda:1`, `cuda_pinned`. A place of the kinds `unknown` (9) and
        /// `negative` (-1) does not exist.
        place: Place,
        size: u64,
        r#as: Name,
        /// The stream that the caller names; without it the default stream, 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream: Option<Name>,
    },
    /// Calls `free(place, NULL)`.
    FreeNull {
        /// As in `alloc`.
        place: Place,
    },
    /// Calls `free(place, address)`, which is not allowed. What the name stands for stays; it may
    /// have been freed before.
    FreeAddress {
        /// As in `alloc`.
        place: Place,
        /// The block or the buffer whose address it is.
        memory: Name,
        /// How many bytes behind its beginning.
        #[serde(default, skip_serializing_if = "is_zero")]
        offset: u64,
    },
    /// Calls `used(place)`.
    ///
    /// Facts: `bytes`; with `since` also `grown` (how many bytes more than there).
    Used {
        /// As in `alloc`.
        place: Place,
        /// An earlier `used` to compare it with.
        #[serde(default)]
        since: Option<Name>,
        #[serde(default)]
        r#as: Option<Name>,
    },
    /// Calls `release(place)`.
    ///
    /// Facts: `bytes`.
    Release {
        /// As in `alloc`.
        place: Place,
    },
    /// Calls `release` at every place at which a step took memory, if the library has that
    /// function. A library without it may keep what was freed.
    ///
    /// Facts: `has_release`, of a library with a table.
    ReleaseAll {},
    /// Calls `last_error()` on the step's thread.
    ///
    /// Facts: `text` (null if it is NULL or not UTF-8).
    LastError {},
    /// Takes and frees blocks of 1 to `size` bytes, `times` times, with `hold` blocks alive at a
    /// time, in random order. With `then` the blocks have `size` and `then` bytes in turn. Each
    /// block is filled with a byte of its own, and is compared before it goes.
    ///
    /// Facts: `failed`, `overlaps`, `misaligned` (not at a multiple of 32), `changed` (blocks that
    /// lost their byte), `grown_bytes` (by how much the resident memory of the process grew).
    Churn {
        /// As in `alloc`.
        place: Place,
        size: u64,
        times: u64,
        /// How many blocks are alive at a time.
        #[serde(default = "one")]
        hold: u64,
        /// The size of every second block. Without it the sizes are random.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<u64>,
    },
    /// The same on several threads at once, and each thread frees blocks of another one.
    ///
    /// Facts: those of `churn`, all threads together; without `overlaps` and `grown_bytes`.
    Stress {
        /// As in `alloc`.
        place: Place,
        threads: u32,
        size: u64,
        times: u64,
    },
    /// Stops a thread inside the functions that take and free a block, before the first, the second
    /// and each further instruction of the processor that may access memory of another thread, and
    /// before the first atomic ones behind these. A call of the driver counts as one instruction.
    /// At each stop another thread takes two blocks of `size` bytes; every second time it frees the
    /// first of them again. In further rounds, at memory of the host, it calls `release` before
    /// that. Then the first thread goes on, and the live blocks are compared. On x86-64 alone,
    /// without a debugger.
    ///
    /// Facts: `failed`, `overlaps` (live blocks in the same memory), `changed` (live blocks of the
    /// host that lost their byte), `miscounted` (rounds after which used() of a table is not what
    /// it was before), `stops` (how often the thread was stopped),
    /// `first_damage` (the calls of the first round after which something is wrong, and where the
    /// thread was stopped; only if something is).
    Interleave {
        /// As in `alloc`.
        place: Place,
        size: u64,
        /// The most instructions of any kind before a stop, except before an atomic one. The
        /// function often returns earlier.
        instructions: u64,
    },
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        match self {
            Self::Fault(fault) => fault.properties(),
            Self::ClearFaults {} => none().clears_driver_faults(),
            Self::Environment(_)
            | Self::Fill(_)
            | Self::Read(_)
            | Self::ContextOf { .. }
            | Self::Describe {}
            | Self::FreeNull { .. }
            | Self::FreeAddress { .. }
            | Self::ReleaseAll {}
            | Self::LastError {}
            | Self::Churn { .. } => none(),
            Self::Used { r#as: None, .. } => none().requires(Need::Used),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::HostBuffer(buffer) => buffer.properties(),
            Self::Occupy { r#as, .. } => none().binds(r#as, OCCUPIED),
            Self::Drop(drop) => drop.properties(),
            Self::Alloc { r#as, stream, .. } => {
                let requires = stream.as_ref().map(|_| Need::Streams);
                Properties { requires, ..none().binds(r#as, MEMORY).held(Gains).may_decline() }
            }
            Self::Stream { r#as, .. } => none().binds(r#as, STREAM),
            Self::QueueFill { .. } | Self::Synchronize { .. } => none(),
            Self::Used { r#as: Some(name), .. } => none().binds(name, AMOUNT).requires(Need::Used),
            Self::Release { .. } => none().requires(Need::Release),
            Self::Stress { .. } => none().is_threaded(),
            Self::Interleave { .. } => {
                none().is_threaded().requires(Need::StopsThreads).may_decline()
            }
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Fault(fault) => fault.arguments(),
            Self::Drop(drop) => drop.arguments(),
            Self::Fill(fill) => fill.arguments(),
            Self::Read(read) => read.arguments(),
            Self::ContextOf { memory } => Arguments::one(memory, &[MEMORY]),
            Self::FreeAddress { memory, .. } => {
                Arguments::all([NameUse::of(memory, &[MEMORY, BUFFER]).or_gone()])
            }
            Self::Alloc { stream: Some(stream), .. } | Self::Synchronize { stream } => {
                Arguments::one(stream, &[STREAM])
            }
            Self::QueueFill { memory, stream, .. } => {
                Arguments::all([NameUse::of(memory, &[MEMORY]), NameUse::of(stream, &[STREAM])])
            }
            Self::Used { since: Some(earlier), .. } => Arguments::one(earlier, &[AMOUNT]),
            Self::ClearFaults {}
            | Self::Environment(_)
            | Self::Attach(_)
            | Self::Detach {}
            | Self::HostBuffer(_)
            | Self::Occupy { .. }
            | Self::Describe {}
            | Self::Stream { .. }
            | Self::Alloc { stream: None, .. }
            | Self::FreeNull { .. }
            | Self::Used { since: None, .. }
            | Self::Release { .. }
            | Self::ReleaseAll {}
            | Self::LastError {}
            | Self::Churn { .. }
            | Self::Stress { .. }
            | Self::Interleave { .. } => Arguments::none(),
        }
    }
}
