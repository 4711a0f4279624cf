//! The data of an allocation. It takes memory from the first write on. Bytes that were never
//! written read as a pattern that is easy to tell from data.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

/// What uninitialised device memory reads as.
pub const UNINITIALISED: u8 = 0xdb;

/// A pool is handed out in small blocks: what is written first of a larger piece is mostly not
/// needed.
const CHUNK_BYTES: usize = 8 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) enum Bytes {
    #[default]
    Untouched,
    Private(Box<Chunks>),
    /// In a file, so that other processes can open it.
    Shared(Arc<SharedBytes>),
}

/// Fixed-size pieces that appear when they are written.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    size: usize,
    chunks: Vec<Option<Box<[u8]>>>,
}

/// A file that holds a header and then the bytes, each xor the uninitialised pattern: a hole in the
/// file reads as that pattern.
#[derive(Debug)]
pub(crate) struct SharedBytes {
    pub(crate) file: File,
    pub(crate) data_offset: u64,
}

impl Bytes {
    /// `size` is the allocation's; `offset + into.len()` must not exceed it.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        match self {
            Self::Untouched => into.fill(UNINITIALISED),
            Self::Private(chunks) => chunks.read(offset as usize, into),
            Self::Shared(shared) => shared.read(offset, into),
        }
    }

    pub(crate) fn write(&mut self, size: u64, offset: u64, from: &[u8]) {
        if let Self::Untouched = self {
            *self = Self::Private(Box::new(Chunks::new(size as usize)));
        }
        match self {
            Self::Untouched => {}
            Self::Private(chunks) => chunks.write(offset as usize, from),
            Self::Shared(shared) => shared.write(offset, from),
        }
    }
}

impl Chunks {
    fn new(size: usize) -> Self {
        Self { size, chunks: vec![None; size.div_ceil(CHUNK_BYTES)] }
    }

    fn read(&self, mut offset: usize, mut into: &mut [u8]) {
        while !into.is_empty() {
            let start = offset % CHUNK_BYTES;
            let (now, rest) = into.split_at_mut(into.len().min(CHUNK_BYTES - start));
            match &self.chunks[offset / CHUNK_BYTES] {
                Some(chunk) => now.copy_from_slice(&chunk[start..start + now.len()]),
                None => now.fill(UNINITIALISED),
            }
            offset += now.len();
            into = rest;
        }
    }

    fn write(&mut self, mut offset: usize, mut from: &[u8]) {
        while !from.is_empty() {
            let (index, start) = (offset / CHUNK_BYTES, offset % CHUNK_BYTES);
            let (now, rest) = from.split_at(from.len().min(CHUNK_BYTES - start));
            let chunk_bytes = CHUNK_BYTES.min(self.size - index * CHUNK_BYTES);
            let chunk = self.chunks[index]
                .get_or_insert_with(|| vec![UNINITIALISED; chunk_bytes].into_boxed_slice());
            chunk[start..start + now.len()].copy_from_slice(now);
            offset += now.len();
            from = rest;
        }
    }
}

impl SharedBytes {
    /// Copies what `bytes` already holds into the file.
    pub(crate) fn adopt(&self, bytes: &Bytes) -> io::Result<()> {
        let Bytes::Private(private) = bytes else { return Ok(()) };
        for (index, chunk) in private.chunks.iter().enumerate() {
            if let Some(chunk) = chunk {
                self.try_write((index * CHUNK_BYTES) as u64, chunk)?;
            }
        }
        Ok(())
    }

    fn read(&self, offset: u64, into: &mut [u8]) {
        // A short read is a hole at the end of the file, or a file that vanished: uninitialised
        // either way.
        into.fill(0);
        let mut done = 0;
        while let Ok(count @ 1..) =
            self.file.read_at(&mut into[done..], self.data_offset + offset + done as u64)
        {
            done += count;
        }
        into.iter_mut().for_each(|byte| *byte ^= UNINITIALISED);
    }

    fn write(&self, offset: u64, from: &[u8]) {
        // Device memory cannot fail to be written. If the file can (the machine is out of memory)
        // the bytes stay as they were.
        self.try_write(offset, from).ok();
    }

    fn try_write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let stored: Vec<u8> = from.iter().map(|byte| byte ^ UNINITIALISED).collect();
        self.file.write_all_at(&stored, self.data_offset + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_may_cross_chunks_and_the_rest_stays_uninitialised() {
        let size = 2 * CHUNK_BYTES as u64 + 10;
        let mut bytes = Bytes::default();
        bytes.write(size, CHUNK_BYTES as u64 - 2, &[1, 2, 3, 4]);
        let mut around = [0; 6];
        bytes.read(CHUNK_BYTES as u64 - 3, &mut around);
        assert_eq!(around, [UNINITIALISED, 1, 2, 3, 4, UNINITIALISED]);
        let mut end = [0; 10];
        bytes.read(size - 10, &mut end);
        assert_eq!(end, [UNINITIALISED; 10]);
    }
}
