//! The entries `shape` and `strides`.

use super::KnownEntries;
use super::quote::quote;
use super::reader::{Number, Reader};
use crate::array::{
    ArrayInterface, Content, DefectKind, Description, ExplicitContiguous, Items, Version,
};

/// As in NumPy.
const AXES: usize = 64;

impl Reader<'_> {
    pub(super) fn shape(&mut self, known: &KnownEntries) -> Option<Vec<u64>> {
        let value = self.required(known, "shape", DefectKind::ShapeMissing)?;
        let items = self.tuple(value, "shape", DefectKind::ShapeNotTuple)?;
        if items.truncated > 0 || items.carried.len() > AXES {
            self.report(
                DefectKind::TooManyAxes,
                "shape",
                format!("there are more than {AXES} axes"),
            );
            return None;
        }
        let extents = items.carried.iter().enumerate().map(|(axis, item)| self.extent(axis, item));
        // Every item is looked at before one that is missing ends it.
        extents.collect::<Vec<_>>().into_iter().collect()
    }

    fn extent(&mut self, axis: usize, item: &Description) -> Option<u64> {
        let path = format!("shape[{axis}]");
        let Number(number) =
            self.integer(item, &path, DefectKind::ExtentNotInt, DefectKind::ExtentBool)?;
        match i64::try_from(number) {
            Ok(extent) if extent >= 0 => return Some(extent.unsigned_abs()),
            _ if number < 0 => self.report(
                DefectKind::ExtentNegative,
                path,
                format!("{} is negative", quote(item)),
            ),
            _ => {
                let message = format!("{} is more than 2^63 - 1 elements", quote(item));
                self.report(DefectKind::ExtentTooLarge, path, message);
            }
        }
        None
    }

    /// The inner `None`: not said.
    #[expect(clippy::option_option, reason = "a broken entry is not one that was left out")]
    pub(super) fn strides(
        &mut self,
        known: &KnownEntries,
        shape: Option<&[u64]>,
    ) -> Option<Option<Vec<i64>>> {
        let Some(value) = known.get("strides").filter(|value| value.content != Content::None)
        else {
            return Some(None);
        };
        let items = self.tuple(value, "strides", DefectKind::StridesNotTuple)?;
        let length = items.carried.len() as u64 + items.truncated;
        let agrees = shape.is_none_or(|shape| shape.len() as u64 == length);
        if !agrees {
            let axes = shape.map_or(0, <[u64]>::len);
            let message = format!("their number is {length}, and the shape has {axes}");
            self.report(DefectKind::StridesLength, "strides", message);
        }
        let strides =
            items.carried.iter().take(AXES).enumerate().map(|(axis, item)| self.stride(axis, item));
        let strides: Option<Vec<i64>> = strides.collect::<Vec<_>>().into_iter().collect();
        strides.filter(|_| agrees).map(Some)
    }

    fn stride(&mut self, axis: usize, item: &Description) -> Option<i64> {
        let path = format!("strides[{axis}]");
        let Number(number) =
            self.integer(item, &path, DefectKind::StrideNotInt, DefectKind::StrideBool)?;
        let stride = i64::try_from(number).ok();
        if stride.is_none() {
            self.report(
                DefectKind::StrideTooLarge,
                path,
                format!("{} bytes do not fit 64 bits", quote(item)),
            );
        }
        stride
    }

    /// Versions 0 and 1 say nothing about the strides of C-contiguous arrays.
    pub(super) fn explicit_strides(&mut self, made: &ArrayInterface) {
        let refused = self.interpretation.explicit_contiguous == ExplicitContiguous::Refused
            && made.version >= Version::V2;
        if refused && made.strides.is_some() && made.is_c_contiguous() {
            let message =
                "the strides are those of a C-contiguous array, which leaves them out".to_owned();
            self.report(DefectKind::StridesExplicit, "strides", message);
        }
    }

    pub(super) fn tuple<'d>(
        &mut self,
        value: &'d Description,
        path: &str,
        not_tuple: DefectKind,
    ) -> Option<&'d Items> {
        match &value.content {
            Content::Tuple(items) => Some(items),
            Content::NotCarried => self.not_carried(path),
            _ => {
                self.report(not_tuple, path, format!("{} is not a tuple", quote(value)));
                None
            }
        }
    }
}
