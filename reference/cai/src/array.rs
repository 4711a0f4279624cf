//! The array that exports itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use allocert_contract::array::Typestr;
use allocert_cuda::{Driver, Span, Stream};

use crate::accesses::{Accesses, Bytes};
use crate::pieces::Pieces;
use crate::view::View;
use crate::{Error, Result};

/// Which axis is the fastest in a new array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryOrder {
    /// The last.
    #[default]
    C,
    /// The first.
    Fortran,
}

/// An array in device memory, or a view of one. Work on it is put into streams and not waited for.
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) driver: Driver,
    pub(crate) base: Arc<Base>,
    pub(crate) view: View,
    pub(crate) typestr: Typestr,
    pub(crate) read_only: bool,
    pub(crate) mask: Option<Arc<Array>>,
    /// The stream to export, where the user named one.
    pub(crate) stream: Option<Stream>,
}

/// What all views of an array have in common.
#[derive(Debug)]
pub(crate) struct Base {
    /// `None` for an array without bytes.
    memory: Option<Span>,
    accesses: Mutex<Accesses>,
    /// Every stream that was exported: they live as long as the array.
    pub(crate) exported: Mutex<Vec<Stream>>,
    /// The array's own, made when work in several streams has to be joined.
    own: Mutex<Option<Stream>>,
}

impl Array {
    /// An array of uninitialised elements, allocated in the current context unless it has no bytes.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a size that no array has, and what the driver answers.
    pub fn new(
        driver: Driver,
        shape: &[u64],
        typestr: Typestr,
        order: MemoryOrder,
    ) -> Result<Self> {
        let (view, size_bytes) = View::whole(shape, typestr, order)?;
        let memory = if size_bytes == 0 { None } else { Some(driver.span_alloc(size_bytes)?) };
        let base = Base {
            memory,
            accesses: Mutex::default(),
            exported: Mutex::default(),
            own: Mutex::default(),
        };
        Ok(Self {
            driver,
            base: Arc::new(base),
            view,
            typestr,
            read_only: false,
            mask: None,
            stream: None,
        })
    }

    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.view.shape
    }

    /// In bytes. Along an axis of one element, and in an array without elements, they mean nothing.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.view.strides
    }

    #[must_use]
    pub fn typestr(&self) -> Typestr {
        self.typestr
    }

    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    #[must_use]
    pub fn mask(&self) -> Option<&Arc<Self>> {
        self.mask.as_ref()
    }

    /// The address of the element with index 0 on every axis; 0 if there is no byte.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.bytes()
            .map_or(0, |_| self.base.memory.as_ref().map_or(0, Span::pointer) + self.view.offset)
    }

    /// The elements `first`, `first + step` and so on along an axis, `count` of them. A negative
    /// step goes backwards.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if one of them does not exist.
    pub fn take(&self, axis: usize, first: u64, count: u64, step: i64) -> Result<Self> {
        self.viewed(&|view| view.take(axis, first, count, step))
    }

    /// The elements with that index on an axis, which is gone then.
    ///
    /// # Errors
    /// As [`Array::take`].
    pub fn at(&self, axis: usize, index: u64) -> Result<Self> {
        self.viewed(&|view| view.at(axis, index))
    }

    /// The axes in another order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if `axes` does not name each axis once.
    pub fn transpose(&self, axes: &[usize]) -> Result<Self> {
        self.viewed(&|view| view.transpose(axes))
    }

    /// Repeated to that shape, as NumPy does it, with strides of 0.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the shapes do not allow it.
    pub fn broadcast(&self, shape: &[u64]) -> Result<Self> {
        self.viewed(&|view| view.broadcast(shape))
    }

    /// The same data, which nobody may write through this view or one of it.
    #[must_use]
    pub fn as_read_only(&self) -> Self {
        Self { read_only: true, ..self.clone() }
    }

    /// The same data, of which the elements are valid where those of `mask` are true.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the mask cannot be broadcast to the array's shape.
    pub fn masked(&self, mask: Self) -> Result<Self> {
        mask.broadcast(self.shape())?;
        Ok(Self { mask: Some(Arc::new(mask)), ..self.clone() })
    }

    /// The same data, exported with that stream if there is work to wait for. Whoever names a
    /// foreign stream sees to it that it lives as long as the array.
    #[must_use]
    pub fn on(&self, stream: Stream) -> Self {
        Self { stream: Some(stream), ..self.clone() }
    }

    /// Sets every byte, in order of `stream`.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::NotSupported`] for elements in too many pieces, and what the
    /// driver answers.
    pub fn fill(&self, value: u8, stream: &Stream) -> Result<()> {
        self.writable()?;
        let Some(bytes) = self.bytes() else { return Ok(()) };
        let parts = self.parts()?;
        self.accessing(stream, bytes, true, |driver| {
            parts.iter().try_for_each(|part| Ok(driver.memset_d8_async(part, value, stream)?))
        })
    }

    /// Copies the elements of an array of the same shape and type, in order of `stream`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for another shape, type or layout, and as [`Array::fill`].
    pub fn copy_from(&self, from: &Self, stream: &Stream) -> Result<()> {
        self.writable()?;
        if (from.shape(), from.typestr) != (self.shape(), self.typestr) {
            return Err(Error::InvalidValue(
                "only an array of the same shape and type can be copied".to_owned(),
            ));
        }
        let (Some(bytes), Some(read)) = (self.bytes(), from.bytes()) else { return Ok(()) };
        let (to, source) = (self.parts()?, from.parts()?);
        if to.len() != source.len() {
            return Err(Error::InvalidValue(
                "only an array of the same layout can be copied".to_owned(),
            ));
        }
        // One after the other: the two may be views of one array.
        from.accesses().order(self.driver, stream, read, false)?;
        self.accesses().order(self.driver, stream, bytes, true)?;
        let copied = to
            .iter()
            .zip(&source)
            .try_for_each(|(to, from)| self.driver.memcpy_dtod_async(to, from, stream));
        from.accesses().add(self.driver, stream, read, false)?;
        self.accesses().add(self.driver, stream, bytes, true)?;
        Ok(copied?)
    }

    /// Sets the elements, given in C order without gaps. Waits until it is done.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for another number of bytes, and as [`Array::fill`].
    pub fn write(&self, elements: &[u8]) -> Result<()> {
        self.writable()?;
        let parts = if self.bytes().is_some() { self.parts()? } else { Vec::new() };
        let size_bytes: u64 = parts.iter().map(Span::size_bytes).sum();
        if size_bytes != elements.len() as u64 {
            let message = format!("the array has {size_bytes} bytes, not {}", elements.len());
            return Err(Error::InvalidValue(message));
        }
        self.synchronize()?;
        let mut rest = elements;
        for part in &parts {
            let (now, later) =
                rest.split_at(usize::try_from(part.size_bytes()).unwrap_or(rest.len()));
            self.driver.span_write(part, now)?;
            rest = later;
        }
        Ok(())
    }

    /// The elements in C order without gaps. Waits for all work on the array.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for elements in too many pieces, and what the driver answers.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.synchronize()?;
        let parts = if self.bytes().is_some() { self.parts()? } else { Vec::new() };
        let mut elements = Vec::new();
        for part in &parts {
            let begin = elements.len();
            elements.resize(begin + usize::try_from(part.size_bytes()).unwrap_or(0), 0);
            self.driver.span_read(&mut elements[begin..], part)?;
        }
        Ok(elements)
    }

    /// Waits for all work on the array and its views, and on their exports as far as their streams
    /// say.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.accesses().wait(self.driver)?)
    }

    /// From the lowest to the highest byte in the allocation; `None` if there is none.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        let element_bytes = self.typestr.size_bytes();
        if element_bytes == 0 || self.view.shape.contains(&0) {
            return None;
        }
        let (mut first, mut last) = (self.view.offset, self.view.offset + element_bytes - 1);
        for (extent, stride) in self.view.shape.iter().zip(&self.view.strides) {
            let reach = (extent - 1) * stride.unsigned_abs();
            if *stride < 0 { first -= reach } else { last += reach }
        }
        Some(Bytes { first, last })
    }

    pub(crate) fn memory(&self) -> Option<&Span> {
        self.base.memory.as_ref()
    }

    pub(crate) fn accesses(&self) -> MutexGuard<'_, Accesses> {
        self.base.accesses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream that joins others, which nobody else uses.
    pub(crate) fn own_stream(&self) -> Result<Stream> {
        let mut own = self.base.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(self.driver.stream_create()?);
        }
        own.clone().ok_or(Error::NotSupported("the array has no stream"))
    }

    /// The same view of the data and of its mask, which is not smaller than the data here.
    fn viewed(&self, change: &dyn Fn(&View) -> Result<View>) -> Result<Self> {
        let mask = match &self.mask {
            Some(mask) => Some(Arc::new(mask.broadcast(self.shape())?.viewed(change)?)),
            None => None,
        };
        Ok(Self { view: change(&self.view)?, mask, ..self.clone() })
    }

    fn writable(&self) -> Result<()> {
        if self.read_only { Err(Error::ReadOnly) } else { Ok(()) }
    }

    /// The elements in C order.
    fn parts(&self) -> Result<Vec<Span>> {
        let View { shape, strides, offset } = &self.view;
        let pieces = Pieces::new(shape, strides, self.typestr.size_bytes())?;
        let part = |step: i64| {
            let begin = offset.wrapping_add_signed(step);
            self.memory().and_then(|memory| memory.part(begin..begin + pieces.size_bytes))
        };
        let parts: Option<Vec<Span>> = pieces.offsets().map(part).collect();
        parts.ok_or(Error::NotSupported("the view leaves its allocation"))
    }

    fn accessing(
        &self,
        stream: &Stream,
        bytes: Bytes,
        writes: bool,
        work: impl FnOnce(Driver) -> Result<()>,
    ) -> Result<()> {
        let mut accesses = self.accesses();
        accesses.order(self.driver, stream, bytes, writes)?;
        let done = work(self.driver);
        // Also where some of the work failed: the rest is in the stream.
        accesses.add(self.driver, stream, bytes, writes)?;
        done
    }
}
