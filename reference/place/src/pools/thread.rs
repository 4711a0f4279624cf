//! What a thread has for itself: a cache at each place that it uses.
//!
//! Like libc's heap, this must not be called from a signal handler.

use std::cell::Cell;

use allocert_pool::{Cache, Pool, System};

use crate::pools::{self, DEVICES};

/// Where the cache of a place stands.
pub(crate) const CPU: usize = 0;
pub(crate) const PINNED: usize = 1;
/// And those of the further devices behind it.
pub(crate) const CUDA: usize = 2;

thread_local! {
    /// Nothing is to be dropped with it, so an access needs no check.
    static CACHES: [Cell<Option<&'static Cache>>; CUDA + DEVICES] =
        const { [const { Cell::new(None) }; CUDA + DEVICES] };
    static END: EndOfThread = const { EndOfThread };
}

/// Empties the caches when the thread ends. It calls no driver.
struct EndOfThread;

impl Drop for EndOfThread {
    fn drop(&mut self) {
        if let (Some(pool), Some(cache)) = (pools::made_cpu(), take(CPU)) {
            pool.retire_cache(cache);
        }
        if let (Some(pool), Some(cache)) = (pools::made_pinned(), take(PINNED)) {
            pool.retire_cache(cache);
        }
        for device in 0..DEVICES {
            if let Some(cache) = take(CUDA + device)
                && let Some(pool) = pools::made_cuda(device as i32)
            {
                pool.retire_cache(cache);
            }
        }
    }
}

/// The cache of the calling thread at a place, whose pool this is.
#[inline]
pub(crate) fn cache<S: System>(place: usize, pool: &'static Pool<S>) -> Option<&'static Cache> {
    own(place).or_else(|| adopt(place, pool))
}

/// The cache that the calling thread has already.
#[inline]
pub(crate) fn own(place: usize) -> Option<&'static Cache> {
    CACHES.with(|caches| caches[place].get())
}

/// A thread that ends gets no cache.
#[cold]
fn adopt<S: System>(place: usize, pool: &'static Pool<S>) -> Option<&'static Cache> {
    END.try_with(|_| ()).ok()?;
    let cache = pool.adopt_cache();
    CACHES.with(|caches| caches[place].set(cache));
    cache
}

fn take(place: usize) -> Option<&'static Cache> {
    CACHES.with(|caches| caches[place].take())
}
