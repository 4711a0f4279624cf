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

/// Pieces of the same size.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    size: usize,
    chunks: Vec<Chunk>,
}

/// A chunk takes memory from the first write on. A fill of all of it takes none: a plugin may clear
/// each block that it serves.
#[derive(Clone, Debug)]
enum Chunk {
    /// This pattern, again and again.
    Filled(Pattern),
    Written(Box<[u8]>),
}

/// What a fill repeats. Elements of one and two bytes are repeated up to four.
pub(crate) type Pattern = [u8; 4];

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
        self.touch(size);
        match self {
            Self::Untouched => {}
            Self::Private(chunks) => chunks.write(offset as usize, from),
            Self::Shared(shared) => shared.write(offset, from),
        }
    }

    /// Repeats the pattern in `length` bytes. `offset` is a multiple of the fill's element.
    pub(crate) fn fill(&mut self, size: u64, offset: u64, length: u64, pattern: Pattern) {
        self.touch(size);
        for (start, length) in pieces(offset, length) {
            match self {
                Self::Private(chunks) if chunks.is_whole(start as usize, length) => {
                    chunks.chunks[start as usize / CHUNK_BYTES] = Chunk::Filled(pattern);
                }
                _ => self.write(size, start, &repeated(pattern, length)),
            }
        }
    }

    fn touch(&mut self, size: u64) {
        if let Self::Untouched = self {
            *self = Self::Private(Box::new(Chunks::new(size as usize)));
        }
    }
}

/// Where each chunk that a range touches begins in it, and the bytes of the range in that chunk.
fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize)> {
    let (chunk_bytes, end) = (CHUNK_BYTES as u64, offset + length);
    let chunks = offset / chunk_bytes..end.div_ceil(chunk_bytes);
    chunks.map(move |index| {
        let start = offset.max(index * chunk_bytes);
        (start, (end.min((index + 1) * chunk_bytes) - start) as usize)
    })
}

fn repeated(pattern: Pattern, length: usize) -> Vec<u8> {
    let mut bytes = pattern.repeat(length.div_ceil(pattern.len()));
    bytes.truncate(length);
    bytes
}

impl Chunks {
    fn new(size: usize) -> Self {
        let untouched = Chunk::Filled([UNINITIALISED; 4]);
        Self { size, chunks: vec![untouched; size.div_ceil(CHUNK_BYTES)] }
    }

    fn chunk_bytes(&self, index: usize) -> usize {
        CHUNK_BYTES.min(self.size - index * CHUNK_BYTES)
    }

    /// Whether the piece is all of a chunk.
    fn is_whole(&self, offset: usize, length: usize) -> bool {
        length == self.chunk_bytes(offset / CHUNK_BYTES)
    }

    fn read(&self, mut offset: usize, mut into: &mut [u8]) {
        while !into.is_empty() {
            let start = offset % CHUNK_BYTES;
            let (now, rest) = into.split_at_mut(into.len().min(CHUNK_BYTES - start));
            match &self.chunks[offset / CHUNK_BYTES] {
                Chunk::Written(bytes) => now.copy_from_slice(&bytes[start..start + now.len()]),
                Chunk::Filled([byte, rest @ ..]) if rest == &[*byte; 3] => now.fill(*byte),
                Chunk::Filled(pattern) => {
                    for (place, byte) in now.iter_mut().enumerate() {
                        *byte = pattern[(start + place) % pattern.len()];
                    }
                }
            }
            offset += now.len();
            into = rest;
        }
    }

    fn write(&mut self, mut offset: usize, mut from: &[u8]) {
        while !from.is_empty() {
            let (index, start) = (offset / CHUNK_BYTES, offset % CHUNK_BYTES);
            let (now, rest) = from.split_at(from.len().min(CHUNK_BYTES - start));
            self.written(index)[start..start + now.len()].copy_from_slice(now);
            offset += now.len();
            from = rest;
        }
    }

    fn written(&mut self, index: usize) -> &mut [u8] {
        let chunk_bytes = self.chunk_bytes(index);
        let chunk = &mut self.chunks[index];
        if let Chunk::Filled(pattern) = *chunk {
            *chunk = Chunk::Written(repeated(pattern, chunk_bytes).into_boxed_slice());
        }
        match chunk {
            Chunk::Written(bytes) => bytes,
            Chunk::Filled(_) => unreachable!("the chunk has bytes now"),
        }
    }
}

impl SharedBytes {
    /// Copies what `bytes` already holds into the file.
    pub(crate) fn adopt(&self, bytes: &Bytes) -> io::Result<()> {
        let Bytes::Private(private) = bytes else { return Ok(()) };
        for (index, chunk) in private.chunks.iter().enumerate() {
            let offset = (index * CHUNK_BYTES) as u64;
            match chunk {
                Chunk::Written(bytes) => self.try_write(offset, bytes)?,
                Chunk::Filled(pattern) if *pattern == [UNINITIALISED; 4] => {}
                Chunk::Filled(pattern) => {
                    self.try_write(offset, &repeated(*pattern, private.chunk_bytes(index)))?;
                }
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

    #[test]
    fn a_fill_of_whole_chunks_takes_no_memory_until_one_of_them_is_written() {
        let size = 3 * CHUNK_BYTES as u64 + 10;
        let mut bytes = Bytes::default();
        bytes.fill(size, CHUNK_BYTES as u64 - 2, size - CHUNK_BYTES as u64 + 2, [1, 2, 1, 2]);
        let Bytes::Private(chunks) = &bytes else { panic!("it was filled") };
        let takes_memory = |chunk: &Chunk| matches!(chunk, Chunk::Written(_));
        let written: Vec<_> = chunks.chunks.iter().map(takes_memory).collect();
        assert_eq!(written, [true, false, false, false]);

        bytes.write(size, 2 * CHUNK_BYTES as u64, &[7]);
        let mut around = [0; 5];
        bytes.read(2 * CHUNK_BYTES as u64 - 2, &mut around);
        assert_eq!(around, [1, 2, 7, 2, 1]);
        let mut start = [0; 4];
        bytes.read(CHUNK_BYTES as u64 - 4, &mut start);
        assert_eq!(start, [UNINITIALISED, UNINITIALISED, 1, 2]);
        let mut end = [0; 3];
        bytes.read(size - 3, &mut end);
        assert_eq!(end, [2, 1, 2]);
    }
}
