//! Where the elements of a view lie in its allocation.

use allocert_contract::array::Typestr;

use crate::{Error, MemoryOrder, Result};

/// Offset of the first element, and how far apart the others are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) shape: Vec<u64>,
    /// In bytes.
    pub(crate) strides: Vec<i64>,
    /// In bytes, of the element with index 0 on every axis.
    pub(crate) offset: u64,
}

impl View {
    /// A whole allocation, and how many bytes it needs.
    pub(crate) fn whole(
        shape: &[u64],
        typestr: Typestr,
        order: MemoryOrder,
    ) -> Result<(Self, u64)> {
        let too_large = || Error::InvalidValue("an array has at most 2^63 - 1 bytes".to_owned());
        let mut step = typestr.size_bytes();
        let mut strides = vec![0; shape.len()];
        let mut fastest_first: Vec<usize> = (0..shape.len()).collect();
        if order == MemoryOrder::C {
            fastest_first.reverse();
        }
        for axis in fastest_first {
            strides[axis] = i64::try_from(step).map_err(|_| too_large())?;
            // An extent of 0 leaves no bytes; the strides beyond mean nothing.
            step = step.checked_mul(shape[axis].max(1)).ok_or_else(too_large)?;
        }
        i64::try_from(step).map_err(|_| too_large())?;
        let bytes = if shape.contains(&0) { 0 } else { step };
        Ok((Self { shape: shape.to_vec(), strides, offset: 0 }, bytes))
    }

    /// Elements `first`, `first + step` and so on along one axis, `count` of them.
    pub(crate) fn take(&self, axis: usize, first: u64, count: u64, step: i64) -> Result<Self> {
        let extent = *self.shape.get(axis).ok_or_else(|| self.no_axis(axis))?;
        let last = i128::from(first) + i128::from(step) * (i128::from(count) - 1);
        let inside = count == 0 || (first < extent && (0..i128::from(extent)).contains(&last));
        if !inside {
            return Err(Error::InvalidValue(format!(
                "axis {axis} has no elements {first} to {last}"
            )));
        }
        let mut view = self.clone();
        view.shape[axis] = count;
        view.strides[axis] = if count > 1 { self.strides[axis] * step } else { self.strides[axis] };
        if count > 0 {
            view.offset = view
                .offset
                .wrapping_add_signed(self.strides[axis].wrapping_mul(first.cast_signed()));
        }
        Ok(view)
    }

    /// Without an axis: the elements with that index on it.
    pub(crate) fn at(&self, axis: usize, index: u64) -> Result<Self> {
        let mut view = self.take(axis, index, 1, 1)?;
        view.shape.remove(axis);
        view.strides.remove(axis);
        Ok(view)
    }

    pub(crate) fn transpose(&self, axes: &[usize]) -> Result<Self> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.shape.len()) {
            return Err(Error::InvalidValue(format!(
                "{axes:?} do not name each of {} axes once",
                self.shape.len()
            )));
        }
        let shape = axes.iter().map(|axis| self.shape[*axis]).collect();
        let strides = axes.iter().map(|axis| self.strides[*axis]).collect();
        Ok(Self { shape, strides, offset: self.offset })
    }

    pub(crate) fn broadcast(&self, shape: &[u64]) -> Result<Self> {
        let refused =
            || Error::InvalidValue(format!("{:?} cannot be broadcast to {shape:?}", self.shape));
        let new = shape.len().checked_sub(self.shape.len()).ok_or_else(refused)?;
        let mut strides = vec![0; new];
        for (axis, extent) in self.shape.iter().enumerate() {
            match shape[new + axis] {
                wanted if wanted == *extent => strides.push(self.strides[axis]),
                _ if *extent == 1 => strides.push(0),
                _ => return Err(refused()),
            }
        }
        Ok(Self { shape: shape.to_vec(), strides, offset: self.offset })
    }

    fn no_axis(&self, axis: usize) -> Error {
        Error::InvalidValue(format!("there is no axis {axis} of {}", self.shape.len()))
    }
}
