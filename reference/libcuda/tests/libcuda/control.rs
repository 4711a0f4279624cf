//! The control functions. They change the driver of the whole process, so each test runs in a
//! forked child.

use crate::{fork::in_child, library::Cuda};

#[test]
fn faults_can_be_added_and_cleared() {
    in_child(|| {
        let cuda = Cuda::up();
        assert_eq!(cuda.allocert_control_version(), 3);
        assert_eq!(cuda.allocert_fault_add(c"cuMemAlloc_v2".as_ptr(), 2, 0, 2), 0);
        let results = [(); 3].map(|()| cuda.cuMemAlloc_v2(&mut 0, 8));
        assert_eq!(results, [0, 2, 2]);
        assert_eq!(cuda.allocert_fault_clear(), 0);
        assert_eq!(cuda.cuMemAlloc_v2(&mut 0, 8), 0);
    });
}

#[test]
fn wrong_requests_are_refused() {
    in_child(|| {
        let cuda = Cuda::load();
        assert_eq!(cuda.allocert_fault_add(c"cuMemAllocate".as_ptr(), 1, 1, 2), 500);
        assert_eq!(cuda.allocert_fault_add(c"cuMemAlloc_v2".as_ptr(), 0, 1, 2), 1);
        assert_eq!(cuda.allocert_fault_add(c"cuMemAlloc_v2".as_ptr(), 1, 1, 0), 1);
        assert_eq!(cuda.allocert_fault_add(std::ptr::null(), 1, 1, 2), 1);
        assert_eq!(cuda.allocert_trace_marker(9, 0), 1);
    });
}

#[test]
fn a_restart_forgets_everything() {
    in_child(|| {
        let cuda = Cuda::up();
        let first = cuda.alloc(64);
        cuda.allocert_fault_add(c"cuInit".as_ptr(), 1, 0, 999);
        assert_eq!(cuda.allocert_driver_restart(), 0);
        assert_eq!(cuda.cuMemAlloc_v2(&mut 0, 8), 3, "not initialized");
        cuda.retain();
        assert_eq!(cuda.cuMemFree_v2(first), 1);
        assert_eq!(cuda.alloc(64), first, "the same addresses again");
    });
}
