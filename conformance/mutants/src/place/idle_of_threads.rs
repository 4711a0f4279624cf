//! Mutations that leave what other living threads freed as it is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use allocert_abi::place::Place;

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::Answer;

export_place_mutants! {
    mutant_place_release_of_own_thread => ReleasesOwn,
    mutant_place_retries_own_thread => RetriesOwn,
}

/// Which living thread freed a block, by its address.
static FREED_BY: Mutex<BTreeMap<usize, ThreadId>> = Mutex::new(BTreeMap::new());

fn freed_by() -> MutexGuard<'static, BTreeMap<usize, ThreadId>> {
    FREED_BY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread freed is everybody's when the thread ends.
struct AtEnd(ThreadId);

impl Drop for AtEnd {
    fn drop(&mut self) {
        freed_by().retain(|_, thread| *thread != self.0);
    }
}

thread_local! {
    static AT_END: AtEnd = AtEnd(thread::current().id());
}

/// Frees a block, and notes who did.
fn free_noted(base: &Base, place: Place, address: usize) -> Answer {
    base.free(place, address)?;
    AT_END.with(|own| freed_by().insert(address, own.0));
    Ok(())
}

/// Does something while the idle memory of the other threads is out of reach.
fn with_own_idle<T>(base: &Base, place: Place, work: impl FnOnce() -> Answer<T>) -> Answer<T> {
    let own = thread::current().id();
    let is_own = |address| freed_by().get(&address).is_none_or(|thread| *thread == own);
    let hidden: Vec<_> = base.with(place, |region| {
        region.idle.extract_if(.., |(address, _)| !is_own(*address)).collect()
    });
    let answer = work();
    base.with(place, |region| region.idle.extend(hidden));
    answer
}

/// Gives back what the calling thread freed, and nothing of other living threads.
struct ReleasesOwn;

impl Mutation for ReleasesOwn {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        free_noted(base, place, address)
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        with_own_idle(base, place, || base.release(place))
    }
}

/// Gives back what the calling thread freed where the system has no memory, and then has none.
struct RetriesOwn;

impl Mutation for RetriesOwn {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        with_own_idle(base, place, || base.alloc(place, size_bytes))
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        free_noted(base, place, address)
    }
}
