//! The system's numbers of the process and of each thread, kept so that a record costs no system
//! call.

use std::{
    cell::Cell,
    process,
    sync::{
        Once,
        atomic::{AtomicU32, Ordering},
    },
};

/// Refreshed after `fork`.
static PROCESS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// 0 until it is asked for.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// The number of this process, once [`watch_forks`] ran.
#[inline]
pub(crate) fn process_id() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// The number of the calling thread. A system call the first time in each thread.
#[must_use]
#[inline]
pub fn thread_id() -> u32 {
    match THREAD.try_with(Cell::get) {
        Ok(known) if known != 0 => known,
        _ => ask(),
    }
}

#[cold]
fn ask() -> u32 {
    watch_forks();
    // SAFETY: gettid has no preconditions.
    let number = unsafe { libc::gettid() as u32 };
    // A thread that is being torn down has no place to keep it.
    THREAD.try_with(|thread| thread.set(number)).ok();
    number
}

/// Learns the process's number, and again in every child of `fork`.
pub(crate) fn watch_forks() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        PROCESS.store(process::id(), Ordering::Relaxed);
        // SAFETY: the handler stays loaded as long as this code is; glibc drops it when a library
        // that contains it is unloaded.
        unsafe { libc::pthread_atfork(None, None, Some(renumber)) };
    });
}

unsafe extern "C" fn renumber() {
    PROCESS.store(process::id(), Ordering::Relaxed);
    THREAD.try_with(|thread| thread.set(0)).ok();
}
