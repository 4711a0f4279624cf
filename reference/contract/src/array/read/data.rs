//! The entry `data`, and where it puts the elements.

use super::KnownEntries;
use super::quote::quote;
use super::reader::{Number, Reader};
use crate::array::layout::Layout;
use crate::array::{Content, DefectKind, Description, Typestr, Version, ZeroSize};

impl Reader<'_> {
    /// The pointer and the read-only flag.
    pub(super) fn data(&mut self, known: &KnownEntries) -> Option<(u64, bool)> {
        let value = self.required(known, "data", DefectKind::DataMissing)?;
        let items = self.tuple(value, "data", DefectKind::DataNotTuple)?;
        match (items.carried.as_slice(), items.truncated) {
            ([pointer, read_only], 0) => {
                let (pointer, read_only) = (self.address(pointer), self.flag(read_only));
                Some((pointer?, read_only?))
            }
            (some, more) => {
                let message = format!(
                    "there are {} items, not a pointer and a flag",
                    some.len() as u64 + more
                );
                self.report(DefectKind::DataLength, "data", message);
                None
            }
        }
    }

    fn address(&mut self, item: &Description) -> Option<u64> {
        let Number(number) =
            self.integer(item, "data[0]", DefectKind::PointerNotInt, DefectKind::PointerBool)?;
        let address = u64::try_from(number).ok();
        if address.is_none() {
            self.report(
                DefectKind::PointerRange,
                "data[0]",
                format!("{} is no address of 64 bits", quote(item)),
            );
        }
        address
    }

    fn flag(&mut self, item: &Description) -> Option<bool> {
        match &item.content {
            Content::Bool(read_only) => Some(*read_only),
            Content::NotCarried => self.not_carried("data[1]"),
            _ => {
                let message =
                    format!("{} is not a bool: it says whether the data is read-only", quote(item));
                self.report(DefectKind::ReadOnlyNotBool, "data[1]", message);
                None
            }
        }
    }

    /// Zero-size arrays have pointer 0 from version 2 on, arrays with bytes another one.
    pub(super) fn pointer(
        &mut self,
        rules: Version,
        shape: &[u64],
        typestr: Option<Typestr>,
        pointer: u64,
    ) {
        let no_elements = shape.contains(&0);
        let no_bytes = no_elements || typestr.is_some_and(|typestr| typestr.size_bytes() == 0);
        let zero_size =
            if self.interpretation.zero_size == ZeroSize::Bytes { no_bytes } else { no_elements };
        if zero_size && pointer != 0 && rules >= Version::V2 {
            let message =
                format!("the array has no elements, and its pointer is {pointer:#x} instead of 0");
            self.report(DefectKind::ZeroSizePointer, "data[0]", message);
        }
        // A broken typestr may be one without bytes.
        if !no_bytes && pointer == 0 && typestr.is_some() {
            let message = "the array has elements, and its pointer is 0".to_owned();
            self.report(DefectKind::NullPointer, "data[0]", message);
        }
    }

    /// Every byte of every element has an address, and the array has a size.
    pub(super) fn addresses(&mut self, layout: &Layout<'_>, pointer: u64) {
        let Some(size_bytes) = layout.size_bytes() else {
            let message = "all elements together are more than 2^63 - 1 bytes".to_owned();
            return self.report(DefectKind::SizeOverflow, "shape", message);
        };
        if size_bytes == 0 {
            return;
        }
        let at = |offset: &i128| u64::try_from(i128::from(pointer).checked_add(*offset)?).ok();
        let inside = layout
            .offsets()
            .is_some_and(|offsets| at(offsets.start()).and(at(offsets.end())).is_some());
        if !inside {
            let message =
                format!("elements lie outside of the address space, seen from {pointer:#x}");
            self.report(DefectKind::OutsideAddresses, "data[0]", message);
        }
    }
}
