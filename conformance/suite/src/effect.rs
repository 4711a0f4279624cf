//! What a boundary call does, one file or folder a boundary.
//!
//! The judge's ledger knows a boundary by what this file says of its calls: [`Effect`],
//! [`FreeAnswer`] and [`Owners`]. A new boundary is one file beside the others and a line in each
//! `match` here.

pub(crate) mod cuda;
mod handler;
mod place;

use allocert_contract::trace::{Boundary, Call, Event, Function, What};

/// What a call does to memory, if the boundary does not refuse it. An address of 0 is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Take {
        start: u64,
        size_bytes: u64,
        source: MemorySource,
    },
    Give {
        start: u64,
        source: MemorySource,
    },
    /// Gives `from` back and takes `to`, which may be the same address. Where `to` is 0, memory is
    /// short and `from` stays.
    Resize {
        from: u64,
        to: u64,
        size_bytes: u64,
        source: MemorySource,
    },
    Touch {
        write: Span,
        read: Span,
    },
    Nothing,
}

/// Where the memory at an address comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemorySource {
    Device,
    /// Page-locked memory of the driver.
    PageLocked,
    /// The caller's own memory, page-locked.
    Registered,
    /// Pageable memory of the process.
    Heap,
}

impl MemorySource {
    /// Whether its boundary alone gives out these addresses. Others can be in use again after a
    /// free without a call that shows it.
    pub(crate) fn is_exclusive(self) -> bool {
        self == Self::Device
    }
}

/// What a call reads or writes: rows of equal length in equal slices, mostly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    /// Of a row.
    pub(crate) size_bytes: u64,
    pub(crate) space: AddressSpace,
    /// How many rows a slice has, and the bytes from one to the next.
    rows: (u64, u64),
    /// How many slices there are, and the bytes from one to the next.
    slices: (u64, u64),
}

/// A trace may name any number of rows; so many are told apart.
const ROW_LIMIT: u64 = 1 << 14;

impl Span {
    /// One row.
    pub(crate) const fn new(start: u64, size_bytes: u64, space: AddressSpace) -> Self {
        Self { start, size_bytes, space, rows: (1, size_bytes), slices: (1, size_bytes) }
    }

    /// So many rows.
    pub(crate) const fn rows(self, count: u64, pitch: u64) -> Self {
        Self { rows: (count, pitch), ..self }
    }

    /// So many slices.
    pub(crate) const fn slices(self, count: u64, pitch: u64) -> Self {
        Self { slices: (count, pitch), ..self }
    }

    /// The bytes of all rows together.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(self.rows.0).saturating_mul(self.slices.0)
    }

    /// The half-open ranges of the rows. Rows without gaps between them are one range, and so are
    /// more rows than [`ROW_LIMIT`].
    pub(crate) fn ranges(self) -> impl Iterator<Item = (u64, u64)> {
        let ((rows, pitch), (slices, slice_pitch)) = (self.rows, self.slices);
        let slice_bytes =
            pitch.saturating_mul(rows.saturating_sub(1)).saturating_add(self.size_bytes);
        let rows_are_dense = pitch <= self.size_bytes;
        let (rows, slices, row_bytes) = if slices <= 1 && rows_are_dense {
            (1, slices.min(rows), self.total_bytes())
        } else if rows.saturating_mul(slices) > ROW_LIMIT {
            (1, 1, slice_pitch.saturating_mul(slices.saturating_sub(1)).saturating_add(slice_bytes))
        } else if rows_are_dense {
            (1, slices, slice_bytes)
        } else {
            (rows, slices, self.size_bytes)
        };
        let start = move |slice: u64, row: u64| {
            self.start
                .saturating_add(slice.saturating_mul(slice_pitch))
                .saturating_add(row.saturating_mul(pitch))
        };
        (0..slices).flat_map(move |slice| {
            (0..rows).map(move |row| {
                let start = start(slice, row);
                (start, start.saturating_add(row_bytes))
            })
        })
    }
}

/// What the type of a parameter says about its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSpace {
    Device,
    Host,
    /// Either of the two.
    Unified,
}

/// What a boundary answers when memory is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FreeAnswer {
    /// It takes the memory back.
    Accepted,
    /// It does not know the address.
    UnknownAddress,
    /// It shuts down, and says nothing about the memory.
    ShutDown,
    /// It fails for another reason.
    Failed,
    /// Its function has no result. Only earlier calls tell whether the address was right.
    NoAnswer,
}

impl Effect {
    pub(crate) fn of(call: &Call) -> Self {
        match call.function {
            Function::Cuda(function) => cuda::memory_effect(function, call),
            Function::Handler(function) => handler::memory_effect(function, call),
            Function::Place(function) => place::memory_effect(function, call),
            // The memory that a plugin gives is the driver's, whose calls are in the trace too.
            Function::Plugin(_) => Self::Nothing,
        }
    }
}

impl FreeAnswer {
    /// Reads the result of a call that gives memory back.
    pub(crate) fn of(call: &Call) -> Self {
        match call.function.boundary() {
            Boundary::Cuda => cuda::free_answer(call),
            Boundary::Handler => handler::free_answer(),
            Boundary::Place => place::free_answer(call),
            Boundary::Plugin => Self::NoAnswer,
        }
    }
}

/// Who gives memory at a boundary, as messages name it.
pub(crate) fn provider(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Cuda => "the driver",
        Boundary::Plugin => "the plugin",
        Boundary::Handler => "the handler",
        Boundary::Place => "the place",
    }
}

/// The half-open range of memory that work reached after it was freed, and whose memory it is.
pub(crate) fn reached_after_free(what: &What) -> Option<(Boundary, (u64, u64))> {
    Some((Boundary::Cuda, cuda::reached_after_free(what)?))
}

/// The name of a function that took effect on memory which no effect describes.
pub(crate) fn unseen_memory(what: &What) -> Option<&'static str> {
    match what {
        What::PassedOn { function, .. } if cuda::manages_unseen_memory(*function) => {
            Some(function.name())
        }
        _ => None,
    }
}

/// What memory belongs to, and ends with without being given back: contexts.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    contexts: cuda::PrimaryContexts,
}

impl Owners {
    /// The owner of the memory that a call takes. Memory of a pool has none: as measured, it
    /// outlives the context in whose stream it was asked for.
    pub(crate) fn owner(event: &Event, call: &Call) -> Option<u64> {
        match call.function {
            Function::Cuda(function) if cuda::memory_class(function) != cuda::MemoryClass::Pool => {
                Some(event.context)
            }
            _ => None,
        }
    }

    /// The owner that ends with a call, if one does.
    pub(crate) fn ended_by(&mut self, call: &Call) -> Option<u64> {
        self.contexts.ended_by(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_slices_are_ranges_of_their_own_where_gaps_lie_between_them() {
        let row = Span::new(1000, 10, AddressSpace::Device);
        let ranges = |span: Span| span.ranges().collect::<Vec<_>>();
        assert_eq!(ranges(row), [(1000, 1010)]);
        assert_eq!(ranges(row.rows(3, 10)), [(1000, 1030)]);
        assert_eq!(ranges(row.rows(2, 100)), [(1000, 1010), (1100, 1110)]);
        assert_eq!(ranges(row.rows(0, 100)), []);
        assert_eq!(
            ranges(row.rows(2, 100).slices(2, 1000)),
            [(1000, 1010), (1100, 1110), (2000, 2010), (2100, 2110)]
        );
        assert_eq!(ranges(row.rows(2, 10).slices(2, 50)), [(1000, 1020), (1050, 1070)]);
        assert_eq!(ranges(row.rows(ROW_LIMIT, 100).slices(2, 1 << 30)).len(), 1);
        assert_eq!(row.rows(2, 100).slices(3, 1000).total_bytes(), 60);
    }
}
