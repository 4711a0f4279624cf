//! Keeps the library usable in children of `fork`: a child has a copy of the driver's state and
//! writes to the same trace.

/// A handler of `fork`. It runs on the thread that forks, or that goes on in the child.
pub(crate) type Handler = unsafe extern "C" fn();

/// Has glibc call these before each `fork` and after it. Whoever owns a lock takes it in `before`
/// and releases it in the other two, so that no other thread holds it while the process is copied.
pub(crate) fn register(before: Handler, after_in_parent: Handler, after_in_child: Handler) {
    // SAFETY: the three handlers stay loaded as long as the library is; glibc drops them when it is
    // unloaded.
    unsafe {
        libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child));
    }
}
