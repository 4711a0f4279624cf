//! Calls before `cuInit`.

use crate::{fork::in_child, library::Cuda};

const NOT_INITIALIZED: i32 = 3;

#[test]
fn a_device_that_does_not_exist_yet_is_no_invalid_value() {
    in_child(|| {
        let cuda = Cuda::load();
        let mut pool = 0_u64;
        let get_pool: unsafe extern "C" fn(*mut u64, i32) -> i32 =
            cuda.function("cuDeviceGetMemPool");
        // SAFETY: `pool` can be written to.
        assert_eq!(unsafe { get_pool(&raw mut pool, 0) }, NOT_INITIALIZED);
        let set_pool: unsafe extern "C" fn(i32, u64) -> i32 = cuda.function("cuDeviceSetMemPool");
        // SAFETY: takes any number for a pool.
        assert_eq!(unsafe { set_pool(0, 1) }, NOT_INITIALIZED);
        let advise: unsafe extern "C" fn(u64, usize, u32, i32) -> i32 =
            cuda.function("cuMemAdvise");
        // SAFETY: takes any address.
        assert_eq!(unsafe { advise(0x1000, 64, 99, 0) }, NOT_INITIALIZED);
    });
}
