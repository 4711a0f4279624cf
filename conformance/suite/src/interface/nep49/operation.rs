//! The operations on a handler: calls of its functions, as NumPy makes them and as it may.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::{Drops, Gains, Replaces};
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{ARRAY, MEMORY};
use crate::interface::shared::{Drop, Environment, Fill, Read, one};
use crate::nouns::{Name, Need};

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Calls `free(ptr, size)` with the size that the block has.
    Drop(Drop),
    /// Writes a byte to a block. The name of a block that cannot be written ends.
    Fill(Fill),
    /// Reads a block.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    Read(Read),
    /// Reads the structure, and calls nothing.
    ///
    /// Facts: `name` (all 127 bytes if it has no NUL, null if it is not UTF-8), `name_ends`
    /// (whether there is a NUL within 127 bytes), `version`, `null_functions` (names of functions
    /// that are null), `lost_fields` (fields that a host could use when the worker loaded the
    /// subject, and cannot use now: another version, functions that are null), `capsule_name` (in
    /// Python alone).
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
    /// Facts: `kind`, `pointer`, `size_bytes`.
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
    /// Takes a block of `size` bytes, a multiple of 64 KiB, by the function `by`, and writes
    /// nothing to it. calloc() is asked for elements of 64 KiB, realloc() to resize null. Declines
    /// where the handler has no such block, and where a block of 64 MiB shows that the system gives
    /// pages to all of it: the handler writes to it, or keeps it in memory.
    ///
    /// Facts: `kind`, `pointer`, `size_bytes`.
    SparseBlock { by: Function, size: u64, r#as: Name },
    /// Takes and frees blocks of 1 to `size` bytes, `times` times, with `hold` blocks alive at a
    /// time, in random order. Each block comes from one of the three functions, is filled with a
    /// byte of its own, and is compared before it goes.
    ///
    /// Facts: `failed`, `failed_calloc` and `failed_realloc` (requests that malloc(), calloc() and
    /// realloc() refused), `overlaps`, `misaligned` (not at a multiple of 16), `changed` (blocks
    /// that lost their byte), `dirty` (blocks of calloc that were not all zeros), `lost_realloc`
    /// (blocks that realloc() made twice as large without their bytes), `grown_bytes` (by how much
    /// the resident memory of the process grew).
    Churn {
        size: u64,
        times: u64,
        /// How many blocks are alive at a time.
        hold: u64,
    },
    /// The same on several threads at once, and each thread frees blocks of another one.
    ///
    /// Facts: those of `churn`, all threads together; without `overlaps` and `grown_bytes`.
    Stress { threads: u32, size: u64, times: u64 },
    /// Takes `blocks` blocks of `size` bytes and fills each. Frees one of them with the size
    /// `guess`: one that has others behind it in memory. Compares the others. If they have their
    /// bytes, takes a block of `guess` bytes and two of `size` bytes, fills and compares all, and
    /// frees them. After damage the operation ends at once, and leaves the other blocks.
    ///
    /// Facts: `failed`, `changed` (blocks that lost their byte or cannot be read), `overlaps` (new
    /// blocks that meet a live one).
    FreeGuessed {
        size: u64,
        /// The size that free() is given.
        guess: u64,
        /// How many blocks there are.
        blocks: u64,
    },
    /// Takes a block of `size` bytes, fills it and frees it, `times` times with its size and then
    /// `times` times with the size `guess`.
    ///
    /// Facts: `failed`, `grown_bytes` (by how much more the resident memory of the process grew in
    /// the rounds with `guess`), `kept_bytes` (by how much it grew in those with the right size),
    /// `growing_bytes` (by how much its peak grew at least from each quarter of those to the next).
    GuessedRounds {
        size: u64,
        /// The size that free() is given.
        guess: u64,
        times: u64,
    },
    /// Takes a block of `size` bytes, fills it, resizes it to `new_size` bytes and frees it,
    /// `times` times. The same before with malloc() and free() in place of realloc().
    ///
    /// Facts: `failed`, `failed_without` (in the rounds without realloc()), `growing_more_bytes`
    /// (by how much the peak of the resident memory of the process grew at least from each quarter
    /// of the rounds to the next, beyond the most that it did without realloc()).
    ResizedRounds {
        size: u64,
        /// The size that realloc() is given.
        new_size: u64,
        times: u64,
    },
    /// Takes a block of `size` bytes and frees it, `times` times. Then resizes it to `new_size`
    /// bytes in between, `times` times, and then frees it with the size `guess`, `times` times.
    /// Nothing is written to the blocks. If the handler itself writes to most of a block, there are
    /// 4 rounds of each kind. After rounds that failed there are no others.
    ///
    /// Facts: `failed_without` (rounds without realloc() in which a request failed), `failed`
    /// (those with realloc()), `failed_guessed` (those with `guess`).
    CountedRounds {
        size: u64,
        /// The size that realloc() is given.
        new_size: u64,
        /// The size that free() is given.
        guess: u64,
        times: u64,
    },
    /// Takes a block of `size` bytes from calloc(), fills it and frees it, `times` times. The same
    /// before with malloc().
    ///
    /// Facts: `failed`, `failed_without` (in the rounds with malloc()), `growing_more_bytes` (as in
    /// `resized_rounds`).
    ZeroedRounds { size: u64, times: u64 },
    /// Takes a block of `size` bytes by the function `by` and frees it, in rounds that no record
    /// has. The rounds are doubled as long as the peak of the resident memory of the process grows
    /// by a sixteenth of their blocks or more, until the blocks have 960 MiB together, or the peak
    /// grew by more than that and 64 bytes for each block. A worker in Python records its rounds,
    /// and declines sizes that need more than 5,000, and `hold`.
    ///
    /// Facts: `failed`, `leaked_bytes` (by how much the peak grew in the last rounds: while the
    /// blocks went from 640 to 960 MiB, or it grew by more; 0 where they were not doubled so far).
    LeakRounds {
        /// `realloc` grows a block of half the size, and cuts it to half again.
        by: Function,
        size: u64,
        /// How many blocks are alive at a time. Beyond that each new block frees another one, drawn
        /// at random, and every `2 * hold` rounds all blocks are freed.
        #[serde(default = "one")]
        hold: u64,
    },
    /// Takes and frees blocks of 16 sizes up to `size` bytes by malloc(), `times` times, with
    /// `hold` blocks alive at a time, in random order. Writes to none of them, and no record has
    /// them. Ends at the first request that is refused. A worker in Python declines it.
    ///
    /// Facts: `failed`, `opened` (by how much the number of open files of the process grew),
    /// `growing_bytes` (by how much what the process has mapped grew at least from each quarter of
    /// the rounds to the next).
    ManyRounds {
        size: u64,
        times: u64,
        /// How many blocks are alive at a time.
        hold: u64,
    },
    /// Takes a block of `size` bytes, fills it, and has another thread free it, `times` times.
    ///
    /// Facts: `failed`, `kept_bytes` (by how much the resident memory of the process grew),
    /// `growing_bytes` (by how much its peak grew at least from each quarter of the rounds to the
    /// next).
    HandedRounds { size: u64, times: u64 },
    /// Starts a thread that takes `blocks` blocks of `size` bytes, fills and frees them, and ends,
    /// `times` times, one after another. One thread does as much before.
    ///
    /// Facts: `failed`, `growing_more_bytes` (by how much the peak of the resident memory of the
    /// process grew at least from each quarter of the rounds to the next, beyond the most that it
    /// did in those of the one thread).
    ThreadRounds {
        /// How many blocks each thread takes.
        blocks: u64,
        size: u64,
        times: u64,
    },
    /// Stops a thread inside malloc() and free() before the first, the second and each further
    /// instruction of the processor that may access memory of another thread, and before the first
    /// atomic ones behind these. A call of the driver counts as one instruction. At each stop
    /// another thread takes two blocks of `size` bytes; every second time it frees the first of
    /// them again. Then the first thread goes on, and the live blocks are compared. The same once
    /// more with the free() of a block that the other thread took, after 100 instructions at most,
    /// and inside malloc() and realloc(), after 150 at most, while the other thread resizes a block
    /// of half the size. On x86-64 alone, without a debugger.
    ///
    /// Facts: `failed`, `overlaps` (live blocks in the same memory), `changed` (live blocks that
    /// lost their byte), `stops` (how often the thread was stopped),
    /// `first_damage` (the calls of the first round after which something is wrong, and where the
    /// thread was stopped; only if something is).
    Interleave {
        size: u64,
        /// The most instructions of any kind before a stop, except before an atomic one. The
        /// function often returns earlier.
        instructions: u64,
    },
    /// Makes the handler NumPy's current one, and asks NumPy for its name and version.
    ///
    /// Facts: `name`, `version`.
    NpName {},
    /// Makes an array of NumPy in memory of the handler. Later steps may use the array while
    /// another handler is the current one.
    ///
    /// Facts: `equal` (whether the elements are those of an array in memory of NumPy's own
    /// handler), `pointer`.
    NpMake {
        /// What makes it.
        make: Make,
        /// The type of its elements, as `numpy.dtype` takes it.
        dtype: String,
        /// Its dimensions.
        shape: Vec<u64>,
        r#as: Name,
    },
    /// Compares the elements of an array with those that it was made with.
    ///
    /// Facts: `equal`.
    NpCompare {
        /// The array.
        array: Name,
    },
    /// Resizes an array in memory of the handler.
    ///
    /// Facts: `equal` (whether the elements are as after the same under NumPy's own handler).
    NpResize {
        /// The type of its elements.
        dtype: String,
        /// How many elements it has.
        count: u64,
        /// How many it gets.
        new_count: u64,
    },
    /// Reads an array into memory of the handler, which NumPy grows meanwhile.
    ///
    /// Facts: `equal`, as for `np_resize`.
    NpRead {
        /// What it is read from.
        source: Source,
        /// The type of its elements.
        dtype: String,
        /// How many elements there are.
        count: u64,
    },
    /// Sorts an array in memory of the handler.
    ///
    /// Facts: `equal`, as for `np_resize`.
    NpSort {
        /// The type of its elements.
        dtype: String,
        /// How many elements there are.
        count: u64,
        /// Sorts every so manieth element: NumPy copies them into a block of the handler.
        step: u64,
        /// Sorts the indices (`argsort()`), and leaves the elements where they are.
        #[serde(default)]
        indices: bool,
    },
    /// Makes an array of a list whose last value is no number: NumPy raises, and frees the block
    /// while the exception is pending.
    ///
    /// Facts: `raised` (the type of the exception), `equal` (whether it is the one that NumPy
    /// raises under its own handler).
    NpRefuse {
        /// How many values come before.
        count: u64,
    },
    /// Enters the subject once more, if it is a context manager, makes an array, leaves the subject
    /// and forgets it. Then reads the handler of the array. The array is dropped only if the
    /// handler is as it was.
    ///
    /// Facts: `kept` (whether the structure of the handler has the same bytes as before), `equal`
    /// (whether the array has its elements).
    NpOutlive {},
    /// Makes, resizes and reads arrays on several threads at once, each with the handler as its
    /// current one.
    ///
    /// Facts: `changed` (arrays with other elements than under NumPy's own handler).
    NpThreads {
        threads: u32,
        /// How many elements an array has.
        count: u64,
        times: u64,
    },
}

/// A function that gives blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    Malloc,
    Calloc,
    Realloc,
}

/// What makes an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Make {
    /// `empty()`; then each element is set.
    Empty,
    Zeros,
    Ones,
    /// `array()` of a list.
    List,
    /// `concatenate()` of two arrays of that shape.
    Joined,
}

/// What an array is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `fromiter()`.
    Iterator,
    /// `fromstring()` of text, which resizes without the GIL.
    Text,
    /// `fromfile()` of a text file, which resizes without the GIL.
    TextFile,
    /// `fromfile()` of a file that holds fewer elements than it asks for.
    BinaryFile,
    /// `loadtxt()`.
    Table,
    /// A pickle of protocol 2.
    Pickle2,
    /// A pickle of protocol 5.
    Pickle5,
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
            | Self::Churn { .. }
            | Self::FreeGuessed { .. }
            | Self::GuessedRounds { .. }
            | Self::ResizedRounds { .. }
            | Self::CountedRounds { .. }
            | Self::ZeroedRounds { .. } => none(),
            Self::LeakRounds { .. } | Self::ManyRounds { .. } => none().may_decline(),
            Self::SparseBlock { r#as, .. } => none().binds(r#as, MEMORY).held(Gains).may_decline(),
            Self::Drop(drop) => drop.properties(),
            Self::Malloc { r#as, .. }
            | Self::Calloc { r#as, .. }
            | Self::ReallocNull { r#as, .. } => none().binds(r#as, MEMORY).held(Gains),
            Self::Realloc { block, r#as, .. } => {
                none().unbinds(block).binds(r#as, MEMORY).held(Replaces { name: block })
            }
            Self::FreeWithSize { block, .. } => none().unbinds(block).held(Drops { name: block }),
            Self::Stress { .. } | Self::HandedRounds { .. } | Self::ThreadRounds { .. } => {
                none().is_threaded()
            }
            Self::Interleave { .. } => {
                none().is_threaded().requires(Need::StopsThreads).may_decline()
            }
            Self::NpMake { r#as, .. } => none().binds(r#as, ARRAY).requires(Need::Numpy),
            Self::NpName {}
            | Self::NpCompare { .. }
            | Self::NpResize { .. }
            | Self::NpRead { .. }
            | Self::NpSort { .. }
            | Self::NpRefuse { .. } => none().requires(Need::Numpy),
            Self::NpOutlive {} => none().requires(Need::Numpy).may_decline(),
            Self::NpThreads { .. } => none().is_threaded().requires(Need::Numpy),
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
            Self::NpCompare { array } => Arguments::one(array, &[ARRAY]),
            Self::Environment(_)
            | Self::Describe {}
            | Self::Malloc { .. }
            | Self::Calloc { .. }
            | Self::ReallocNull { .. }
            | Self::FreeNull { .. }
            | Self::SparseBlock { .. }
            | Self::Churn { .. }
            | Self::Stress { .. }
            | Self::FreeGuessed { .. }
            | Self::GuessedRounds { .. }
            | Self::ResizedRounds { .. }
            | Self::CountedRounds { .. }
            | Self::LeakRounds { .. }
            | Self::ManyRounds { .. }
            | Self::ZeroedRounds { .. }
            | Self::HandedRounds { .. }
            | Self::ThreadRounds { .. }
            | Self::Interleave { .. }
            | Self::NpName {}
            | Self::NpMake { .. }
            | Self::NpResize { .. }
            | Self::NpRead { .. }
            | Self::NpSort { .. }
            | Self::NpRefuse { .. }
            | Self::NpOutlive {}
            | Self::NpThreads { .. } => Arguments::none(),
        }
    }
}
