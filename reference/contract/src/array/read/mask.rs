//! The entry `mask`: another array.

use super::KnownEntries;
use super::quote::{quote, quote_text};
use super::reader::Reader;
use crate::array::{ArrayInterface, Content, DefectKind, Description, Version};

/// Masks of masks: more than anybody makes, few enough for the stack.
const MASKS: usize = 8;

impl Reader<'_> {
    /// The inner `None`: no mask.
    #[expect(clippy::option_option, reason = "a broken entry is not one that was left out")]
    pub(super) fn mask(
        &mut self,
        known: &KnownEntries,
        rules: Version,
        shape: Option<&[u64]>,
    ) -> Option<Option<ArrayInterface>> {
        let Some(value) = known.get("mask").filter(|value| value.content != Content::None) else {
            return Some(None);
        };
        if rules == Version::V0 {
            let message = format!("version 0 has no masks, and there is {}", quote(value));
            self.report(DefectKind::MaskInVersion0, "mask", message);
            return None;
        }
        let mask = self.mask_array(value)?;
        if shape.is_some_and(|shape| !broadcasts(&mask.shape, shape)) {
            let message = format!(
                "its shape {:?} cannot be broadcast to the data's {:?}",
                mask.shape,
                shape.unwrap_or(&[])
            );
            self.report(DefectKind::MaskNotBroadcastable, "mask", message);
        }
        Some(Some(mask))
    }

    fn mask_array(&mut self, value: &Description) -> Option<ArrayInterface> {
        let (kind, message) = match &value.content {
            Content::Exporter(_) if self.masks == MASKS => return self.not_carried("mask"),
            Content::Exporter(interface) => {
                self.masks += 1;
                let mask = self.interface(interface);
                self.masks -= 1;
                return mask;
            }
            Content::NotCarried => return self.not_carried("mask"),
            Content::Dict(_) => {
                let message =
                    "it is a dict, not None or an object that has the interface".to_owned();
                (DefectKind::MaskIsDict, message)
            }
            Content::Raised(raised) => {
                let message =
                    format!("reading its `{}` raised {}", super::ATTRIBUTE, quote_text(raised));
                (DefectKind::InterfaceRaised, message)
            }
            _ => {
                let message = format!(
                    "{} is neither None nor an object that has the interface",
                    quote(value)
                );
                (DefectKind::MaskNotExporter, message)
            }
        };
        self.report(kind, "mask", message);
        None
    }
}

/// Whether NumPy broadcasts the one shape to exactly the other.
fn broadcasts(from: &[u64], to: &[u64]) -> bool {
    let mut pairs = from.iter().rev().zip(to.iter().rev());
    from.len() <= to.len() && pairs.all(|(from, to)| *from == 1 || from == to)
}
