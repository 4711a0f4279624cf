//! The byte layout of the shared-memory trace: one header page, then a ring of fixed records.
//!
//! Everything here is a pure function over bytes. The writer maps the file; readers may use plain
//! positioned reads, also while it is written.

use std::fmt;

use super::{
    event::Event,
    record::{RECORD_BYTES, Record, put, take},
};

/// Size of the header, one page.
pub const HEADER_BYTES: usize = 4096;
/// What the file begins with.
pub const MAGIC: [u8; 8] = *b"ALCTRACE";
/// The version of this layout, records included.
pub const VERSION: u32 = 2;
/// Where the count of reserved records lies in the header; the writer adds to it atomically.
pub const NEXT_OFFSET: usize = 24;

/// The first page of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Records the ring holds; a power of two.
    pub capacity: u64,
    /// Records ever reserved.
    pub next: u64,
}

impl Header {
    /// The header of an empty ring.
    pub fn new(capacity: u64) -> Result<Self, Malformed> {
        if !capacity.is_power_of_two() {
            return Err(Malformed::Capacity(capacity));
        }
        Ok(Self { capacity, next: 0 })
    }

    /// Size of the whole file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.capacity * RECORD_BYTES as u64
    }

    /// Where the record of `seq` lies in the file.
    #[must_use]
    pub fn record_offset(&self, seq: u64) -> u64 {
        HEADER_BYTES as u64 + (seq & (self.capacity - 1)) * RECORD_BYTES as u64
    }

    /// The header's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        put(&mut bytes, 0, MAGIC);
        put(&mut bytes, 8, VERSION.to_le_bytes());
        put(&mut bytes, 12, (RECORD_BYTES as u32).to_le_bytes());
        put(&mut bytes, 16, self.capacity.to_le_bytes());
        put(&mut bytes, NEXT_OFFSET, self.next.to_le_bytes());
        bytes
    }

    /// Reads and checks the header.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        if take::<8>(bytes, 0) != MAGIC {
            return Err(Malformed::Magic);
        }
        let version = u32::from_le_bytes(take(bytes, 8));
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let record_bytes = u32::from_le_bytes(take(bytes, 12));
        if record_bytes as usize != RECORD_BYTES {
            return Err(Malformed::RecordSize(record_bytes));
        }
        let header = Self::new(u64::from_le_bytes(take(bytes, 16)))?;
        Ok(Self { next: u64::from_le_bytes(take(bytes, NEXT_OFFSET)), ..header })
    }
}

/// Why a file is not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The file does not begin with [`MAGIC`].
    Magic,
    /// Another version of the layout.
    Version(u32),
    /// Records of another size.
    RecordSize(u32),
    /// A capacity that is no power of two.
    Capacity(u64),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a trace file: the first eight bytes are not ALCTRACE"),
            Self::Version(found) => write!(f, "trace version {found}, this build reads {VERSION}"),
            Self::RecordSize(found) => {
                write!(f, "trace records of {found} bytes, this build reads {RECORD_BYTES}")
            }
            Self::Capacity(found) => write!(f, "trace capacity {found} is not a power of two"),
        }
    }
}

impl std::error::Error for Malformed {}

/// What a read of the ring gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The complete records, in order.
    pub events: Vec<Event>,
    /// Records from the asked one on that were overwritten or never completed before this read.
    pub lost: u64,
    /// Where the next read goes on.
    pub next: u64,
}

/// Why a read of the ring failed.
#[derive(Debug)]
pub enum ReadError<E> {
    /// The file could not be read.
    Source(E),
    /// The file is no trace.
    Malformed(Malformed),
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => write!(f, "cannot read the trace: {error}"),
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for ReadError<E> {}

/// Decodes the records from `from_seq` on. `read_at` fills the buffer from the file at the offset,
/// as `FileExt::read_exact_at` does.
pub fn read_records<E>(
    mut read_at: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    from_seq: u64,
) -> Result<Batch, ReadError<E>> {
    const CHUNK_RECORDS: u64 = 512;
    let mut page = [0; HEADER_BYTES];
    read_at(0, &mut page).map_err(ReadError::Source)?;
    let header = Header::decode(&page).map_err(ReadError::Malformed)?;
    let oldest = header.next.saturating_sub(header.capacity).max(from_seq);
    let mut batch = Batch {
        lost: oldest.saturating_sub(from_seq),
        next: header.next.max(from_seq),
        events: Vec::new(),
    };
    let mut chunk = vec![0; CHUNK_RECORDS as usize * RECORD_BYTES];
    let mut seq = oldest;
    while seq < header.next {
        let until_wrap = header.capacity - (seq & (header.capacity - 1));
        let count = CHUNK_RECORDS.min(until_wrap).min(header.next - seq);
        let bytes = &mut chunk[..count as usize * RECORD_BYTES];
        read_at(header.record_offset(seq), bytes).map_err(ReadError::Source)?;
        for (index, record) in bytes.as_chunks::<RECORD_BYTES>().0.iter().enumerate() {
            let event = Record::decode(record)
                .filter(|record| record.seq == seq + index as u64)
                .and_then(|record| Event::decode(&record));
            match event {
                Some(event) => batch.events.push(event),
                None => batch.lost += 1,
            }
        }
        seq += count;
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::record::RETURNED;

    fn record(seq: u64) -> Record {
        Record { seq, state: RETURNED, ..Record::default() }
    }

    fn ring(capacity: u64, written: u64) -> Vec<u8> {
        let header = Header { next: written, ..Header::new(capacity).expect("a power of two") };
        let mut file = vec![0; header.file_bytes() as usize];
        file[..HEADER_BYTES].copy_from_slice(&header.encode());
        for seq in 0..written {
            let offset = header.record_offset(seq) as usize;
            file[offset..offset + RECORD_BYTES].copy_from_slice(&record(seq).encode());
        }
        file
    }

    fn read(file: &[u8], from_seq: u64) -> Result<Batch, ReadError<std::convert::Infallible>> {
        read_records(
            |offset, into| {
                into.copy_from_slice(&file[offset as usize..offset as usize + into.len()]);
                Ok(())
            },
            from_seq,
        )
    }

    #[test]
    fn a_full_ring_says_what_it_lost() {
        let batch = read(&ring(8, 19), 3).expect("well formed");
        assert_eq!(batch.lost, 8, "11 - 3 were overwritten");
        assert_eq!(
            batch.events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            (11..19).collect::<Vec<_>>()
        );
        assert_eq!(batch.next, 19);
        assert_eq!(read(&ring(8, 19), 19).expect("well formed").events, []);
    }

    #[test]
    fn a_record_that_was_only_reserved_counts_as_lost() {
        let mut file = ring(8, 3);
        file[16 + 8..32].copy_from_slice(&4_u64.to_le_bytes());
        let batch = read(&file, 0).expect("well formed");
        assert_eq!((batch.events.len(), batch.lost), (3, 1));
    }

    #[test]
    fn other_files_are_refused() {
        let mut file = ring(8, 1);
        file[0] = b'X';
        assert!(matches!(read(&file, 0), Err(ReadError::Malformed(Malformed::Magic))));
        assert_eq!(Header::new(12), Err(Malformed::Capacity(12)));
    }
}
