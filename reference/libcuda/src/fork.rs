//! Keeps the library usable in children of `fork`: a child has a copy of the driver's state and
//! writes to the same trace.

use std::sync::{
    Once,
    atomic::{AtomicBool, Ordering},
};

use crate::{forward, session};

static HELD: AtomicBool = AtomicBool::new(false);

pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the three handlers stay loaded as long as the library is; glibc drops them when
        // it is unloaded.
        unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    });
}

unsafe extern "C" fn before() {
    forward::hold_for_fork();
    if !session::in_callback() {
        session::hold_for_fork();
        HELD.store(true, Ordering::Relaxed);
    }
}

unsafe extern "C" fn after_in_parent() {
    // SAFETY: `before` ran on this thread and left the lock held.
    unsafe { forward::release_after_fork() };
    if HELD.swap(false, Ordering::Relaxed) {
        // SAFETY: `before` ran on this thread and left the lock held.
        unsafe { session::release_after_fork() };
    }
}

unsafe extern "C" fn after_in_child() {
    session::renumber_thread();
    // SAFETY: this is the thread that `before` ran on, in the child.
    unsafe { after_in_parent() };
}
