//! From a description to an array, or to everything that is wrong with it.
//!
//! Entries are read in an order in which each can use those before it: what a version, a shape or a
//! typestr allows is asked of them, and where they are broken themselves nothing is said twice.

mod data;
mod descr;
mod mask;
mod quote;
mod reader;
mod shape;

use std::collections::BTreeMap;

use super::layout::Layout;
use super::{
    ArrayInterface, Content, Defect, DefectKind, Description, DictSubclass, EarlyStream,
    Interpretation, LaterVersion, Stream, Typestr, Version,
};
use crate::DevicePtr;
use quote::{quote, quote_text};
use reader::{Number, Reader};

const ATTRIBUTE: &str = "__cuda_array_interface__";
const STREAM_ZERO: &str = "0 is not allowed: it may mean None, the legacy or the per-thread \
                           default stream; say None, 1 or 2";

/// The entries of one interface.
type KnownEntries = BTreeMap<String, Description>;

pub(super) fn object(
    object: &Description,
    interpretation: &Interpretation,
) -> Result<ArrayInterface, Vec<Defect>> {
    let mut reader = Reader::new(interpretation);
    match &object.content {
        Content::Exporter(description) => return interface(description, interpretation),
        Content::Raised(text) => reader.report(
            DefectKind::InterfaceRaised,
            "",
            format!("reading `{ATTRIBUTE}` raised {}", quote_text(text)),
        ),
        Content::NotCarried => reader.not_carried("").unwrap_or(()),
        _ => reader.report(
            DefectKind::NoInterface,
            "",
            format!("{} has no `{ATTRIBUTE}`", quote(object)),
        ),
    }
    Err(reader.defects)
}

pub(super) fn interface(
    description: &Description,
    interpretation: &Interpretation,
) -> Result<ArrayInterface, Vec<Defect>> {
    let mut reader = Reader::new(interpretation);
    match reader.interface(description) {
        Some(made) if reader.defects.is_empty() => Ok(made),
        _ => Err(reader.defects),
    }
}

impl Reader<'_> {
    /// `None` if a defect leaves no array; otherwise the array still is one only if there is no
    /// defect.
    fn interface(&mut self, description: &Description) -> Option<ArrayInterface> {
        let known = self.dict(description)?;
        let version = self.version(known);
        let rules = version.unwrap_or(Version::NEWEST);
        let shape = self.shape(known);
        let typestr = self.typestr(known);
        let descr = self.descr(known, typestr);
        let data = self.data(known);
        let strides = self.strides(known, shape.as_deref());
        let mask = self.mask(known, rules, shape.as_deref());
        let stream = self.stream(known, rules);
        if let (Some(shape), Some((pointer, _))) = (&shape, data) {
            self.pointer(rules, shape, typestr, pointer);
        }
        let (version, shape, typestr, descr) = (version?, shape?, typestr?, descr?);
        let ((data, read_only), strides) = (data?, strides?);
        let layout = Layout {
            shape: &shape,
            typestr,
            strides: strides.as_deref(),
            bit_fields: self.interpretation.bit_fields,
        };
        self.addresses(&layout, data);
        let made = ArrayInterface {
            version,
            shape,
            typestr,
            data: DevicePtr(data),
            read_only,
            strides,
            descr,
            mask: mask?.map(Box::new),
            stream: stream?,
            bit_fields: self.interpretation.bit_fields,
        };
        self.explicit_strides(&made);
        Some(made)
    }

    fn dict<'d>(&mut self, description: &'d Description) -> Option<&'d KnownEntries> {
        match &description.content {
            Content::Dict(entries) => {
                if description.base.is_some()
                    && self.interpretation.dict_subclass == DictSubclass::Refused
                {
                    let message =
                        format!("`{ATTRIBUTE}` is {}, not a dict itself", quote(description));
                    self.report(DefectKind::DictSubclass, "", message);
                }
                Some(&entries.known)
            }
            Content::NotCarried => self.not_carried(""),
            _ => {
                let message = format!("`{ATTRIBUTE}` is {}, not a dict", quote(description));
                self.report(DefectKind::NotDict, "", message);
                None
            }
        }
    }

    fn version(&mut self, known: &KnownEntries) -> Option<Version> {
        let value = self.required(known, "version", DefectKind::VersionMissing)?;
        let number =
            self.integer(value, "version", DefectKind::VersionNotInt, DefectKind::VersionBool)?;
        let found = Version::of(number.0);
        let later = number.0 > 3 && self.interpretation.later_version == LaterVersion::Newest;
        if found.is_none() && !later {
            self.report(
                DefectKind::VersionUnknown,
                "version",
                format!("{} is no version from 0 to 3", quote(value)),
            );
        }
        found.or(later.then_some(Version::NEWEST))
    }

    fn typestr(&mut self, known: &KnownEntries) -> Option<Typestr> {
        let value = self.required(known, "typestr", DefectKind::TypestrMissing)?;
        let text = match &value.content {
            Content::Str(text) => text,
            Content::NotCarried => return self.not_carried("typestr"),
            _ => {
                self.report(
                    DefectKind::TypestrNotStr,
                    "typestr",
                    format!("{} is not a str", quote(value)),
                );
                return None;
            }
        };
        match descr::element(text) {
            Ok(typestr) => Some(typestr),
            Err((kind, message)) => {
                self.report(kind, "typestr", message);
                None
            }
        }
    }

    fn stream(&mut self, known: &KnownEntries, rules: Version) -> Option<Stream> {
        let Some(value) = known.get("stream").filter(|value| value.content != Content::None) else {
            return Some(Stream::None);
        };
        match self.interpretation.early_stream {
            EarlyStream::Refused if rules < Version::V3 => {
                let message = format!(
                    "version {} has no streams, and there is {}",
                    rules.number(),
                    quote(value)
                );
                self.report(DefectKind::StreamEarly, "stream", message);
                return None;
            }
            EarlyStream::Ignored if rules < Version::V3 => return Some(Stream::None),
            _ => (),
        }
        let number =
            self.integer(value, "stream", DefectKind::StreamNotInt, DefectKind::StreamBool)?;
        self.handle(number, value)
    }

    fn handle(&mut self, Number(number): Number, value: &Description) -> Option<Stream> {
        let (kind, message) = match u64::try_from(number) {
            Ok(0) => (DefectKind::StreamZero, STREAM_ZERO.to_owned()),
            Ok(1) => return Some(Stream::Legacy),
            Ok(2) => return Some(Stream::PerThread),
            Ok(handle) => return Some(Stream::Handle(handle)),
            Err(_) if number < 0 => {
                let message = format!("{} is no stream: it is negative", quote(value));
                (DefectKind::StreamNegative, message)
            }
            Err(_) => {
                let message = format!("{} is no stream: it does not fit a pointer", quote(value));
                (DefectKind::StreamTooLarge, message)
            }
        };
        self.report(kind, "stream", message);
        None
    }
}
