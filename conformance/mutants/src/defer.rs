//! Wrong deferral.

use std::sync::OnceLock;

use allocert_abi::emm::{Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Count, Flag, Mutation};

/// Enters no scope at all.
#[derive(Default)]
pub(crate) struct DeferRefused;

impl Mutation for DeferRefused {
    fn defer_begin(&self, _base: &Base) -> Answer {
        Err(fail(Status::NOT_SUPPORTED, "defer_begin: not implemented"))
    }
}

/// Leaves no scope.
#[derive(Default)]
pub(crate) struct DeferEndFails;

impl Mutation for DeferEndFails {
    fn defer_end(&self, base: &Base) -> Answer {
        base.defer_end()?;
        Err(fail(Status::INTERNAL, "defer_end: not implemented"))
    }
}

/// Frees as ever inside a scope.
#[derive(Default)]
pub(crate) struct DeferIgnored;

impl Mutation for DeferIgnored {
    fn defer_begin(&self, _base: &Base) -> Answer {
        Ok(())
    }

    fn defer_end(&self, _base: &Base) -> Answer {
        Ok(())
    }
}

/// A flag where a counter belongs: the first end ends all scopes.
#[derive(Default)]
pub(crate) struct DeferFlat {
    inside: Flag,
}

impl Mutation for DeferFlat {
    fn defer_begin(&self, base: &Base) -> Answer {
        if !self.inside.is_up() {
            self.inside.raise();
            base.defer_begin()?;
        }
        Ok(())
    }

    fn defer_end(&self, base: &Base) -> Answer {
        if self.inside.is_up() {
            self.inside.lower();
            base.defer_end()?;
        }
        Ok(())
    }
}

/// Refuses a scope inside a scope.
#[derive(Default)]
pub(crate) struct DeferNotNested {
    inside: Flag,
}

impl Mutation for DeferNotNested {
    fn defer_begin(&self, base: &Base) -> Answer {
        if self.inside.is_up() {
            return Err(fail(Status::STATE, "defer_begin: already inside a scope"));
        }
        self.inside.raise();
        base.defer_begin()
    }

    fn defer_end(&self, base: &Base) -> Answer {
        self.inside.lower();
        base.defer_end()
    }
}

/// Refuses a scope after a scope.
#[derive(Default)]
pub(crate) struct DeferOnce {
    count: Count,
}

impl Mutation for DeferOnce {
    fn defer_begin(&self, base: &Base) -> Answer {
        match self.count.next() {
            0 => base.defer_begin(),
            _ => Err(fail(Status::STATE, "defer_begin: generator didn't yield")),
        }
    }
}

/// Goes on deferring when the scope has ended.
#[derive(Default)]
pub(crate) struct DeferForEver;

impl Mutation for DeferForEver {
    fn defer_end(&self, _base: &Base) -> Answer {
        Ok(())
    }
}

/// Defers device memory only.
#[derive(Default)]
pub(crate) struct DeferForgetsHost {
    host: OnceLock<Base>,
}

const OF_TWIN: u64 = 1 << 62;

impl Mutation for DeferForgetsHost {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        if self.host.get().is_none() {
            let _ = self.host.set(base.twin()?);
        }
        let host = self.host.get().expect("set above");
        let memory = host.memhostalloc(size_bytes, flags)?;
        Ok(Memory { token: memory.token | OF_TWIN, ..memory })
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.host.get() {
            Some(host) if token & OF_TWIN != 0 => host.release(token & !OF_TWIN),
            _ => base.release(token),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        if let Some(host) = self.host.get() {
            host.reset()?;
        }
        base.reset()
    }
}

/// Gives nothing inside a scope.
#[derive(Default)]
pub(crate) struct DeferBlocksAllocation {
    depth: Count,
}

impl Mutation for DeferBlocksAllocation {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match self.depth.get() {
            0 => base.memalloc(size_bytes),
            _ => Err(fail(Status::STATE, "memalloc: clean-up is deferred")),
        }
    }

    fn defer_begin(&self, base: &Base) -> Answer {
        self.depth.next();
        base.defer_begin()
    }

    fn defer_end(&self, base: &Base) -> Answer {
        let depth = self.depth.get();
        self.depth.set(depth.saturating_sub(1));
        base.defer_end()
    }
}

/// Frees what waits when memory is short, inside a scope too.
#[derive(Default)]
pub(crate) struct DeferFlushedByOom {
    depth: Count,
}

impl Mutation for DeferFlushedByOom {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match base.memalloc(size_bytes) {
            Err(failure) if failure.status == Status::OUT_OF_MEMORY => {
                let depth = self.depth.get();
                (0..depth).try_for_each(|_| base.defer_end())?;
                (0..depth).try_for_each(|_| base.defer_begin())?;
                base.memalloc(size_bytes)
            }
            answer => answer,
        }
    }

    fn defer_begin(&self, base: &Base) -> Answer {
        self.depth.next();
        base.defer_begin()
    }

    fn defer_end(&self, base: &Base) -> Answer {
        let depth = self.depth.get();
        self.depth.set(depth.saturating_sub(1));
        base.defer_end()
    }
}

/// Ends scopes that nobody has begun.
#[derive(Default)]
pub(crate) struct DeferEndsNothing;

impl Mutation for DeferEndsNothing {
    fn defer_end(&self, base: &Base) -> Answer {
        match base.defer_end() {
            Err(failure) if failure.status == Status::STATE => Ok(()),
            answer => answer,
        }
    }
}
