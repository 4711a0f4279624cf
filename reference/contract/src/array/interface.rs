//! A valid array.

use strum::{FromRepr, VariantArray};

use super::{BitFields, Defect, Description, Field, Interpretation, Typestr, fields, read};
use crate::{DevicePtr, StreamHandle};

/// An array as an export describes it. Only [`ArrayInterface::read`] makes one, so it is always
/// valid: every field has its type and range, sizes do not overflow, and every element lies in the
/// address space.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayInterface {
    pub(super) version: Version,
    pub(super) shape: Vec<u64>,
    pub(super) typestr: Typestr,
    pub(super) data: DevicePtr,
    pub(super) read_only: bool,
    pub(super) strides: Option<Vec<i64>>,
    pub(super) descr: Option<Vec<Field>>,
    pub(super) mask: Option<Box<ArrayInterface>>,
    pub(super) stream: Stream,
    pub(super) bit_fields: BitFields,
}

/// A version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromRepr, VariantArray)]
#[repr(u8)]
pub enum Version {
    /// As first described; without masks and streams.
    V0 = 0,
    /// With masks.
    V1 = 1,
    /// With pointer 0 for arrays of no size.
    V2 = 2,
    /// With streams.
    V3 = 3,
}

/// What the entry `stream` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// None or absent: there is nothing to wait for.
    #[default]
    None,
    /// 1: the legacy default stream.
    Legacy,
    /// 2: a per-thread default stream. The text does not say of which thread.
    PerThread,
    /// Any other: a `cudaStream_t`.
    Handle(u64),
}

impl ArrayInterface {
    /// Reads the value of an object's `__cuda_array_interface__`, with the text as
    /// [`Interpretation::default`] reads it.
    ///
    /// # Errors
    /// Every defect of the description, in the order of the entries in the text.
    pub fn read(description: &Description) -> Result<Self, Vec<Defect>> {
        Self::read_with(description, &Interpretation::default())
    }

    /// As [`ArrayInterface::read`], with another interpretation of what the text leaves open.
    ///
    /// # Errors
    /// As [`ArrayInterface::read`].
    pub fn read_with(
        description: &Description,
        interpretation: &Interpretation,
    ) -> Result<Self, Vec<Defect>> {
        read::interface(description, interpretation)
    }

    /// As [`ArrayInterface::read_with`], of an object that is described with its attribute, or with
    /// what became of it.
    ///
    /// # Errors
    /// As [`ArrayInterface::read`], and what is wrong with the object itself.
    pub fn read_object(
        object: &Description,
        interpretation: &Interpretation,
    ) -> Result<Self, Vec<Defect>> {
        read::object(object, interpretation)
    }

    /// The description that reads back as this array.
    #[must_use]
    pub fn describe(&self) -> Description {
        let ints = |values: &mut dyn Iterator<Item = i128>| {
            Description::tuple(values.map(Description::int))
        };
        let mut entries = vec![
            ("shape", ints(&mut self.shape.iter().map(|extent| i128::from(*extent)))),
            ("typestr", Description::str(self.typestr.to_string())),
            (
                "data",
                Description::tuple([
                    Description::int(self.data.0),
                    Description::bool(self.read_only),
                ]),
            ),
            ("version", Description::int(self.version.number())),
        ];
        if let Some(strides) = &self.strides {
            entries.push(("strides", ints(&mut strides.iter().map(|stride| i128::from(*stride)))));
        }
        if let Some(fields) = &self.descr {
            entries.push(("descr", fields::describe(fields)));
        }
        if let Some(mask) = &self.mask {
            entries.push(("mask", Description::exporter("Mask", mask.describe())));
        }
        if let Some(value) = self.stream.value() {
            entries.push(("stream", Description::int(value)));
        }
        Description::dict(entries)
    }

    /// The version that it follows.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Elements along each axis, each at most 2^63 - 1.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of an element.
    #[must_use]
    pub fn typestr(&self) -> Typestr {
        self.typestr
    }

    /// The address of the element with index 0 on every axis.
    #[must_use]
    pub fn data(&self) -> DevicePtr {
        self.data
    }

    /// Whether nobody may write to it.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.read_only
    }

    /// Bytes from an element to the next along each axis, if they were said.
    #[must_use]
    pub fn strides(&self) -> Option<&[i64]> {
        self.strides.as_deref()
    }

    /// The fields, if they were said.
    #[must_use]
    pub fn descr(&self) -> Option<&[Field]> {
        self.descr.as_deref()
    }

    /// Which elements are valid: those whose element here is true. `None`: all.
    #[must_use]
    pub fn mask(&self) -> Option<&ArrayInterface> {
        self.mask.as_deref()
    }

    /// What has to be waited for before the data are used.
    #[must_use]
    pub fn stream(&self) -> Stream {
        self.stream
    }
}

impl Version {
    /// The newest that the text describes.
    pub const NEWEST: Self = Self::V3;

    /// Its number, as the entry `version` has it.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The version with this number.
    #[must_use]
    pub fn of(number: i128) -> Option<Self> {
        Self::from_repr(u8::try_from(number).ok()?)
    }
}

impl Stream {
    /// The integer that stands for it in the interface; `None` for none. 0 is never one.
    #[must_use]
    pub fn value(self) -> Option<u64> {
        self.handle().map(|handle| handle.0)
    }

    /// The stream as the driver takes it.
    #[must_use]
    pub fn handle(self) -> Option<StreamHandle> {
        match self {
            Self::None => None,
            Self::Legacy => Some(StreamHandle::LEGACY),
            Self::PerThread => Some(StreamHandle::PER_THREAD),
            Self::Handle(handle) => Some(StreamHandle(handle)),
        }
    }

    /// The stream that a driver's handle other than 0 means.
    #[must_use]
    pub fn of(handle: StreamHandle) -> Option<Self> {
        match handle {
            StreamHandle::DEFAULT => None,
            StreamHandle::LEGACY => Some(Self::Legacy),
            StreamHandle::PER_THREAD => Some(Self::PerThread),
            StreamHandle(handle) => Some(Self::Handle(handle)),
        }
    }
}
