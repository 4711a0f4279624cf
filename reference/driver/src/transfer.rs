//! Queued copies and fills, and how they move bytes when they run.

use crate::Driver;

/// One side of a copy: `rows` of `width` bytes, each `pitch` bytes after the one before.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub address: u64,
    pub pitch: u64,
}

impl Plane {
    /// For a single row.
    pub const fn row(address: u64) -> Self {
        Self { address, pitch: 0 }
    }

    pub(crate) fn at(self, row: u64) -> u64 {
        self.address + row * self.pitch
    }

    /// Bytes from the first to the end of the last row.
    pub(crate) fn span(self, width: u64, rows: u64) -> Option<u64> {
        self.pitch.checked_mul(rows - 1)?.checked_add(width)
    }
}

/// A queued copy. Blocks are those of host memory that the driver knows, by number; 0 for none.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) to: Plane,
    pub(crate) to_block: u64,
    pub(crate) from: Source,
    pub(crate) width: u64,
    pub(crate) rows: u64,
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

const PIECE_BYTES: u64 = 64 << 10;

impl Driver {
    pub(crate) fn transfer(&mut self, transfer: &Transfer) {
        let Transfer { to, to_block, from, width, rows } = transfer;
        if self.is_gone(to.address, *to_block) {
            return self.work_after_free(to.address, *width);
        }
        match from {
            Source::Staged { bytes, offset } => self.unstage(*to, *width, bytes, *offset),
            Source::Later { from, block } if self.is_gone(from.address, *block) => {
                self.work_after_free(from.address, *width);
            }
            Source::Later { from, .. } => {
                for row in 0..*rows {
                    self.move_row(to.at(row), from.at(row), *width);
                }
            }
        }
    }

    pub(crate) fn fill(&mut self, fill: &Fill, block: u64) {
        let bytes = fill.count * fill.element_bytes;
        if self.is_gone(fill.to.address, block) {
            return self.work_after_free(fill.to.address, bytes);
        }
        let element = &fill.value.to_le_bytes()[..fill.element_bytes as usize];
        let piece: Vec<u8> =
            element.iter().copied().cycle().take(bytes.min(PIECE_BYTES) as usize).collect();
        for row in 0..fill.rows {
            for start in (0..bytes).step_by(PIECE_BYTES as usize) {
                let piece = &piece[..(bytes - start).min(PIECE_BYTES) as usize];
                self.write(fill.to.at(row) + start, piece);
            }
        }
    }

    /// Whether that block of host memory ended after the work was queued: another context may free
    /// it, and then no call waits for the work.
    fn is_gone(&self, address: u64, block: u64) -> bool {
        block != 0 && self.find_host(address).is_none_or(|(_, found)| found.buffer_id != block)
    }

    fn unstage(&mut self, to: Plane, width: u64, bytes: &[u8], offset: u64) {
        let (mut offset, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (row, column) = (offset / width, offset % width);
            let (now, later) = rest.split_at(rest.len().min((width - column) as usize));
            self.write(to.at(row) + column, now);
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

    fn read(&mut self, address: u64, into: &mut [u8]) {
        let Some(device) = self.device_of(address) else {
            return self.host.read(address, into);
        };
        let space = &self.devices[device].space;
        match space.find(address).map(|id| space.block(id)) {
            Some(block) if into.len() as u64 <= block.size - (address - block.base) => {
                block.bytes.read(address - block.base, into)
            }
            _ => self.work_after_free(address, into.len() as u64),
        }
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let Some(device) = self.device_of(address) else {
            return self.host.write(address, from);
        };
        let space = &mut self.devices[device].space;
        match space.find(address).map(|id| space.block_mut(id)) {
            Some(block) if from.len() as u64 <= block.size - (address - block.base) => {
                block.bytes.write(block.size, address - block.base, from)
            }
            _ => self.work_after_free(address, from.len() as u64),
        }
    }
}
