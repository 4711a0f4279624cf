//! An array of somebody else.

use allocert_contract::array::{ArrayInterface, ElementKind};
use allocert_cuda::{Context, Live, Span, Stream};

use crate::pieces::Pieces;
use crate::{Error, Importer, Order, Result};

/// A view of somebody else's array, alive as long as what keeps that.
#[derive(Debug)]
pub struct Imported {
    importer: Importer,
    live: Live,
}

impl Imported {
    pub(crate) fn new(importer: Importer, live: Live) -> Result<Self> {
        let bits = live.array().typestr().kind == ElementKind::BitField;
        match bits && live.array().strides().is_some() {
            true => Err(Error::NotSupported("bit fields are imported without strides only")),
            false => Ok(Self { importer, live }),
        }
    }

    #[must_use]
    pub fn array(&self) -> &ArrayInterface {
        self.live.array()
    }

    /// Which elements are valid: an array of its own, with its own stream.
    ///
    /// # Errors
    /// As [`Importer::import`].
    pub fn mask(&self) -> Result<Option<Self>> {
        self.live.mask().map(|mask| self.importer.import(mask)).transpose()
    }

    /// The elements in C order without gaps, each with its bytes in the order that the typestr
    /// says. Bit fields are as they lie.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for elements in too many pieces, and what the driver answers.
    pub fn read(&self) -> Result<Vec<u8>> {
        let Some(memory) = self.live.memory() else { return Ok(Vec::new()) };
        let parts = self.parts(&memory)?;
        in_context_of(&self.importer, &memory, |context| {
            let size_bytes = parts.iter().map(Span::size_bytes).sum();
            let copy = self.importer.driver.span_alloc(size_bytes)?;
            let stream = self.working(context, |stream| {
                pairs(&copy, &parts).try_for_each(|(copy, part)| {
                    Ok(self.importer.driver.memcpy_dtod_async(&copy?, part, stream)?)
                })
            });
            let stream = stream?;
            self.importer.driver.stream_synchronize(&stream)?;
            let mut elements = vec![0; usize::try_from(size_bytes).map_err(|_| too_large())?];
            self.importer.driver.span_read(&mut elements, &copy)?;
            Ok(elements)
        })
    }

    /// Sets the elements, given as [`Imported::read`] returns them. Does not wait until it is done.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::InvalidValue`] for another number of bytes, and as
    /// [`Imported::read`].
    pub fn write(&self, elements: &[u8]) -> Result<()> {
        self.writable()?;
        let memory = self.live.memory();
        let parts = memory.as_ref().map_or(Ok(Vec::new()), |memory| self.parts(memory))?;
        let size_bytes: u64 = parts.iter().map(Span::size_bytes).sum();
        if size_bytes != elements.len() as u64 {
            let message = format!("the array has {size_bytes} bytes, not {}", elements.len());
            return Err(Error::InvalidValue(message));
        }
        let Some(memory) = memory else { return Ok(()) };
        in_context_of(&self.importer, &memory, |context| {
            let copy = self.importer.driver.span_alloc(size_bytes)?;
            self.importer.driver.span_write(&copy, elements)?;
            let written = self.working(context, |stream| {
                let queued = pairs(&copy, &parts).try_for_each(|(copy, part)| {
                    Ok(self.importer.driver.memcpy_dtod_async(part, &copy?, stream)?)
                });
                self.importer.keep(copy.clone(), stream)?;
                queued
            });
            written.map(|_stream| ())
        })
    }

    /// Sets every byte of every element. Does not wait until it is done.
    ///
    /// # Errors
    /// As [`Imported::write`].
    pub fn fill(&self, value: u8) -> Result<()> {
        self.writable()?;
        let Some(memory) = self.live.memory() else { return Ok(()) };
        let parts = self.parts(&memory)?;
        in_context_of(&self.importer, &memory, |context| {
            let filled = self.working(context, |stream| {
                parts.iter().try_for_each(|part| {
                    Ok(self.importer.driver.memset_d8_async(part, value, stream)?)
                })
            });
            filled.map(|_stream| ())
        })
    }

    /// Does `work` in a stream, after what the given stream has now and before what it gets later.
    /// Returns that stream.
    fn working(
        &self,
        context: Option<Context>,
        work: impl FnOnce(&Stream) -> Result<()>,
    ) -> Result<Stream> {
        let driver = self.importer.driver;
        let given = self.live.stream().filter(|_| !self.importer.options.ignore_stream);
        if let (Some(given), Order::Enqueue) = (&given, self.importer.options.order) {
            return work(given).map(|()| given.clone());
        }
        let own = self.importer.own_stream(context)?;
        let events = self.importer.options.order == Order::Events;
        match &given {
            Some(given) if events => follow(driver, &own, given)?,
            Some(given) => driver.stream_synchronize(given)?,
            None => (),
        }
        let worked = work(&own);
        // Also where some of the work failed: the rest is in the stream.
        match &given {
            Some(given) if events => follow(driver, given, &own)?,
            // Nobody can be made to wait for it.
            None if self.importer.options.ignore_stream => (),
            Some(_) | None => driver.stream_synchronize(&own)?,
        }
        worked.map(|()| own)
    }

    /// The elements in C order.
    fn parts(&self, memory: &Span) -> Result<Vec<Span>> {
        let array = self.array();
        // Without gaps nothing has to be counted out, not even bits.
        if array.is_c_contiguous() {
            return Ok(vec![memory.clone()]);
        }
        let first = array.data().0 - memory.pointer();
        let pieces = Pieces::new(array.shape(), &array.byte_strides(), array.element_bytes())?;
        let part = |step: i64| {
            let begin = first.wrapping_add_signed(step);
            memory.part(begin..begin + pieces.size_bytes)
        };
        pieces.offsets().map(part).collect::<Option<_>>().ok_or_else(too_large)
    }

    fn writable(&self) -> Result<()> {
        if self.array().read_only() { Err(Error::ReadOnly) } else { Ok(()) }
    }
}

/// Each part with its place in a copy of all.
fn pairs<'p>(copy: &'p Span, parts: &'p [Span]) -> impl Iterator<Item = (Result<Span>, &'p Span)> {
    let mut end = 0;
    parts.iter().map(move |part| {
        let begin = end;
        end += part.size_bytes();
        (copy.part(begin..end).ok_or_else(too_large), part)
    })
}

/// Makes later work of one stream wait for what the other has now.
fn follow(driver: allocert_cuda::Driver, later: &Stream, now: &Stream) -> Result<()> {
    let event = driver.event_create()?;
    driver.event_record(&event, now)?;
    Ok(driver.stream_wait_event(later, &event)?)
}

/// Does something with the context current that the memory belongs to.
fn in_context_of<T>(
    importer: &Importer,
    memory: &Span,
    work: impl FnOnce(Option<Context>) -> Result<T>,
) -> Result<T> {
    let driver = importer.driver;
    let owner = driver.pointer_get_context(memory.pointer())?;
    let current = driver.ctx_get_current()?;
    match owner {
        Some(owner) if Some(owner) != current => {
            driver.ctx_push_current(owner)?;
            let done = work(Some(owner));
            driver.ctx_pop_current()?;
            done
        }
        _ => work(owner.or(current)),
    }
}

fn too_large() -> Error {
    Error::NotSupported("the array is larger than what can be handled here")
}
