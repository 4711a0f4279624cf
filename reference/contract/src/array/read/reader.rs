//! What all rules need: where we are, and what was found.

use std::fmt::Display;

use super::quote::quote;
use crate::array::{Content, Defect, DefectKind, Description, Interpretation};

pub(super) struct Reader<'r> {
    pub(super) interpretation: &'r Interpretation,
    pub(super) defects: Vec<Defect>,
    /// How many masks of masks we are in.
    pub(super) masks: usize,
}

/// An integer; what does not fit is the largest or the smallest.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) i128);

impl<'r> Reader<'r> {
    pub(super) fn new(interpretation: &'r Interpretation) -> Self {
        Self { interpretation, defects: Vec::new(), masks: 0 }
    }

    pub(super) fn report(&mut self, kind: DefectKind, path: impl Display, message: String) {
        let path = format!("{}{path}", "mask.".repeat(self.masks));
        self.defects.push(Defect { kind, path, message });
    }

    /// Always `None`: nothing is known of a value that was not carried.
    pub(super) fn not_carried<T>(&mut self, path: impl Display) -> Option<T> {
        let message =
            "too long or too deep to be carried here, so it could not be checked".to_owned();
        self.report(DefectKind::NotCarried, path, message);
        None
    }

    pub(super) fn required<'d>(
        &mut self,
        known: &'d super::KnownEntries,
        key: &str,
        missing: DefectKind,
    ) -> Option<&'d Description> {
        let found = known.get(key);
        if found.is_none() {
            self.report(missing, key, format!("the entry `{key}` is missing"));
        }
        found
    }

    pub(super) fn integer(
        &mut self,
        value: &Description,
        path: impl Display,
        not_int: DefectKind,
        bool: DefectKind,
    ) -> Option<Number> {
        match &value.content {
            Content::Int(number) => Some(Number(*number)),
            Content::Huge(digits) => {
                Some(Number(if digits.starts_with('-') { i128::MIN } else { i128::MAX }))
            }
            Content::Bool(_) => {
                self.report(bool, path, format!("{} stands where an int belongs", quote(value)));
                None
            }
            Content::NotCarried => self.not_carried(path),
            _ => {
                self.report(not_int, path, format!("{} is not an int", quote(value)));
                None
            }
        }
    }
}
