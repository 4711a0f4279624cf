//! Draws the part of some memory that a step writes or reads.

use crate::random_numbers::Random;
use crate::written_bytes::{LONGEST_BYTES, Range};

/// A part of `whole` bytes, by offset and size: mostly all of it, of long memory the beginning or
/// the end, where neighbours are.
pub(crate) fn to_fill(random: &mut Random, whole: u64) -> (u64, Option<u64>) {
    if whole <= LONGEST_BYTES && !random.once_in(4) {
        return (0, None);
    }
    let size = random.between(1, whole.clamp(1, 4096));
    let offset = match random.below(3) {
        0 => 0,
        1 => whole - size.min(whole),
        _ => random.below(whole - size.min(whole) + 1),
    };
    (offset, Some(size))
}

/// The end of one of the ranges whose bytes are known, of memory of `whole` bytes.
pub(crate) fn to_read(
    random: &mut Random,
    known: &[Range],
    whole: u64,
) -> Option<(u64, Option<u64>)> {
    let range = *random.pick(known)?;
    let size = (range.end - range.start).min(LONGEST_BYTES);
    let all = range.start == 0 && size == whole;
    Some(if all { (0, None) } else { (range.end - size, Some(size)) })
}
