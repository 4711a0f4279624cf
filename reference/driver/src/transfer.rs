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

    pub(crate) fn span(self, width: u64, rows: u64) -> Option<u64> {
        self.pitch.checked_mul(rows - 1)?.checked_add(width)
    }
}

/// A queued copy.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) to: Plane,
    pub(crate) from: Source,
    pub(crate) width: u64,
    pub(crate) rows: u64,
}

#[derive(Debug)]
pub(crate) enum Source {
    /// Read when the copy runs.
    Later(Plane),
    /// Read when the copy was queued: pageable host memory is staged.
    Staged(Vec<u8>),
}

/// A fill of `count` elements of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    pub address: u64,
    pub value: u32,
    /// 1, 2 or 4.
    pub width: u64,
    pub count: u64,
}

const PIECE_BYTES: u64 = 64 << 10;

impl Driver {
    pub(crate) fn transfer(&mut self, transfer: &Transfer) {
        for row in 0..transfer.rows {
            let to = transfer.to.at(row);
            match &transfer.from {
                Source::Staged(bytes) => self.write(
                    to,
                    &bytes[(row * transfer.width) as usize..][..transfer.width as usize],
                ),
                Source::Later(from) => self.move_row(to, from.at(row), transfer.width),
            }
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

    pub(crate) fn fill(&mut self, fill: &Fill) {
        let bytes = fill.count * fill.width;
        let element = &fill.value.to_le_bytes()[..fill.width as usize];
        let piece: Vec<u8> =
            element.iter().copied().cycle().take(bytes.min(PIECE_BYTES) as usize).collect();
        for start in (0..bytes).step_by(PIECE_BYTES as usize) {
            self.write(fill.address + start, &piece[..(bytes - start).min(PIECE_BYTES) as usize]);
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
