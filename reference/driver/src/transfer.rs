//! Queued copies and fills, and how they move bytes when they run.

use crate::{Driver, allocation_data::Pattern};

/// One side of a copy or fill. Each row begins `pitch` bytes after the one before, and each slice
/// `slice_pitch` bytes after the one before.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub address: u64,
    pub pitch: u64,
    pub slice_pitch: u64,
}

/// How much a copy moves: `slices` of `rows` of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub width: u64,
    pub rows: u64,
    pub slices: u64,
}

impl Extent {
    /// A single row.
    pub const fn row(width: u64) -> Self {
        Self { width, rows: 1, slices: 1 }
    }

    /// Whether it has no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.width == 0 || self.rows == 0 || self.slices == 0
    }

    pub(crate) fn bytes(self) -> u64 {
        self.width * self.all_rows()
    }

    /// The rows of all slices.
    pub(crate) fn all_rows(self) -> u64 {
        self.rows * self.slices
    }
}

impl Plane {
    /// For a single row.
    pub const fn row(address: u64) -> Self {
        Self { address, pitch: 0, slice_pitch: 0 }
    }

    /// The address of a row, counted over all slices.
    pub(crate) fn at(self, row: u64, extent: Extent) -> u64 {
        let (slice, row) = (row / extent.rows, row % extent.rows);
        self.address + slice * self.slice_pitch + row * self.pitch
    }

    /// Bytes from the first to the end of the last row.
    pub(crate) fn span(self, extent: Extent) -> Option<u64> {
        let slices = self.slice_pitch.checked_mul(extent.slices - 1)?;
        self.pitch.checked_mul(extent.rows - 1)?.checked_add(slices)?.checked_add(extent.width)
    }
}

/// A queued copy. Blocks are given by number; 0 for memory that the driver does not know.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) to: Plane,
    pub(crate) to_block: u64,
    pub(crate) from: Source,
    pub(crate) extent: Extent,
}

#[derive(Debug)]
pub(crate) enum Source {
    /// Read when the copy runs.
    Later { from: Plane, block: u64 },
    /// Read when the copy was queued: the bytes from an offset on, counted row by row.
    Staged { bytes: Vec<u8>, offset: u64 },
}

/// A fill of `rows` with `count` elements each.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    pub to: Plane,
    pub value: u32,
    /// 1, 2 or 4.
    pub element_bytes: u64,
    pub count: u64,
    pub rows: u64,
}

impl Fill {
    /// The product of its counts must fit.
    pub(crate) fn extent(&self) -> Extent {
        Extent { width: self.count * self.element_bytes, rows: self.rows, slices: 1 }
    }

    fn pattern(&self) -> Pattern {
        let [first, second, ..] = self.value.to_le_bytes();
        match self.element_bytes {
            1 => [first; 4],
            2 => [first, second, first, second],
            _ => self.value.to_le_bytes(),
        }
    }
}

const PIECE_BYTES: u64 = 64 << 10;

impl Driver {
    pub(crate) fn transfer(&mut self, transfer: &Transfer) {
        let Transfer { to, to_block, from, extent } = transfer;
        if self.is_gone(to.address, *to_block) {
            return self.work_after_free(to.address, extent.width);
        }
        match from {
            Source::Staged { bytes, offset } => self.unstage(*to, *extent, bytes, *offset),
            Source::Later { from, block } if self.is_gone(from.address, *block) => {
                self.work_after_free(from.address, extent.width);
            }
            Source::Later { from, .. } => {
                for row in 0..extent.all_rows() {
                    self.move_row(to.at(row, *extent), from.at(row, *extent), extent.width);
                }
            }
        }
    }

    pub(crate) fn fill(&mut self, fill: &Fill, block: u64) {
        let extent = fill.extent();
        let bytes = extent.width;
        if self.is_gone(fill.to.address, block) {
            return self.work_after_free(fill.to.address, bytes);
        }
        for row in 0..fill.rows {
            self.fill_row(fill.to.at(row, extent), bytes, fill.pattern());
        }
    }

    /// Whether that block ended after the work was queued: not every free waits for the work.
    fn is_gone(&self, address: u64, block: u64) -> bool {
        let found = match self.device_of(address) {
            Some(device) => {
                let space = &self.devices[device].space;
                let id = space.find_reserved(address);
                id.is_some_and(|id| space.block(id).answers_to(block))
            }
            None => self.find_host(address).is_some_and(|(_, found)| found.buffer_id == block),
        };
        block != 0 && !found
    }

    fn unstage(&mut self, to: Plane, extent: Extent, bytes: &[u8], offset: u64) {
        let (mut offset, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (row, column) = (offset / extent.width, offset % extent.width);
            let (now, later) = rest.split_at(rest.len().min((extent.width - column) as usize));
            self.write(to.at(row, extent) + column, now);
            offset += now.len() as u64;
            rest = later;
        }
    }

    fn move_row(&mut self, to: u64, from: u64, width: u64) {
        let mut piece = vec![0; width.min(PIECE_BYTES) as usize];
        for start in (0..width).step_by(PIECE_BYTES as usize) {
            let piece = &mut piece[..(width - start).min(PIECE_BYTES) as usize];
            self.read(from + start, piece);
            self.write(to + start, piece);
        }
    }

    /// Of memory that is not [gone](Self::is_gone): the call that queued the work has seen that the
    /// range lies in one block.
    fn read(&mut self, address: u64, into: &mut [u8]) {
        let Some(device) = self.device_of(address) else {
            return self.host.read(address, into);
        };
        let space = &self.devices[device].space;
        if let Some(id) = space.find_reserved(address) {
            let block = space.block(id);
            block.bytes.read(address - block.base, into);
        }
    }

    fn fill_row(&mut self, address: u64, bytes: u64, pattern: Pattern) {
        let Some(device) = self.device_of(address) else {
            return self.fill_host_row(address, bytes, pattern);
        };
        let space = &mut self.devices[device].space;
        if let Some(id) = space.find_reserved(address) {
            let block = space.block_mut(id);
            block.bytes.fill(block.reserved_bytes(), address - block.base, bytes, pattern);
        }
    }

    fn fill_host_row(&mut self, address: u64, bytes: u64, pattern: Pattern) {
        let piece = pattern.repeat((bytes.min(PIECE_BYTES) as usize).div_ceil(pattern.len()));
        for start in (0..bytes).step_by(PIECE_BYTES as usize) {
            let piece = &piece[..(bytes - start).min(PIECE_BYTES) as usize];
            self.host.write(address + start, piece);
        }
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let Some(device) = self.device_of(address) else {
            return self.host.write(address, from);
        };
        let space = &mut self.devices[device].space;
        if let Some(id) = space.find_reserved(address) {
            let block = space.block_mut(id);
            block.bytes.write(block.reserved_bytes(), address - block.base, from);
        }
    }
}
