//! How many blocks fit: the limits of compute capability 9.0.

use allocert_driver::{CudaError, Kernels};
use rstest::rstest;

use crate::machine::Machine;

fn machine() -> (Machine, u64) {
    let mut machine = Machine::new();
    let library =
        machine.driver.library_load(Some(Kernels::of_ptx(".entry k()")), None).expect("loaded");
    let kernel = machine.driver.image_function(library, "k").expect("defined");
    (machine, kernel)
}

#[rstest]
#[case::by_blocks(32, 0, Ok(32))]
#[case::by_threads(1024, 0, Ok(2))]
#[case::in_whole_warps(1000, 0, Ok(2))]
#[case::by_shared_memory(64, 48 << 10, Ok(4))]
#[case::too_many_threads(1025, 0, Ok(0))]
#[case::more_shared_memory_than_the_kernel_may_have(64, 49_153, Ok(0))]
#[case::no_threads(0, 0, Err(CudaError::INVALID_VALUE))]
fn the_tightest_limit_counts(
    #[case] threads: i32,
    #[case] shared: u64,
    #[case] expected: Result<i32, CudaError>,
) {
    let (mut machine, kernel) = machine();
    assert_eq!(machine.driver.active_blocks(kernel, threads, shared), expected);
}

#[test]
fn a_kernel_may_be_given_more_shared_memory() {
    let (mut machine, kernel) = machine();
    let driver = &mut machine.driver;
    driver.function_set_attribute(kernel, 8, 232_448).expect("a function");
    assert_eq!(
        (driver.function_attribute(kernel, 8), driver.active_blocks(kernel, 64, 232_448)),
        (Ok(232_448), Ok(1))
    );
}

#[test]
fn the_largest_block_that_fills_the_device_is_found() {
    let (mut machine, kernel) = machine();
    let mut best = |shared: &mut dyn FnMut(i32) -> u64, most| {
        machine.driver.potential_block(kernel, shared, most)
    };
    assert_eq!(best(&mut |_| 0, 0), Ok((264, 1024)));
    assert_eq!(best(&mut |_| 0, 256), Ok((8 * 132, 256)));
    assert_eq!(
        best(&mut |threads| threads as u64 * 200, 0),
        Ok((5 * 132, 224)),
        "1120 threads, and 48 KiB at most"
    );
    assert_eq!(best(&mut |_| 1 << 20, 0), Ok((0, 0)), "nothing fits");
    assert_eq!(machine.driver.active_blocks(1, 32, 0), Err(CudaError::INVALID_HANDLE));
}
