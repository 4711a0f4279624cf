//! What the array says of itself.

use std::sync::PoisonError;

use allocert_contract::array::{ArrayInterface, Description, Version};
use allocert_cuda::{Live, Stream};

use crate::{Array, Error, Result};

/// How an array says what it is.
#[derive(Clone, Debug)]
pub struct Export {
    pub version: Version,
    /// Say the strides of C-contiguous arrays as well.
    pub explicit_strides: bool,
    /// Never name a stream: the user sees to the order of all work. Off unless a user asks for it.
    pub without_stream: bool,
    /// The fields of a record, as a list of the array interface.
    pub descr: Option<Description>,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            version: Version::NEWEST,
            explicit_strides: false,
            without_stream: false,
            descr: None,
        }
    }
}

impl Array {
    /// The interface, after which waiting for its stream is waiting for all work on the data.
    /// Versions before 3 have no stream: the work is waited for here.
    ///
    /// # Errors
    /// [`Error::Defects`] for what the version or the element type does not allow (a mask in
    /// version 0, fields of another size), and what the driver answers.
    pub fn export(&self, how: &Export) -> Result<Live> {
        let mask = match self.mask() {
            Some(mask) => {
                Some(mask.export(&Export { descr: None, ..how.clone() })?.array().describe())
            }
            None => None,
        };
        let checked = |stream: Option<&Stream>| {
            ArrayInterface::read(&self.describe(how, mask.clone(), stream)).map_err(Error::Defects)
        };
        // Nothing is ordered for what is not valid.
        checked(None)?;
        let stream = if how.without_stream { None } else { self.joined(how.version)? };
        self.lend(checked(stream.as_ref())?)
            .ok_or(Error::NotSupported("the view leaves its allocation"))
    }

    fn describe(
        &self,
        how: &Export,
        mask: Option<Description>,
        stream: Option<&Stream>,
    ) -> Description {
        let mut entries = vec![
            (
                "shape",
                Description::tuple(self.shape().iter().map(|extent| Description::int(*extent))),
            ),
            ("typestr", Description::str(self.typestr.to_string())),
            (
                "data",
                Description::tuple([
                    Description::int(self.pointer()),
                    Description::bool(self.read_only),
                ]),
            ),
            ("version", Description::int(how.version.number())),
        ];
        if how.explicit_strides || !self.is_c_contiguous() {
            let strides = self.strides().iter().map(|stride| Description::int(*stride));
            entries.push(("strides", Description::tuple(strides)));
        }
        if let Some(descr) = &how.descr {
            entries.push(("descr", descr.clone()));
        }
        if let Some(mask) = mask {
            entries.push(("mask", Description::exporter("Array", mask)));
        }
        if let Some(stream) = stream {
            entries.push(("stream", Description::int(stream.handle().0)));
        }
        Description::dict(entries)
    }

    /// The stream that follows all work on the data; `None` if there is none, or if it has been
    /// waited for.
    fn joined(&self, version: Version) -> Result<Option<Stream>> {
        let Some(bytes) = self.bytes() else { return Ok(None) };
        let (driver, writes) = (self.driver, !self.read_only);
        let mut accesses = self.accesses();
        if !accesses.any(bytes, writes) {
            return Ok(None);
        }
        if version < Version::V3 {
            accesses.wait(driver)?;
            return Ok(None);
        }
        let stream = match &self.stream {
            Some(named) => named.clone(),
            None => accesses.only_stream(bytes, writes).map_or_else(|| self.own_stream(), Ok)?,
        };
        accesses.order(driver, &stream, bytes, writes)?;
        // What consumers do follows in that stream.
        accesses.add(driver, &stream, bytes, writes)?;
        self.remember(&stream);
        Ok(Some(stream))
    }

    fn remember(&self, stream: &Stream) {
        let mut exported = self.base.exported.lock().unwrap_or_else(PoisonError::into_inner);
        if !exported.iter().any(|known| known.handle() == stream.handle()) {
            exported.push(stream.clone());
        }
    }

    fn lend(&self, array: ArrayInterface) -> Option<Live> {
        let (mut memory, mut streams) = (Vec::new(), Vec::new());
        let mut next = Some(self);
        while let Some(one) = next {
            memory.extend(one.memory().cloned());
            streams.extend(
                one.base.exported.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned(),
            );
            next = one.mask().map(AsRef::as_ref);
        }
        Live::within(array, memory, streams)
    }

    fn is_c_contiguous(&self) -> bool {
        let mut step = self.typestr.size_bytes();
        self.bytes().is_none()
            || self.shape().iter().zip(self.strides()).rev().all(|(extent, stride)| {
                let next = *extent == 1 || i128::from(*stride) == i128::from(step);
                step = step.saturating_mul(*extent);
                next
            })
    }
}
