//! The elements of an array as pieces without gaps.

use crate::{Error, Result};

/// More pieces than that are more driver calls than anybody wants to wait for.
const PIECES: u64 = 1 << 16;

/// Pieces of the same size, in C order of the elements.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) size_bytes: u64,
    /// Extent and stride in bytes of the axes that lie between them, slowest first.
    axes: Vec<(u64, i64)>,
}

impl Pieces {
    /// Of an array that has at least one byte.
    pub(crate) fn new(shape: &[u64], strides: &[i64], element_bytes: u64) -> Result<Self> {
        let mut axes: Vec<(u64, i64)> = shape
            .iter()
            .copied()
            .zip(strides.iter().copied())
            .filter(|(extent, _)| *extent != 1)
            .collect();
        let mut size_bytes = element_bytes;
        while let Some((extent, stride)) = axes.last().copied()
            && i128::from(stride) == i128::from(size_bytes)
        {
            size_bytes *= extent; // all elements together are less than 2^63 bytes
            axes.pop();
        }
        let count = axes.iter().try_fold(1_u64, |count, (extent, _)| count.checked_mul(*extent));
        match count.is_some_and(|count| count <= PIECES) {
            true => Ok(Self { size_bytes, axes }),
            false => Err(Error::NotSupported("the array's elements lie in more than 65536 pieces")),
        }
    }

    /// Where each begins, in bytes from the first element.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = i64> {
        let count: u64 = self.axes.iter().map(|(extent, _)| extent).product();
        (0..count).map(|number| self.offset(number))
    }

    fn offset(&self, number: u64) -> i64 {
        let mut rest = number;
        let mut offset = 0;
        for (extent, stride) in self.axes.iter().rev() {
            offset += (rest % extent).cast_signed() * stride;
            rest /= extent;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(shape: &[u64], strides: &[i64]) -> (u64, Vec<i64>) {
        let pieces = Pieces::new(shape, strides, 4).expect("few pieces");
        (pieces.size_bytes, pieces.offsets().collect())
    }

    #[test]
    fn they_are_as_large_as_gaps_allow() {
        assert_eq!(pieces(&[3, 4], &[16, 4]), (48, vec![0]));
        assert_eq!(pieces(&[3, 4], &[32, 4]), (16, vec![0, 32, 64]));
        assert_eq!(pieces(&[2, 2], &[4, 8]), (4, vec![0, 8, 4, 12]));
        assert_eq!(pieces(&[2, 2], &[-8, 0]), (4, vec![0, 0, -8, -8]));
        assert_eq!(pieces(&[], &[]), (4, vec![0]));
        assert_eq!(pieces(&[1, 3], &[999, 4]), (12, vec![0]));
    }

    #[test]
    fn too_many_are_refused() {
        assert!(matches!(Pieces::new(&[1 << 40], &[8], 4), Err(Error::NotSupported(_))));
    }
}
