//! The signal by which the system tells of the end of a child, whatever a subject did to it.

use std::mem::MaybeUninit;
use std::ptr;

/// While it lives, SIGCHLD has its default action: the system keeps no child of a process that
/// ignores the signal, and a handler may wait for every child.
#[derive(Debug)]
pub(crate) struct DefaultChildSignal(libc::sigaction);

impl DefaultChildSignal {
    /// Sets the default action.
    pub(crate) fn set() -> Self {
        let mut before = MaybeUninit::zeroed();
        // SAFETY: a `sigaction` of zeros is valid: no flags, an empty mask and SIG_DFL, which is 0.
        let default: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: both point to structures of the type that the function reads and writes.
        unsafe { libc::sigaction(libc::SIGCHLD, &raw const default, before.as_mut_ptr()) };
        // SAFETY: it was zeros, which are valid, or the function wrote it.
        Self(unsafe { before.assume_init() })
    }
}

impl Drop for DefaultChildSignal {
    fn drop(&mut self) {
        // SAFETY: the action is the one that the process had; what it names is loaded until the
        // process ends.
        unsafe { libc::sigaction(libc::SIGCHLD, &raw const self.0, ptr::null_mut()) };
    }
}
