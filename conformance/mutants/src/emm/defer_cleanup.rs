//! Mutations of `defer_begin` and `defer_end`.

use std::thread::{self, ThreadId};

use allocert_abi::emm::{Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, driver_error, fail, failed_with};
use crate::emm::mutation::second_manager::SecondManager;
use crate::emm::mutation::state::{Count, Flag, Locked, ScopeDepth};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_defer_begin_fails => Mutant<DeferBeginFails>,
    mutant_defer_end_fails => Mutant<DeferEndFails>,
    mutant_defer_ignored => Mutant<DeferIgnored>,
    mutant_defer_inner_ends_outer => Mutant<DeferInnerEndsOuter>,
    mutant_defer_inner_flushes => Mutant<DeferInnerFlushes>,
    mutant_defer_waits_at_every_64th_release => Mutant<DeferWaitsAtEvery64thRelease>,
    mutant_defer_for_own_thread => Mutant<DeferForOwnThread>,
    mutant_defer_not_nested => Mutant<DeferNotNested>,
    mutant_defer_once => Mutant<DeferOnce>,
    mutant_defer_never_ends => Mutant<DeferNeverEnds>,
    mutant_defer_frees_host_memory => Mutant<DeferFreesHostMemory>,
    mutant_defer_refuses_requests => Mutant<DeferRefusesRequests>,
    mutant_oom_frees_deferred => Mutant<OomFreesDeferred>,
    mutant_defer_end_without_begin => Mutant<DeferEndWithoutBegin>,
}

/// Refuses to begin a scope.
#[derive(Default)]
struct DeferBeginFails;

impl Mutation for DeferBeginFails {
    fn defer_begin(&self, _base: &BaseManager) -> Answer {
        Err(fail(Status::NOT_SUPPORTED, "defer_begin: not implemented"))
    }
}

/// Ends the scope and then reports a failure.
#[derive(Default)]
struct DeferEndFails;

impl Mutation for DeferEndFails {
    fn defer_end(&self, base: &BaseManager) -> Answer {
        base.defer_end()?;
        Err(fail(Status::INTERNAL, "defer_end: not implemented"))
    }
}

/// Frees memory inside a scope as it does outside.
#[derive(Default)]
struct DeferIgnored;

impl Mutation for DeferIgnored {
    fn defer_begin(&self, _base: &BaseManager) -> Answer {
        Ok(())
    }

    fn defer_end(&self, _base: &BaseManager) -> Answer {
        Ok(())
    }
}

/// Ends all scopes when the innermost one ends.
#[derive(Default)]
struct DeferInnerEndsOuter {
    inside: Flag,
}

impl Mutation for DeferInnerEndsOuter {
    fn defer_begin(&self, base: &BaseManager) -> Answer {
        if !self.inside.is_set() {
            self.inside.set();
            base.defer_begin()?;
        }
        Ok(())
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        if self.inside.is_set() {
            self.inside.clear();
            base.defer_end()?;
        }
        Ok(())
    }
}

/// Gives back what waits when an inner scope ends, and goes on to defer.
#[derive(Default)]
struct DeferInnerFlushes {
    depth: ScopeDepth,
}

impl Mutation for DeferInnerFlushes {
    fn defer_begin(&self, base: &BaseManager) -> Answer {
        self.depth.begin();
        // The base knows the outer scope alone.
        if self.depth.get() == 1 { base.defer_begin() } else { Ok(()) }
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        base.defer_end()?;
        if self.depth.end() > 0 { base.defer_begin() } else { Ok(()) }
    }
}

/// Waits for the device at every 64th release inside a scope.
#[derive(Default)]
struct DeferWaitsAtEvery64thRelease {
    depth: ScopeDepth,
    releases: Count,
}

impl Mutation for DeferWaitsAtEvery64thRelease {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if self.depth.get() > 0 && self.releases.increment() % 64 == 63 {
            base.driver.ctx_synchronize().map_err(driver_error)?;
        }
        base.release(token)
    }

    fn depth(&self) -> Option<&ScopeDepth> {
        Some(&self.depth)
    }
}

/// Counts scopes for each thread.
#[derive(Default)]
struct DeferForOwnThread {
    threads: Locked<Vec<ThreadId>>,
    waiting: Locked<Vec<u64>>,
}

impl Mutation for DeferForOwnThread {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if self.threads.lock().contains(&thread::current().id()) {
            self.waiting.lock().push(token);
            return Ok(());
        }
        base.release(token)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.waiting.lock().clear();
        base.reset()
    }

    fn defer_begin(&self, _base: &BaseManager) -> Answer {
        self.threads.lock().push(thread::current().id());
        Ok(())
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        let own = thread::current().id();
        let mut threads = self.threads.lock();
        let Some(index) = threads.iter().position(|thread| *thread == own) else {
            return Err(fail(Status::STATE, "defer_end: this thread has no scope"));
        };
        threads.remove(index);
        if !threads.contains(&own) {
            let waiting = std::mem::take(&mut *self.waiting.lock());
            waiting.into_iter().try_for_each(|token| base.release(token))?;
        }
        Ok(())
    }
}

/// Refuses a scope inside a scope.
#[derive(Default)]
struct DeferNotNested {
    inside: Flag,
}

impl Mutation for DeferNotNested {
    fn defer_begin(&self, base: &BaseManager) -> Answer {
        if self.inside.is_set() {
            return Err(fail(Status::STATE, "defer_begin: already inside a scope"));
        }
        self.inside.set();
        base.defer_begin()
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        self.inside.clear();
        base.defer_end()
    }
}

/// Refuses a second scope, even after the first one has ended.
#[derive(Default)]
struct DeferOnce {
    count: Count,
}

impl Mutation for DeferOnce {
    fn defer_begin(&self, base: &BaseManager) -> Answer {
        match self.count.increment() {
            0 => base.defer_begin(),
            _ => Err(fail(Status::STATE, "defer_begin: generator didn't yield")),
        }
    }
}

/// Continues to defer after the scope has ended.
#[derive(Default)]
struct DeferNeverEnds;

impl Mutation for DeferNeverEnds {
    fn defer_end(&self, _base: &BaseManager) -> Answer {
        Ok(())
    }
}

/// Defers the release of device memory only.
#[derive(Default)]
struct DeferFreesHostMemory {
    /// Owns the host memory, and enters no scope.
    host: SecondManager,
}

impl Mutation for DeferFreesHostMemory {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = self.host.get_or_open(base)?.memhostalloc(size_bytes, flags)?;
        Ok(SecondManager::own(memory))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.host.release(base, token)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        if let Some(host) = self.host.get() {
            host.reset()?;
        }
        base.reset()
    }
}

/// Refuses to allocate device memory inside a scope.
#[derive(Default)]
struct DeferRefusesRequests {
    depth: ScopeDepth,
}

impl Mutation for DeferRefusesRequests {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match self.depth.get() {
            0 => base.memalloc(size_bytes),
            _ => Err(fail(Status::STATE, "memalloc: clean-up is deferred")),
        }
    }

    fn depth(&self) -> Option<&ScopeDepth> {
        Some(&self.depth)
    }
}

/// Frees the deferred memory when memory is short, even inside a scope.
#[derive(Default)]
struct OomFreesDeferred {
    depth: ScopeDepth,
}

impl Mutation for OomFreesDeferred {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if !failed_with(&answer, Status::OUT_OF_MEMORY) {
            return answer;
        }
        let depth = self.depth.get();
        (0..depth).try_for_each(|_| base.defer_end())?;
        (0..depth).try_for_each(|_| base.defer_begin())?;
        base.memalloc(size_bytes)
    }

    fn depth(&self) -> Option<&ScopeDepth> {
        Some(&self.depth)
    }
}

/// Accepts the end of a scope that nobody has begun.
#[derive(Default)]
struct DeferEndWithoutBegin;

impl Mutation for DeferEndWithoutBegin {
    fn defer_end(&self, base: &BaseManager) -> Answer {
        let answer = base.defer_end();
        if failed_with(&answer, Status::STATE) { Ok(()) } else { answer }
    }
}
