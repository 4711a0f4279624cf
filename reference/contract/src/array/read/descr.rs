//! The entry `descr`, and the types in it.

use std::collections::BTreeSet;

use super::KnownEntries;
use super::quote::{quote, quote_text};
use super::reader::{Number, Reader};
use crate::array::fields::record_bytes;
use crate::array::{
    ByteOrder, Content, DefectKind, Description, Element, ElementKind, Field, Typestr, TypestrError,
};

/// Records in records: more than anybody makes, few enough for the stack.
const NESTED: usize = 16;

/// The type of an element that lies in device memory.
pub(super) fn element(typestr: &str) -> Result<Typestr, (DefectKind, String)> {
    let quoted = quote_text(typestr);
    let parsed: Typestr = typestr.parse().map_err(|bad| {
        let kind = match bad {
            TypestrError::Order
            | TypestrError::ElementKind
            | TypestrError::NoCount
            | TypestrError::Rest => DefectKind::TypestrGrammar,
            TypestrError::Count(..) => DefectKind::TypestrCount,
            TypestrError::Unit => DefectKind::TypestrUnit,
        };
        (kind, format!("`{quoted}` is no typestr: {bad}"))
    })?;
    if parsed.kind == ElementKind::Object {
        let message = format!("`{quoted}` are Python objects, which no device memory holds");
        return Err((DefectKind::TypestrObject, message));
    }
    if parsed.order == ByteOrder::None && parsed.order_matters() {
        let message =
            format!("`{quoted}` leaves the order of its bytes open: `<` or `>` belongs before it");
        return Err((DefectKind::TypestrNoOrder, message));
    }
    Ok(parsed)
}

impl Reader<'_> {
    /// The inner `None`: not said.
    #[expect(clippy::option_option, reason = "a broken entry is not one that was left out")]
    pub(super) fn descr(
        &mut self,
        known: &KnownEntries,
        typestr: Option<Typestr>,
    ) -> Option<Option<Vec<Field>>> {
        let Some(value) = known.get("descr") else { return Some(None) };
        let fields = self.record(value, "descr", 0)?;
        let (bytes, said) = (record_bytes(&fields), typestr.map(|typestr| typestr.size_bytes()));
        if said.is_some_and(|said| bytes != Some(said)) {
            let bytes = bytes.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
            let message = format!(
                "its fields take {bytes} bytes, and the typestr says {}",
                said.unwrap_or(0)
            );
            self.report(DefectKind::DescrSize, "descr", message);
        }
        Some(Some(fields))
    }

    fn record(&mut self, value: &Description, path: &str, depth: usize) -> Option<Vec<Field>> {
        let items = match &value.content {
            Content::List(items) if items.truncated == 0 && depth < NESTED => items,
            Content::List(_) | Content::NotCarried => return self.not_carried(path),
            _ => {
                self.report(
                    DefectKind::DescrNotList,
                    path,
                    format!("{} is not a list", quote(value)),
                );
                return None;
            }
        };
        let mut names = BTreeSet::new();
        let fields = items.carried.iter().enumerate().map(|(index, item)| {
            let path = format!("{path}[{index}]");
            let field = self.field(item, &path, depth)?;
            self.unique(&mut names, &field, &path);
            Some(field)
        });
        fields.collect::<Vec<_>>().into_iter().collect()
    }

    fn unique(&mut self, names: &mut BTreeSet<String>, field: &Field, path: &str) {
        for name in [Some(&field.name), field.title.as_ref()].into_iter().flatten() {
            if !name.is_empty() && !names.insert(name.clone()) {
                let message = format!("the name `{}` is there twice", quote_text(name));
                self.report(DefectKind::DescrNameTwice, path, message);
            }
        }
    }

    fn field(&mut self, value: &Description, path: &str, depth: usize) -> Option<Field> {
        let parts = match &value.content {
            Content::Tuple(items) if items.truncated == 0 => items.carried.as_slice(),
            Content::NotCarried => return self.not_carried(path),
            _ => &[],
        };
        let (name, element, shape) = match parts {
            [name, element] => (name, element, None),
            [name, element, shape] => (name, element, Some(shape)),
            _ => {
                let message =
                    format!("{} is not a tuple of name, type and perhaps shape", quote(value));
                self.report(DefectKind::DescrField, path, message);
                return None;
            }
        };
        let (name, element) = (self.name(name, path), self.field_type(element, path, depth));
        let shape = shape.map_or(Some(Vec::new()), |shape| self.field_shape(shape, path));
        let ((title, name), element, shape) = (name?, element?, shape?);
        Some(Field { name, title, element, shape })
    }

    /// Title and name.
    fn name(&mut self, value: &Description, path: &str) -> Option<(Option<String>, String)> {
        match &value.content {
            Content::Str(name) => return Some((None, name.clone())),
            Content::NotCarried => return self.not_carried(path),
            Content::Tuple(pair) => match pair.carried.as_slice() {
                [
                    Description { content: Content::Str(title), .. },
                    Description { content: Content::Str(name), .. },
                ] if pair.truncated == 0 && !name.is_empty() => {
                    return Some((Some(title.clone()), name.clone()));
                }
                _ => (),
            },
            _ => (),
        }
        let message = format!("{} is neither a str nor a tuple of title and name", quote(value));
        self.report(DefectKind::DescrName, path, message);
        None
    }

    fn field_type(&mut self, value: &Description, path: &str, depth: usize) -> Option<Element> {
        match &value.content {
            Content::List(_) => self.record(value, path, depth + 1).map(Element::Record),
            Content::NotCarried => self.not_carried(path),
            Content::Str(typestr) => match element(typestr) {
                Ok(typestr) => Some(Element::Scalar(typestr)),
                Err((kind, message)) => {
                    let object = kind == DefectKind::TypestrObject;
                    let kind =
                        if object { DefectKind::DescrObject } else { DefectKind::DescrTypestr };
                    self.report(kind, path, message);
                    None
                }
            },
            _ => {
                self.report(
                    DefectKind::DescrType,
                    path,
                    format!("{} is neither a typestr nor a list", quote(value)),
                );
                None
            }
        }
    }

    /// Extents as NumPy takes them: at most 2^31 - 1.
    fn field_shape(&mut self, value: &Description, path: &str) -> Option<Vec<u32>> {
        let items = self.tuple(value, path, DefectKind::DescrShape)?;
        let extents = items.carried.iter().map(|item| {
            let Number(extent) =
                self.integer(item, path, DefectKind::DescrShape, DefectKind::DescrShape)?;
            let extent = u32::try_from(extent).ok().filter(|extent| *extent <= i32::MAX as u32);
            if extent.is_none() {
                let message = format!("{} is no extent from 0 to 2^31 - 1", quote(item));
                self.report(DefectKind::DescrShape, path, message);
            }
            extent
        });
        let extents: Option<Vec<u32>> = extents.collect::<Vec<_>>().into_iter().collect();
        if items.truncated > 0 { self.not_carried(path) } else { extents }
    }
}
