//! The operations on a handler: calls of its functions, as NumPy makes them and as it may.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::{Drops, Gains, Replaces};
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::MEMORY;
use crate::interface::shared::{Drop, Environment, Fill, Read};
use crate::nouns::Name;

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Calls `free(ptr, size)` with the size that the block has.
    Drop(Drop),
    /// Writes a byte to a block.
    Fill(Fill),
    /// Reads a block.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    Read(Read),
    /// Reads the structure, and calls nothing.
    ///
    /// Facts: `name` (null if it has no NUL within 127 bytes or is not UTF-8), `name_ends` (whether
    /// there is a NUL within 127 bytes), `version`, `null_functions` (names of functions that are
    /// null).
    Describe {},
    /// Calls `malloc(size)`. Null binds no name.
    ///
    /// Facts: `kind` (`block`, or `none` for null), `pointer` (0 for null), `size_bytes` (as asked
    /// for).
    Malloc { size: u64, r#as: Name },
    /// Calls `calloc(nelem, elsize)`. Null binds no name.
    ///
    /// Facts: `kind`, `pointer`, `size_bytes` (the product, at most 2^64 - 1).
    Calloc {
        /// How many elements.
        nelem: u64,
        /// The bytes of an element.
        elsize: u64,
        r#as: Name,
    },
    /// Calls `realloc(block, size)`. The block's name ends, unless null came back.
    ///
    /// Facts: `kind`, `pointer`, `size_bytes`.
    Realloc {
        /// The block that `as` takes the place of.
        block: Name,
        size: u64,
        r#as: Name,
    },
    /// Calls `realloc(block, size)` with a size that no handler can serve. The block keeps its
    /// name.
    ///
    /// Facts: `kind`, `pointer`.
    ReallocTooMuch {
        /// The block that stays.
        block: Name,
        size: u64,
    },
    /// Calls `realloc(NULL, size)`.
    ///
    /// Facts: `kind`, `pointer`, `size_bytes`.
    ReallocNull { size: u64, r#as: Name },
    /// Calls `free(block, size)` with a size of the case's choice: NumPy may guess it wrong.
    FreeWithSize {
        /// The block to free.
        block: Name,
        size: u64,
    },
    /// Calls `free(NULL, size)`.
    FreeNull { size: u64 },
    /// Takes and frees blocks of 1 to `size` bytes, `times` times, with `hold` blocks alive at a
    /// time, in random order. Each block comes from one of the three functions, is filled with a
    /// byte of its own, and is compared before it goes.
    ///
    /// Facts: `failed`, `overlaps`, `misaligned` (not at a multiple of 16), `changed` (blocks that
    /// lost their byte), `dirty` (blocks of calloc that were not all zeros).
    Churn {
        size: u64,
        times: u64,
        /// How many blocks are alive at a time.
        hold: u64,
    },
    /// The same on several threads at once, and each thread frees blocks of another one.
    ///
    /// Facts: those of `churn`, all threads together; without `overlaps`.
    Stress { threads: u32, size: u64, times: u64 },
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        match self {
            Self::Environment(_)
            | Self::Fill(_)
            | Self::Read(_)
            | Self::Describe {}
            | Self::ReallocTooMuch { .. }
            | Self::FreeNull { .. }
            | Self::Churn { .. } => none(),
            Self::Drop(drop) => drop.properties(),
            Self::Malloc { r#as, .. }
            | Self::Calloc { r#as, .. }
            | Self::ReallocNull { r#as, .. } => none().binds(r#as, MEMORY).held(Gains),
            Self::Realloc { block, r#as, .. } => {
                none().unbinds(block).binds(r#as, MEMORY).held(Replaces { name: block })
            }
            Self::FreeWithSize { block, .. } => none().unbinds(block).held(Drops { name: block }),
            Self::Stress { .. } => none().is_threaded(),
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Drop(drop) => drop.arguments(),
            Self::Fill(fill) => fill.arguments(),
            Self::Read(read) => read.arguments(),
            Self::Realloc { block, .. }
            | Self::ReallocTooMuch { block, .. }
            | Self::FreeWithSize { block, .. } => Arguments::one(block, &[MEMORY]),
            Self::Environment(_)
            | Self::Describe {}
            | Self::Malloc { .. }
            | Self::Calloc { .. }
            | Self::ReallocNull { .. }
            | Self::FreeNull { .. }
            | Self::Churn { .. }
            | Self::Stress { .. } => Arguments::none(),
        }
    }
}
