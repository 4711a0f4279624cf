//! A 2D or 3D copy as a trace record keeps it.
//!
//! Its inputs are in a structure, `CUDA_MEMCPY2D` or `CUDA_MEMCPY3D`, which the program may change
//! once the call has returned. So a record has the values.

use crate::trace::parameter::Parameter;

/// What a record of such a copy names, in order: [`RowCopy::words`].
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::input("dst"),
    Parameter::input("dst_pitch"),
    Parameter::input("src"),
    Parameter::input("src_pitch"),
    Parameter::input("width_bytes"),
    Parameter::input("height_and_depth"),
    Parameter::input("stream"),
    Parameter::input("memory_types"),
];

/// The inputs of a copy of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCopy {
    /// Where the rows are written.
    pub to: Rows,
    /// Where they are read.
    pub from: Rows,
    /// Bytes of a row.
    pub width_bytes: u64,
    /// How many rows a slice has.
    pub height: u32,
    /// How many slices; 1 for a 2D copy.
    pub depth: u32,
    /// The handle of the stream; 0 for the synchronous functions.
    pub stream: u64,
}

/// One side of a copy of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The first byte of the first row; 0 for an array.
    pub start: u64,
    /// Bytes from a row to the next. The driver allows 2 GiB at most.
    pub pitch: u32,
    /// Rows from a slice to the next.
    pub slice_rows: u32,
    /// `CUmemorytype`.
    pub memory_type: u32,
}

impl RowCopy {
    /// The arguments of a record.
    #[must_use]
    pub fn words(&self) -> [u64; 8] {
        let Self { to, from, width_bytes, height, depth, stream } = *self;
        [
            to.start,
            pair(to.pitch, to.slice_rows),
            from.start,
            pair(from.pitch, from.slice_rows),
            width_bytes,
            pair(height, depth),
            stream,
            pair(to.memory_type, from.memory_type),
        ]
    }

    /// The copy that a record has these arguments of.
    #[must_use]
    pub fn read(
        [to, to_pitch, from, from_pitch, width_bytes, extent, stream, types]: [u64; 8],
    ) -> Self {
        let ([to_type, from_type], [height, depth]) = (unpair(types), unpair(extent));
        let rows = |start, pitches, memory_type| {
            let [pitch, slice_rows] = unpair(pitches);
            Rows { start, pitch, slice_rows, memory_type }
        };
        Self {
            to: rows(to, to_pitch, to_type),
            from: rows(from, from_pitch, from_type),
            width_bytes,
            height,
            depth,
            stream,
        }
    }
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn unpair(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_survives_its_words() {
        let copy = RowCopy {
            to: Rows { start: 0x1000, pitch: u32::MAX, slice_rows: 9, memory_type: 2 },
            from: Rows { start: 0x2000, pitch: 128, slice_rows: u32::MAX, memory_type: 1 },
            width_bytes: 100,
            height: 7,
            depth: 3,
            stream: 0x57,
        };
        assert_eq!(RowCopy::read(copy.words()), copy);
        let stream = PARAMETERS.iter().position(|parameter| parameter.name == "stream");
        assert_eq!(stream.map(|position| copy.words()[position]), Some(0x57));
        assert!(PARAMETERS.iter().all(|parameter| !parameter.output));
    }
}
