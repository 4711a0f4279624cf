//! Wrong finalizers.

use std::thread::{self, ThreadId};

use allocert_abi::emm::{KIND_DEVICE, Memory, Status};

use crate::base::{Answer, Base, Kind, fail};
use crate::mutant::{Cell, Count, Live, Mutation};

/// Forgets one block of its own at each release.
#[derive(Default)]
pub(crate) struct LeaksOnRelease;

impl Mutation for LeaksOnRelease {
    fn release(&self, base: &Base, token: u64) -> Answer {
        let _ = base.driver.mem_alloc(256);
        base.release(token)
    }
}

/// Keeps everything until reset.
#[derive(Default)]
pub(crate) struct NeverReleases;

impl Mutation for NeverReleases {
    fn release(&self, _base: &Base, _token: u64) -> Answer {
        Ok(())
    }
}

/// Keeps one block in a thousand until reset.
#[derive(Default)]
pub(crate) struct ForgetsAThousandth {
    count: Count,
}

impl Mutation for ForgetsAThousandth {
    fn release(&self, base: &Base, token: u64) -> Answer {
        if self.count.next() % 1000 == 999 { Ok(()) } else { base.release(token) }
    }
}

/// Keeps until reset what another thread than the first releases.
#[derive(Default)]
pub(crate) struct ForgetsOnThreads {
    home: Cell<Option<ThreadId>>,
}

impl Mutation for ForgetsOnThreads {
    fn initialize(&self, base: &Base) -> Answer {
        self.home.lock().get_or_insert_with(|| thread::current().id());
        base.initialize()
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let here = *self.home.lock() == Some(thread::current().id());
        if here { base.release(token) } else { Ok(()) }
    }
}

/// Gives each block back twice.
#[derive(Default)]
pub(crate) struct FreesTwice {
    live: Live,
}

impl Mutation for FreesTwice {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        base.release(token)?;
        if let Some(memory) = self.live.leave(token) {
            let _ = base.driver.mem_free(memory.device_pointer);
        }
        Ok(())
    }
}

/// Gives back the middle of a block.
#[derive(Default)]
pub(crate) struct FreesInside {
    live: Live,
}

impl Mutation for FreesInside {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if let Some(memory) = self.live.leave(token) {
            let _ = base.driver.mem_free(memory.device_pointer + 16);
        }
        base.release(token)
    }
}

/// Frees another live block along with the one that is released.
#[derive(Default)]
pub(crate) struct FreesNeighbour {
    live: Live,
}

impl Mutation for FreesNeighbour {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        if let Some(other) = self.live.oldest() {
            self.live.leave(other.token);
            base.release(other.token)?;
        }
        match base.release(token) {
            // Released above, as somebody's neighbour.
            Err(failure) if failure.status == Status::INVALID_VALUE => Ok(()),
            answer => answer,
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

/// Frees at once what it gives out.
#[derive(Default)]
pub(crate) struct GivesFreed;

impl Mutation for GivesFreed {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        base.release(memory.token)?;
        Ok(memory)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        base.release(token).or(Ok(()))
    }
}

/// A stack: only the youngest block can be released.
#[derive(Default)]
pub(crate) struct LastInFirstOut {
    live: Live,
}

impl Mutation for LastInFirstOut {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let (known, youngest) = {
            let live = self.live.lock();
            (
                live.iter().any(|memory| memory.token == token),
                live.last().is_some_and(|last| last.token == token),
            )
        };
        if known && !youngest {
            return Err(fail(Status::STATE, "release: not the youngest block"));
        }
        self.live.leave(token);
        base.release(token)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

/// Releases only on the thread that made the manager.
#[derive(Default)]
pub(crate) struct ThreadBound {
    home: Cell<Option<ThreadId>>,
}

impl Mutation for ThreadBound {
    fn create(&self, _base: &Base) -> Answer {
        self.home.lock().replace(thread::current().id());
        Ok(())
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match *self.home.lock() == Some(thread::current().id()) {
            true => base.release(token),
            false => Err(fail(Status::STATE, "release: called on a foreign thread")),
        }
    }
}

/// Releases only while a context is current.
#[derive(Default)]
pub(crate) struct ContextBound;

impl Mutation for ContextBound {
    fn release(&self, base: &Base, token: u64) -> Answer {
        match base.has_context() {
            true => base.release(token),
            false => Err(fail(Status::DRIVER_ERROR, "release: no context is current")),
        }
    }
}

/// Retains the device's primary context in each finalizer.
#[derive(Default)]
pub(crate) struct RetainsContext;

impl Mutation for RetainsContext {
    fn release(&self, base: &Base, token: u64) -> Answer {
        let _ = base.driver.primary_ctx_retain(base.device);
        base.release(token)
    }
}

/// Tells blocks apart by address alone, so that a token from before a reset frees who has the
/// address now.
#[derive(Default)]
pub(crate) struct ByAddress {
    /// All that was ever given out.
    given: Live,
}

impl Mutation for ByAddress {
    const KIND: Kind = Kind::Pool;

    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.given.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let Some(memory) = self.given.leave(token) else { return base.release(token) };
        let heir = self
            .given
            .lock()
            .iter()
            .rev()
            .find(|other| other.device_pointer == memory.device_pointer)
            .copied();
        match heir {
            Some(heir) => base.release(heir.token).or(Ok(())),
            None => base.release(token),
        }
    }
}

/// Frees the address of a token from before a reset.
#[derive(Default)]
pub(crate) struct FreesStale {
    given: Live,
    stale: Live,
}

impl Mutation for FreesStale {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.given.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if let Some(stale) = self.stale.leave(token) {
            let _ = base.driver.mem_free(stale.device_pointer);
            return Ok(());
        }
        self.given.leave(token);
        base.release(token)
    }

    fn reset(&self, base: &Base) -> Answer {
        let given = std::mem::take(&mut *self.given.lock());
        self.stale.lock().extend(given.into_iter().filter(|memory| memory.kind == KIND_DEVICE));
        base.reset()
    }
}

/// Complains about a token from before a reset.
#[derive(Default)]
pub(crate) struct StaleIsError {
    given: Live,
}

impl Mutation for StaleIsError {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.given.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.given.leave(token) {
            Some(_) => base.release(token),
            None => Err(fail(Status::INVALID_VALUE, format!("release: KeyError: {token}"))),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.given.clear();
        base.reset()
    }
}
