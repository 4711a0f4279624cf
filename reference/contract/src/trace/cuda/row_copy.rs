//! A 2D copy as a trace record keeps it.
//!
//! Its inputs are in a structure, `CUDA_MEMCPY2D`, which the program may change once the call has
//! returned. So a record has the values.

use crate::trace::parameter::Parameter;

/// What a record of a 2D copy names, in order: [`RowCopy::words`].
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::input("dst"),
    Parameter::input("dst_pitch"),
    Parameter::input("src"),
    Parameter::input("src_pitch"),
    Parameter::input("width_bytes"),
    Parameter::input("height"),
    Parameter::input("stream"),
    Parameter::input("memory_types"),
];

/// The inputs of a 2D copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCopy {
    /// Where the rows are written.
    pub to: Rows,
    /// Where they are read.
    pub from: Rows,
    /// Bytes of a row.
    pub width_bytes: u64,
    /// How many rows.
    pub height: u64,
    /// The handle of the stream; 0 for the synchronous functions.
    pub stream: u64,
}

/// One side of a 2D copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The first byte of the first row; 0 for an array.
    pub start: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// `CUmemorytype`.
    pub memory_type: u32,
}

impl RowCopy {
    /// The arguments of a record.
    #[must_use]
    pub fn words(&self) -> [u64; 8] {
        let Self { to, from, width_bytes, height, stream } = *self;
        let types = u64::from(to.memory_type) | u64::from(from.memory_type) << 32;
        [to.start, to.pitch, from.start, from.pitch, width_bytes, height, stream, types]
    }

    /// The copy that a record has these arguments of.
    #[must_use]
    pub fn read(
        [to, to_pitch, from, from_pitch, width_bytes, height, stream, types]: [u64; 8],
    ) -> Self {
        let rows = |start, pitch, types: u64| Rows { start, pitch, memory_type: types as u32 };
        Self {
            to: rows(to, to_pitch, types),
            from: rows(from, from_pitch, types >> 32),
            width_bytes,
            height,
            stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_survives_its_words() {
        let copy = RowCopy {
            to: Rows { start: 0x1000, pitch: 256, memory_type: 2 },
            from: Rows { start: 0x2000, pitch: 128, memory_type: 1 },
            width_bytes: 100,
            height: 7,
            stream: 0x57,
        };
        assert_eq!(RowCopy::read(copy.words()), copy);
        let stream = PARAMETERS.iter().position(|parameter| parameter.name == "stream");
        assert_eq!(stream.map(|position| copy.words()[position]), Some(0x57));
        assert!(PARAMETERS.iter().all(|parameter| !parameter.output));
    }
}
