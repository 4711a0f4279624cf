//! One record of the trace, field for field as it lies in the ring. Pure functions over bytes.

use strum::FromRepr;

/// Size of a record.
pub const RECORD_BYTES: usize = 128;

/// `Record::state`: the call came in.
pub const ENTERED: u32 = 1;
/// `Record::state`: the call returned, or the record is of no call.
pub const RETURNED: u32 = 2;

/// `Record::flags`: the call came through a `_ptsz` or `_ptds` symbol.
pub const PER_THREAD: u32 = 1;
/// `Record::flags`: the fault plan gave the result.
pub const INJECTED: u32 = 2;

/// What a record tells about: [`Record::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u16)]
pub enum RecordKind {
    /// A call of a function of any boundary.
    Call = 0,
    /// A [`Marker`](super::Marker): its kind and its step.
    Marker = 1,
    /// A [`Misuse`](super::cuda::Misuse) and its two values.
    Misuse = 2,
    /// A public driver function that the software driver does not implement was called.
    Unsupported = 3,
    /// A driver function was passed on without its parameters being known.
    PassedOn = 4,
    /// A word of a kernel's parameters that points into memory.
    Argument = 5,
}

/// One record, field for field as it lies in the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The record's number, from 0.
    pub seq: u64,
    /// [`ENTERED`] or [`RETURNED`].
    pub state: u32,
    /// A [`RecordKind`].
    pub kind: u16,
    /// The [code](super::Function::code) of the function; 0 if there is none.
    pub function: u16,
    /// The system's number of the thread that wrote the record.
    pub thread: u32,
    /// The system's number of its process.
    pub process: u32,
    /// What the call answered.
    pub result: i32,
    /// [`PER_THREAD`] and [`INJECTED`].
    pub flags: u32,
    /// The thread's current CUDA context; 0 for none.
    pub context: u64,
    /// The inputs of the call, or what else the kind carries.
    pub args: [u64; 8],
    /// The outputs of the call.
    pub out: [u64; 3],
}

impl Record {
    /// Where `state` lies; the writer fills it in last when the call returns.
    pub const STATE_OFFSET: usize = 8;
    /// Where `result` lies.
    pub const RESULT_OFFSET: usize = 24;
    /// Where `flags` lies.
    pub const FLAGS_OFFSET: usize = 28;
    /// Where `out` begins.
    pub const OUT_OFFSET: usize = 104;

    /// The record's bytes. The number is stored plus 1, so that zeros are no record.
    #[must_use]
    #[inline]
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        put(&mut bytes, 0, (self.seq + 1).to_le_bytes());
        put(&mut bytes, Self::STATE_OFFSET, self.state.to_le_bytes());
        put(&mut bytes, 12, self.kind.to_le_bytes());
        put(&mut bytes, 14, self.function.to_le_bytes());
        put(&mut bytes, 16, self.thread.to_le_bytes());
        put(&mut bytes, 20, self.process.to_le_bytes());
        put(&mut bytes, Self::RESULT_OFFSET, self.result.to_le_bytes());
        put(&mut bytes, Self::FLAGS_OFFSET, self.flags.to_le_bytes());
        put(&mut bytes, 32, self.context.to_le_bytes());
        for (index, word) in self.args.into_iter().chain(self.out).enumerate() {
            put(&mut bytes, 40 + 8 * index, word.to_le_bytes());
        }
        bytes
    }

    /// `None` for a record that was never written.
    #[must_use]
    pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let word = |offset| u64::from_le_bytes(take(bytes, offset));
        let half = |offset| u32::from_le_bytes(take(bytes, offset));
        let seq = word(0).checked_sub(1)?;
        Some(Self {
            seq,
            state: half(Self::STATE_OFFSET),
            kind: u16::from_le_bytes(take(bytes, 12)),
            function: u16::from_le_bytes(take(bytes, 14)),
            thread: half(16),
            process: half(20),
            result: half(Self::RESULT_OFFSET) as i32,
            flags: half(Self::FLAGS_OFFSET),
            context: word(32),
            args: std::array::from_fn(|index| word(40 + 8 * index)),
            out: std::array::from_fn(|index| word(Self::OUT_OFFSET + 8 * index)),
        })
    }
}

pub(super) fn put<const N: usize>(bytes: &mut [u8], offset: usize, value: [u8; N]) {
    bytes[offset..offset + N].copy_from_slice(&value);
}

pub(super) fn take<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[offset + index])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record = Record {
        seq: 41,
        state: RETURNED,
        kind: RecordKind::Call as u16,
        function: 3,
        thread: 7,
        process: 8,
        result: -2,
        flags: PER_THREAD,
        context: 0xc0,
        args: [1, 2, 3, 4, 5, 6, 7, 41],
        out: [9, 10, 11],
    };

    #[test]
    fn a_record_survives_its_bytes() {
        assert_eq!(Record::decode(&RECORD.encode()), Some(RECORD));
        assert_eq!(Record::decode(&[0; RECORD_BYTES]), None);
        assert_eq!(RECORD.encode()[..8], 42_u64.to_le_bytes());
    }
}
