//! A lock for sections of tens of nanoseconds: it spins, then yields.
//!
//! Releasing it is a plain store. Taking it is one too while glibc says that the process has one
//! thread, because the atomic exchange is the most expensive part of a driver call.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering},
    time::Duration,
};

#[derive(Debug)]
pub(crate) struct Lock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is only reached through a `Guard`, of which `locked` allows one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

#[derive(Debug)]
pub(crate) struct Guard<'l, T>(&'l Lock<T>);

/// glibc's `__libc_single_threaded`, once looked up; null where there is none.
static SINGLE_THREADED: AtomicPtr<AtomicU8> = AtomicPtr::new(ptr::null_mut());

/// Lets later locking skip the atomic exchange in processes with one thread.
pub(crate) fn watch_threads() {
    // SAFETY: the name is NUL-terminated.
    let flag = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    SINGLE_THREADED.store(flag.cast(), Ordering::Release);
}

#[inline]
fn is_single_threaded() -> bool {
    let flag = SINGLE_THREADED.load(Ordering::Acquire);
    // SAFETY: not null, so it is glibc's `char`, which lives as long as the process.
    !flag.is_null() && unsafe { &*flag }.load(Ordering::Relaxed) != 0
}

const SPINS: u32 = 64;
const YIELDS: u32 = 256;

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if is_single_threaded() && !self.locked.load(Ordering::Relaxed) {
            // Nobody can come between: a second thread would have to be made by this one.
            self.locked.store(true, Ordering::Relaxed);
        } else if self
            .locked
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            self.wait();
        }
        Guard(self)
    }

    #[cold]
    fn wait(&self) {
        let mut tries = 0;
        while self.locked.swap(true, Ordering::Acquire) {
            match tries {
                0..SPINS => std::hint::spin_loop(),
                SPINS..YIELDS => std::thread::yield_now(),
                YIELDS.. => std::thread::sleep(Duration::from_micros(50)),
            }
            tries = (tries + 1).min(YIELDS);
        }
    }

    /// Releases a lock whose guard was forgotten.
    ///
    /// # Safety
    /// The calling thread (or, after `fork`, the thread it continues) holds the lock and has no
    /// guard left.
    pub(crate) unsafe fn release(&self) {
        self.locked.store(false, Ordering::Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one, and it is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.locked.store(false, Ordering::Release);
    }
}
