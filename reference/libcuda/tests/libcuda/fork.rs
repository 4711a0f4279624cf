//! Children of `fork`.

use crate::library::Cuda;

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Runs `body` in a forked child and fails if it does.
pub(crate) fn in_child(body: impl FnOnce() + std::panic::UnwindSafe) {
    // SAFETY: the child only runs `body`, which touches the library under test and its own memory,
    // and then leaves at once.
    let child = unsafe { fork() };
    if child == 0 {
        let failed = std::panic::catch_unwind(body).is_err();
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { _exit(failed.into()) };
    }
    let mut status = -1;
    // SAFETY: waits for the child just made, into a live variable.
    unsafe { waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child failed, see above");
}

#[test]
fn a_child_goes_on_with_a_copy_of_the_state() {
    in_child(|| {
        let cuda = Cuda::up();
        let data = cuda.alloc(4);
        assert_eq!(cuda.cuMemcpyHtoD_v2(data, [1, 2, 3, 4].as_ptr(), 4), 0);
        let inherited = &cuda;
        in_child(std::panic::AssertUnwindSafe(move || {
            assert_eq!(inherited.read(data, 4), [1, 2, 3, 4]);
            assert_eq!(inherited.cuMemcpyHtoD_v2(data, [5; 4].as_ptr(), 4), 0);
            assert_eq!(inherited.cuMemFree_v2(data), 0);
        }));
        assert_eq!(cuda.read(data, 4), [1, 2, 3, 4], "the child's copy was its own");
    });
}
