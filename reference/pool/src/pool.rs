//! The pool.
//!
//! Memory comes from the system in chunks, which [`Fit`] cuts into blocks. Each thread keeps blocks
//! that it got back in a [`Cache`]. Blocks that no thread keeps join with their free neighbours.
//! All memory that no caller has is idle; the system gets whole idle chunks back when memory runs
//! short and at [`Pool::release`].
//!
//! Locks are taken in this order: `growing`, `registry`, a cache, `engine`. The system is called
//! with `growing` alone. Whoever gives a block to a caller or takes one back holds a cache or
//! `engine` until the books agree, so [`Pool::stop`] finds them in order.

mod by_name;
mod on_streams;

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use allocert_fit::{BlockId, Fit, Owner, Region};

use crate::address_map::AddressMap;
use crate::blocks::{Block, Blocks, Name};
use crate::cache::{Cache, Kept};
use crate::classes::Classes;
use crate::streams::Streams;
use crate::{Error, Settings, System, thread};

pub use by_name::Ended;

/// So many threads have a cache at a time. Others do without.
const CACHES: usize = 512;
/// Chunks are multiples of this if memory allows: a page of a device.
const PAGE_BYTES: u64 = 2 << 20;
/// Chunks beyond the first one are as long as it, or this part of what the pool has, ...
const GROWTH: u64 = 16;
/// ... but not longer than this.
const LONGEST_CHUNK_BYTES: u64 = 1 << 30;
/// No machine has so much memory.
const ADDRESS_SPACE_BYTES: u64 = 1 << 57;
/// A thread that needs a block takes so many bytes of its class from the engine, ...
const REFILL_BYTES: u64 = 64 << 10;
/// ... but not more blocks than this.
const REFILL_BLOCKS: u64 = 8;

/// Gives out memory of `S`.
#[derive(Debug)]
pub struct Pool<S> {
    /// A child of `fork` cannot use the memory.
    closed: AtomicBool,
    classes: Classes,
    blocks: Blocks,
    map: AddressMap,
    /// What callers took past their caches, less what they gave back.
    used_bytes: AtomicI64,
    engine: Mutex<Engine>,
    growing: Mutex<()>,
    registry: Mutex<()>,
    caches: Box<[OnceLock<Box<Cache>>]>,
    /// No cache stands there or behind.
    caches_end: AtomicUsize,
    /// As long as it is not 0, the system gets no chunk back.
    holds: AtomicUsize,
    settings: Settings,
    system: S,
}

#[derive(Debug)]
struct Engine {
    fit: Fit,
    streams: Streams,
    /// What the chunks have together.
    pool_bytes: u64,
}

/// What a caller got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    pub address: u64,
    pub name: Name,
}

/// A pool in which nothing changes, as while the process forks.
#[derive(Debug)]
pub struct Stopped<'a> {
    _growing: Option<MutexGuard<'a, ()>>,
    _registry: MutexGuard<'a, ()>,
    caches: Vec<Kept<'a>>,
    engine: MutexGuard<'a, Engine>,
}

impl<S: System> Pool<S> {
    #[must_use]
    pub fn new(system: S, settings: Settings) -> Self {
        Self {
            closed: AtomicBool::new(false),
            classes: Classes::new(S::GRAIN_BYTES),
            blocks: Blocks::new(),
            map: AddressMap::new(),
            used_bytes: AtomicI64::new(0),
            engine: Mutex::new(Engine {
                fit: Fit::new(S::GRAIN_BYTES),
                streams: Streams::default(),
                pool_bytes: 0,
            }),
            growing: Mutex::default(),
            registry: Mutex::default(),
            caches: (0..CACHES).map(|_| OnceLock::new()).collect(),
            caches_end: AtomicUsize::new(0),
            holds: AtomicUsize::new(0),
            settings,
            system,
        }
    }

    /// Where the memory comes from.
    #[must_use]
    pub fn system(&self) -> &S {
        &self.system
    }

    /// A cache for the calling thread alone, unless too many threads have one. The thread keeps it
    /// until [`Pool::retire_cache`].
    pub fn adopt_cache(&self) -> Option<&Cache> {
        let _registry = lock(&self.registry);
        (0..CACHES).find_map(|at| match self.caches[at].get() {
            Some(cache) => cache.adopt().then_some(&**cache),
            None => Some(self.make_cache(at)),
        })
    }

    /// The cache of the calling thread in a pool that may end before the thread. Two threads may
    /// have the same one. The blocks of a thread that ended stay in it until they are needed.
    #[inline]
    pub fn cache_of_thread(&self) -> &Cache {
        let at = thread::number() % CACHES;
        match self.caches[at].get() {
            Some(cache) => cache,
            None => {
                let _registry = lock(&self.registry);
                self.make_cache(at)
            }
        }
    }

    /// The registry is locked.
    #[cold]
    fn make_cache(&self, at: usize) -> &Cache {
        let cache = self.caches[at].get_or_init(|| Box::new(Cache::new(S::CLASS_BYTES)));
        self.caches_end.fetch_max(at + 1, SeqCst);
        cache
    }

    /// Empties the cache of a thread that ends.
    pub fn retire_cache(&self, cache: &Cache) {
        self.drain(cache);
        cache.abandon();
    }

    /// A block of at least `size_bytes`.
    ///
    /// # Errors
    /// `OutOfMemory`; `Forked`; `System`.
    #[inline]
    pub fn alloc(&self, cache: Option<&Cache>, size_bytes: u64) -> Result<Given, Error<S::Error>> {
        if self.closed.load(Relaxed) {
            return Err(Error::Forked);
        }
        let need_bytes = Self::need_bytes(size_bytes);
        let class = self.classes.of(need_bytes);
        if let (Some(class), Some(kept)) = (class, cache.and_then(Cache::try_lock)) {
            let room_bytes = self.classes.room_bytes(class);
            let number = kept.pop(class, room_bytes).or_else(|| self.refill(&kept, class));
            if let Some(number) = number {
                kept.count(size_bytes as i64);
                return Ok(self.begin(number, size_bytes));
            }
        }
        self.alloc_shared(class, need_bytes, size_bytes)
    }

    /// Takes a block back.
    ///
    /// # Errors
    /// `FreedBefore` and `NoBlock` for addresses of no block; `Corrupted`.
    #[inline]
    pub fn free(&self, cache: Option<&Cache>, address: u64) -> Result<(), Error<S::Error>> {
        // Somebody may change the map at the same time: who finds nothing looks again with a lock.
        let Some(number) = self.map.find(address, &self.blocks) else {
            return self.free_shared(address);
        };
        // Taking the lock waits until the guard of an earlier request is written, which takes as
        // long as to read this one: both are in no cache.
        if S::GUARD_BYTES != 0 {
            self.system.prefetch_guard(address + self.blocks.get(number).size_bytes());
        }
        let Some(kept) = cache.and_then(Cache::try_lock) else {
            return self.free_shared(address);
        };
        let block = self.blocks.get(number);
        let state = self.end(block, address)?;
        kept.count(-(block.size_bytes() as i64));
        self.keep(&kept, block, number, state);
        Ok(())
    }

    /// How many bytes callers have, as they asked for them. Exact as long as no call is running.
    pub fn used_bytes(&self) -> u64 {
        let in_caches: i64 = self.caches().map(Cache::used_bytes).sum();
        u64::try_from(in_caches + self.used_bytes.load(Relaxed)).unwrap_or(0)
    }

    /// How many bytes of the chunks no caller has. Exact as long as no call is running.
    pub fn idle_bytes(&self) -> u64 {
        let in_caches: u64 = self.caches().map(Cache::idle_bytes).sum();
        self.engine().fit.free_bytes() + in_caches
    }

    /// Gives all chunks from which no caller has a block back to the system. The bytes of those
    /// that it took.
    pub fn release(&self) -> u64 {
        if self.closed.load(Relaxed) {
            return 0;
        }
        let _growing = lock(&self.growing);
        self.drain_streams();
        self.drain_caches();
        self.give_back_unused()
    }

    /// Until the matching [`Pool::let_go`], the system gets no chunk back, but for
    /// [`Pool::clear`]: a request that it has no memory for fails. Nests.
    pub fn hold(&self) {
        self.holds.fetch_add(1, SeqCst);
    }

    /// Ends a [`Pool::hold`]. Without one it does nothing.
    pub fn let_go(&self) {
        // An error says that there was none.
        let _ = self.holds.fetch_update(SeqCst, SeqCst, |holds| holds.checked_sub(1));
    }

    /// Takes all blocks from their callers, and gives all chunks back to the system. No lock is
    /// held while the system is called.
    pub fn clear(&self) {
        let chunks = {
            let mut stopped = self.stop(true);
            for kept in &stopped.caches {
                kept.take_all(|_| ());
                kept.forget_used();
            }
            self.used_bytes.store(0, Relaxed);
            self.map.clear();
            self.blocks.clear();
            let engine = &mut *stopped.engine;
            engine.streams = Streams::default();
            engine.pool_bytes = 0;
            engine.fit.clear()
        };
        for chunk in chunks {
            self.system.give_back(chunk);
        }
    }

    /// Stops all threads that use the pool.
    pub fn stop(&self, with_growing: bool) -> Stopped<'_> {
        let growing = with_growing.then(|| lock(&self.growing));
        let registry = lock(&self.registry);
        let caches = self.caches().map(Cache::lock).collect();
        Stopped { _growing: growing, _registry: registry, caches, engine: self.engine() }
    }

    /// In a child of `fork`, the threads of the parent are gone but for one, and so is the memory
    /// of the driver.
    pub fn forked(&self, own: Option<&Cache>) {
        self.closed.store(!S::SURVIVES_FORK, Relaxed);
        let others =
            self.caches().filter(|cache| !own.is_some_and(|own| std::ptr::eq(own, *cache)));
        others.for_each(Cache::abandon);
    }

    /// What is behind a request: the guard, and at least one byte, so that the block has an address
    /// of its own.
    #[inline]
    fn need_bytes(size_bytes: u64) -> u64 {
        size_bytes.saturating_add(S::GUARD_BYTES).max(1)
    }

    /// Gives an idle block to a caller.
    #[inline]
    fn begin(&self, number: u32, size_bytes: u64) -> Given {
        let block = self.blocks.get(number);
        let address = block.address();
        if S::GUARD_BYTES != 0 {
            self.system.write_guard(address, address + size_bytes);
        }
        let state = block.begin(size_bytes);
        Given { address, name: Name::new(number, state) }
    }

    /// Takes a block from its caller, who had this state.
    #[inline]
    fn end(&self, block: &Block, address: u64) -> Result<u32, Error<S::Error>> {
        let state = block.end(address).ok_or(Error::FreedBefore(address))?;
        // A child of `fork` may be unable to read the memory.
        if S::GUARD_BYTES != 0 && !self.closed.load(Relaxed) {
            let size_bytes = block.size_bytes();
            if !self.system.guard_is_intact(address, address + size_bytes) {
                block.resume();
                return Err(Error::Corrupted { address, size_bytes });
            }
        }
        Ok(state)
    }

    /// Takes blocks of a class from the engine: one for the caller, and some for the cache.
    #[cold]
    fn refill(&self, kept: &Kept<'_>, class: usize) -> Option<u32> {
        let room_bytes = self.classes.room_bytes(class);
        let mut engine = self.engine();
        let first = self.cut(&mut engine, Owner::FIRST, Some(class), room_bytes)?;
        for _ in 1..(REFILL_BYTES / room_bytes).clamp(1, REFILL_BLOCKS) {
            let Some(number) = self.cut(&mut engine, Owner::FIRST, Some(class), room_bytes) else {
                break;
            };
            if !kept.push(class, room_bytes, number) {
                self.give(&mut engine, Owner::FIRST, number);
                break;
            }
        }
        Some(first)
    }

    /// Keeps an idle block in a cache. If that is full, those of its class that were kept first go.
    #[inline]
    fn keep(&self, kept: &Kept<'_>, block: &Block, number: u32, state: u32) {
        // The state of the block itself would be read behind a write that takes its time.
        let class = block.class().filter(|_| !Block::is_last(state));
        let Some(class) = class else {
            return self.give(&mut self.engine(), Owner::FIRST, number);
        };
        let room_bytes = self.classes.room_bytes(class);
        let is_kept = kept.push(class, room_bytes, number);
        if !is_kept || kept.holds_more_than(S::CACHE_BYTES) {
            self.make_room(kept, class, room_bytes);
        }
        if !is_kept {
            kept.push(class, room_bytes, number);
        }
    }

    #[cold]
    fn make_room(&self, kept: &Kept<'_>, class: usize, room_bytes: u64) {
        let mut engine = self.engine();
        kept.take_half(class, room_bytes, |number| self.give(&mut engine, Owner::FIRST, number));
    }

    /// A block past the caches. Asks the system for memory if need be.
    #[cold]
    fn alloc_shared(
        &self,
        class: Option<usize>,
        need_bytes: u64,
        size_bytes: u64,
    ) -> Result<Given, Error<S::Error>> {
        if need_bytes > ADDRESS_SPACE_BYTES {
            return Err(Error::OutOfMemory(None));
        }
        let room_bytes = self.room_bytes(class, need_bytes);
        let take = || {
            let mut engine = self.engine();
            self.take_shared(&mut engine, Owner::FIRST, class, room_bytes, size_bytes)
        };
        if let Some(given) = take() {
            return Ok(given);
        }
        let _growing = lock(&self.growing);
        if let Some(given) = take() {
            return Ok(given);
        }
        // What the caches keep may be enough, or what is between.
        self.drain_caches();
        if let Some(given) = take() {
            return Ok(given);
        }
        let mut chunk = self.reserve(room_bytes, false);
        if matches!(chunk, Err(Error::OutOfMemory(_))) {
            self.drain_streams();
            self.drain_caches();
            if let Some(given) = take() {
                return Ok(given);
            }
            self.give_back_unused();
            chunk = self.reserve(room_bytes, true);
        }
        let chunk = chunk?;
        let mut engine = self.engine();
        engine.pool_bytes += chunk.size_bytes;
        engine.fit.add(chunk.address, chunk.size_bytes);
        let given = self.take_shared(&mut engine, Owner::FIRST, class, room_bytes, size_bytes);
        Ok(given.expect("the new chunk has room, and the engine was locked meanwhile"))
    }

    fn room_bytes(&self, class: Option<usize>, need_bytes: u64) -> u64 {
        match class {
            Some(class) => self.classes.room_bytes(class),
            None => need_bytes.next_multiple_of(S::GRAIN_BYTES),
        }
    }

    fn take_shared(
        &self,
        engine: &mut Engine,
        owner: Owner,
        class: Option<usize>,
        room_bytes: u64,
        size_bytes: u64,
    ) -> Option<Given> {
        let number = self.cut(engine, owner, class, room_bytes)?;
        self.used_bytes.fetch_add(size_bytes as i64, Relaxed);
        Some(self.begin(number, size_bytes))
    }

    /// Takes a block back past the caches.
    #[cold]
    fn free_shared(&self, address: u64) -> Result<(), Error<S::Error>> {
        let mut engine = self.engine();
        let number = self.map.find(address, &self.blocks).ok_or(Error::NoBlock(address))?;
        let block = self.blocks.get(number);
        self.end(block, address)?;
        self.used_bytes.fetch_sub(block.size_bytes() as i64, Relaxed);
        self.give(&mut engine, Owner::FIRST, number);
        Ok(())
    }

    /// A chunk with so much room. As long as there is memory it is longer than that, since few long
    /// chunks are better than many short ones; `shortest` asks for no more than needed at once.
    fn reserve(&self, room_bytes: u64, shortest: bool) -> Result<Region, Error<S::Error>> {
        let pool_bytes = self.engine().pool_bytes;
        let left_bytes =
            self.settings.max_pool_bytes.unwrap_or(u64::MAX).saturating_sub(pool_bytes);
        let growth = (pool_bytes / GROWTH).clamp(self.first_chunk(), LONGEST_CHUNK_BYTES);
        // A chunk with room for one block and a half would waste the half.
        let long = if room_bytes > growth / 2 { room_bytes } else { growth };
        let lengths = [
            long.next_multiple_of(PAGE_BYTES),
            room_bytes.next_multiple_of(PAGE_BYTES),
            room_bytes.next_multiple_of(S::CHUNK_GRAIN_BYTES),
        ];
        let mut tried = 0;
        let mut refusal = None;
        for size_bytes in lengths.into_iter().skip(usize::from(shortest)) {
            if size_bytes > left_bytes || size_bytes == tried {
                continue;
            }
            tried = size_bytes;
            match self.system.reserve(size_bytes) {
                Ok(address) => return Ok(Region { address, size_bytes }),
                Err(error) if S::is_out_of_memory(error) => refusal = Some(error),
                Err(error) => return Err(Error::System(error)),
            }
        }
        Err(Error::OutOfMemory(refusal))
    }

    fn first_chunk(&self) -> u64 {
        self.settings.initial_pool_bytes.clamp(S::CHUNK_GRAIN_BYTES, LONGEST_CHUNK_BYTES)
    }

    fn drain_caches(&self) {
        self.caches().for_each(|cache| self.drain(cache));
    }

    fn drain(&self, cache: &Cache) {
        let kept = cache.lock();
        let mut engine = self.engine();
        kept.take_all(|number| self.give(&mut engine, Owner::FIRST, number));
    }

    fn give_back_unused(&self) -> u64 {
        if self.holds.load(SeqCst) > 0 {
            return 0;
        }
        let unused = {
            let mut engine = self.engine();
            let unused = engine.fit.remove_unused();
            engine.pool_bytes -= unused.iter().map(|chunk| chunk.size_bytes).sum::<u64>();
            unused
        };
        let given_back = unused.into_iter().filter(|chunk| self.system.give_back(*chunk));
        given_back.map(|chunk| chunk.size_bytes).sum()
    }

    /// A new block from the owner's free memory of the chunks.
    fn cut(
        &self,
        engine: &mut Engine,
        owner: Owner,
        class: Option<usize>,
        room_bytes: u64,
    ) -> Option<u32> {
        let mut block = engine.fit.take_from(owner, room_bytes)?;
        self.blocks.ensure(block.0);
        while self.blocks.get(block.0).is_spent() {
            block = engine.fit.renumber(block);
            self.blocks.ensure(block.0);
        }
        let (address, _) = engine.fit.locate(block);
        self.blocks.get(block.0).cut(address, class);
        self.map.insert(address, block.0, &self.blocks);
        Some(block.0)
    }

    /// A block that no caller has becomes the owner's free memory of its chunk.
    fn give(&self, engine: &mut Engine, owner: Owner, number: u32) {
        let block = self.blocks.get(number);
        self.map.remove(block.address(), number, &self.blocks);
        block.joined();
        engine.fit.give_to(owner, BlockId(number));
    }

    fn caches(&self) -> impl Iterator<Item = &Cache> {
        let slots = &self.caches[..self.caches_end.load(SeqCst)];
        slots.iter().filter_map(OnceLock::get).map(|cache| &**cache)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.engine)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(miri)))]
mod fragmentation;
#[cfg(test)]
mod tests;
