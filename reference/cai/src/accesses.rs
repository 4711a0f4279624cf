//! Work on an allocation that may still run.

use std::thread::{self, ThreadId};

use allocert_cuda::{Driver, DriverError, Event, Stream};

/// So much is remembered; then it is waited for.
const REMEMBERED: usize = 64;

/// Some bytes of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Bytes {
    fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

#[derive(Debug)]
struct Access {
    place: Place,
    bytes: Bytes,
    writes: bool,
    /// Recorded right after the work, where the stream cannot be asked later.
    after: Option<Event>,
}

/// A stream as one thread means it.
#[derive(Clone, Debug)]
struct Place {
    stream: Stream,
    thread: Option<ThreadId>,
}

impl Place {
    fn of(stream: &Stream) -> Self {
        let own = stream.handle() == Stream::PER_THREAD.handle();
        Self { stream: stream.clone(), thread: own.then(|| thread::current().id()) }
    }

    fn is(&self, other: &Self) -> bool {
        self.stream.handle() == other.stream.handle() && self.thread == other.thread
    }

    /// Whether a later record in the stream, from any thread, follows the work.
    fn lasts(&self) -> bool {
        self.thread.is_none() && self.stream.is_kept()
    }
}

/// Everything that later work may have to follow, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Accesses(Vec<Access>);

impl Accesses {
    /// Makes later work of `stream` that reads or writes `bytes` follow all earlier work that it
    /// conflicts with.
    pub(crate) fn order(
        &self,
        driver: Driver,
        stream: &Stream,
        bytes: Bytes,
        writes: bool,
    ) -> Result<(), DriverError> {
        let here = Place::of(stream);
        let mut asked: Vec<&Place> = Vec::new();
        for access in self.conflicts(bytes, writes).filter(|access| !access.place.is(&here)) {
            match &access.after {
                Some(event) => driver.stream_wait_event(stream, event)?,
                None if asked.iter().any(|place| place.is(&access.place)) => (),
                None => {
                    let event = driver.event_create()?;
                    driver.event_record(&event, &access.place.stream)?;
                    driver.stream_wait_event(stream, &event)?;
                    asked.push(&access.place);
                }
            }
        }
        Ok(())
    }

    /// Remembers work that was ordered, and has been put into `stream`.
    pub(crate) fn add(
        &mut self,
        driver: Driver,
        stream: &Stream,
        bytes: Bytes,
        writes: bool,
    ) -> Result<(), DriverError> {
        let place = Place::of(stream);
        // Whoever conflicts with what is forgotten here conflicts with the new work, too, which
        // follows it.
        self.0.retain(|old| {
            !bytes.covers(old.bytes) || !(writes || (!old.writes && old.place.is(&place)))
        });
        if self.0.len() == REMEMBERED {
            self.wait(driver)?;
        }
        let after = if place.lasts() { None } else { Some(recorded(driver, stream)?) };
        self.0.push(Access { place, bytes, writes, after });
        Ok(())
    }

    /// Waits on the host for all work.
    pub(crate) fn wait(&mut self, driver: Driver) -> Result<(), DriverError> {
        while let Some(access) = self.0.last() {
            match &access.after {
                Some(event) => driver.event_synchronize(event)?,
                None => driver.stream_synchronize(&access.place.stream)?,
            }
            let done = access.place.clone();
            let timed = access.after.is_some();
            self.0.pop();
            if !timed {
                self.0.retain(|access| access.after.is_some() || !access.place.is(&done));
            }
        }
        Ok(())
    }

    /// Whether anything conflicts with reading or writing these bytes.
    pub(crate) fn any(&self, bytes: Bytes, writes: bool) -> bool {
        self.conflicts(bytes, writes).next().is_some()
    }

    /// The one stream that has all work in conflict, if there is one that can be given away.
    pub(crate) fn only_stream(&self, bytes: Bytes, writes: bool) -> Option<Stream> {
        let mut all = self.conflicts(bytes, writes);
        let first = all.next()?;
        let same = all.all(|access| access.place.is(&first.place));
        (same && first.place.lasts()).then(|| first.place.stream.clone())
    }

    fn conflicts(&self, bytes: Bytes, writes: bool) -> impl Iterator<Item = &Access> {
        self.0.iter().filter(move |access| access.bytes.meets(bytes) && (writes || access.writes))
    }
}

fn recorded(driver: Driver, stream: &Stream) -> Result<Event, DriverError> {
    let event = driver.event_create()?;
    driver.event_record(&event, stream)?;
    Ok(event)
}
