//! Where the elements of an array lie.

use std::ops::RangeInclusive;

use super::{ArrayInterface, BitFields, ElementKind, Typestr};

impl ArrayInterface {
    /// How many elements it has.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // No overflow without an extent of 0: the array is valid.
        self.shape.iter().fold(1_u64, |elements, extent| elements.saturating_mul(*extent))
            * u64::from(!self.is_zero_size())
    }

    /// Whether an extent is 0.
    #[must_use]
    pub fn is_zero_size(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Bytes of one element.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.typestr.size_bytes()
    }

    /// Bytes from an element to the next along each axis: those said, or those of C order.
    #[must_use]
    pub fn byte_strides(&self) -> Vec<i64> {
        self.strides.clone().unwrap_or_else(|| c_strides(&self.shape, self.element_bytes()))
    }

    /// The lowest and the highest byte of any element; `None` if there is no byte.
    #[must_use]
    pub fn extent(&self) -> Option<RangeInclusive<u64>> {
        let offsets = self.layout().offsets()?;
        let at = |offset: i128| u64::try_from(i128::from(self.data.0) + offset).ok();
        Some(at(*offsets.start())?..=at(*offsets.end())?)
    }

    /// Whether the elements follow each other in C order without gaps. Strides along extents of 1
    /// mean nothing, nor do those of an array without elements.
    #[must_use]
    pub fn is_c_contiguous(&self) -> bool {
        self.strides
            .as_deref()
            .is_none_or(|strides| contiguous(self.axes(strides).rev(), self.element_bytes()))
    }

    /// As [`ArrayInterface::is_c_contiguous`], in Fortran order.
    #[must_use]
    pub fn is_f_contiguous(&self) -> bool {
        contiguous(self.axes(&self.byte_strides()), self.element_bytes())
    }

    fn axes<'a>(&'a self, strides: &'a [i64]) -> impl DoubleEndedIterator<Item = (u64, i64)> {
        let all = if self.is_zero_size() { 0 } else { self.shape.len() };
        self.shape.iter().copied().zip(strides.iter().copied()).take(all)
    }

    fn layout(&self) -> Layout<'_> {
        let Self { shape, typestr, strides, bit_fields, .. } = self;
        Layout { shape, typestr: *typestr, strides: strides.as_deref(), bit_fields: *bit_fields }
    }
}

/// What decides where elements lie relative to the first one.
pub(super) struct Layout<'a> {
    pub(super) shape: &'a [u64],
    pub(super) typestr: Typestr,
    pub(super) strides: Option<&'a [i64]>,
    pub(super) bit_fields: BitFields,
}

impl Layout<'_> {
    /// All bytes of all elements, strides aside; `None` if that is more than 2^63 - 1, as in NumPy.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let elements = self
            .shape
            .iter()
            .try_fold(1_i64, |elements, extent| elements.checked_mul((*extent).try_into().ok()?))?;
        let bytes = match self.packed_bits() {
            Some(bits) => (i128::from(elements) * i128::from(bits) + 7) / 8,
            None => i128::from(elements) * i128::from(self.typestr.size_bytes()),
        };
        i64::try_from(bytes).ok()?.try_into().ok()
    }

    /// The lowest and the highest byte relative to the pointer; `None` if there is no byte, or none
    /// that 128 bits reach.
    pub(super) fn offsets(&self) -> Option<RangeInclusive<i128>> {
        let bytes = i128::from(self.size_bytes()?);
        if bytes == 0 {
            return None;
        }
        let Some(strides) = self.strides else { return Some(0..=bytes - 1) };
        let (mut low, mut high) = (0_i128, i128::from(self.typestr.size_bytes()) - 1);
        for (extent, stride) in self.shape.iter().zip(strides) {
            let reach = i128::from(*extent - 1) * i128::from(*stride);
            let side = if reach < 0 { &mut low } else { &mut high };
            *side = side.checked_add(reach)?;
        }
        Some(low..=high)
    }

    /// The bits of an element that need not begin at a byte.
    fn packed_bits(&self) -> Option<u32> {
        let packed = self.typestr.kind == ElementKind::BitField
            && self.bit_fields == BitFields::Packed
            && self.strides.is_none();
        packed.then_some(self.typestr.count)
    }
}

/// The strides of C order. Those of an array without elements mean nothing and may be cut off.
fn c_strides(shape: &[u64], element_bytes: u64) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut step = i64::try_from(element_bytes).unwrap_or(i64::MAX);
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.saturating_mul((*extent).try_into().unwrap_or(i64::MAX));
    }
    strides
}

/// Whether `axes`, fastest first, follow each other without gaps.
fn contiguous(axes: impl Iterator<Item = (u64, i64)>, element_bytes: u64) -> bool {
    let mut step = i128::from(element_bytes);
    for (extent, stride) in axes.filter(|(extent, _)| *extent != 1) {
        if i128::from(stride) != step {
            return false;
        }
        step = step.saturating_mul(extent.into());
    }
    true
}
