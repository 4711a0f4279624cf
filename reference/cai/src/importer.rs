//! Who takes arrays of others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use allocert_contract::array::{
    ArrayInterface, Description, DictSubclass, EarlyStream, Interpretation,
};
use allocert_cuda::{Context, Driver, Event, Live, Span, Stream};

use crate::{Error, Imported, Result};

/// How work on an imported array and the stream that came with it are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The importer's stream waits for an event in the given stream, and the given stream for one
    /// after the work.
    #[default]
    Events,
    /// The host waits for the given stream, and returns after the work.
    Host,
    /// All work is put into the given stream.
    Enqueue,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub order: Order,
    /// Take every stream for None: the user sees to the order of all work. Off unless a user asks
    /// for it.
    pub ignore_stream: bool,
    /// Refuse arrays with a mask instead of importing the mask along with them.
    pub refuse_masks: bool,
}

/// Takes arrays of others and works on them. Its streams and its memory live as long as it or an
/// array that it took.
#[derive(Clone, Debug)]
pub struct Importer {
    pub(crate) driver: Driver,
    pub(crate) options: Options,
    workshop: Arc<Workshop>,
}

#[derive(Debug)]
struct Workshop {
    driver: Driver,
    /// One for each context that memory came from.
    streams: Mutex<Vec<(Option<Context>, Stream)>>,
    /// Memory that work may still use.
    lent: Mutex<Vec<(Span, Event)>>,
}

/// So much memory waits for its work to end; then the importer waits for the oldest.
const LENT: usize = 8;

impl Importer {
    #[must_use]
    pub fn new(driver: Driver, options: Options) -> Self {
        let workshop = Workshop { driver, streams: Mutex::default(), lent: Mutex::default() };
        Self { driver, options, workshop: Arc::new(workshop) }
    }

    /// How the importer reads what the text leaves open: what harms nobody is taken, and a stream
    /// is obeyed in any version.
    #[must_use]
    pub fn reading() -> Interpretation {
        let (early_stream, dict_subclass) = (EarlyStream::Obeyed, DictSubclass::Allowed);
        Interpretation { early_stream, dict_subclass, ..Interpretation::default() }
    }

    /// Reads what an object said of itself, and makes no driver call.
    ///
    /// # Errors
    /// [`Error::Defects`] with everything that is wrong, or [`Error::NotSupported`].
    pub fn read(&self, object: &Description) -> Result<ArrayInterface> {
        let array =
            ArrayInterface::read_object(object, &Self::reading()).map_err(Error::Defects)?;
        match array.mask() {
            Some(_) if self.options.refuse_masks => {
                Err(Error::NotSupported("masks are not imported here"))
            }
            _ => Ok(array),
        }
    }

    /// A view of the array. Nothing is copied. Nothing is waited for until something is done with
    /// it, except for the per-thread default stream: on another thread its handle means another
    /// stream.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for bit fields with gaps, and for masks that are refused; what the
    /// driver answers.
    pub fn import(&self, live: Live) -> Result<Imported> {
        if self.options.refuse_masks && live.array().mask().is_some() {
            return Err(Error::NotSupported("masks are not imported here"));
        }
        let given = live.stream().filter(|_| !self.options.ignore_stream);
        if let Some(given) = given.filter(|stream| stream.handle() == Stream::PER_THREAD.handle()) {
            self.driver.stream_synchronize(&given)?;
        }
        Imported::new(self.clone(), live)
    }

    /// The importer's stream for memory at `pointer`.
    pub(crate) fn own_stream(&self, context: Option<Context>) -> Result<Stream> {
        let mut streams = self.workshop.streams();
        if let Some((_, stream)) = streams.iter().find(|(known, _)| *known == context) {
            return Ok(stream.clone());
        }
        let stream = self.driver.stream_create()?;
        streams.push((context, stream.clone()));
        Ok(stream)
    }

    /// Keeps memory until the work that `stream` has now is done.
    pub(crate) fn keep(&self, memory: Span, stream: &Stream) -> Result<()> {
        let event = self.driver.event_create()?;
        self.driver.event_record(&event, stream)?;
        let oldest = {
            let mut lent = self.workshop.lent();
            lent.push((memory, event));
            if lent.len() > LENT { Some(lent.remove(0)) } else { None }
        };
        if let Some((_memory, event)) = oldest {
            self.driver.event_synchronize(&event)?;
        }
        Ok(())
    }
}

impl Workshop {
    fn streams(&self) -> MutexGuard<'_, Vec<(Option<Context>, Stream)>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lent(&self) -> MutexGuard<'_, Vec<(Span, Event)>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        for (_memory, event) in self.lent().drain(..) {
            // Freeing the memory is all that is left to do, whatever the driver answers.
            let _ = self.driver.event_synchronize(&event);
        }
    }
}
