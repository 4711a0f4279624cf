//! Chunks: when they come and go.

use allocert_emm::{Manager, Pool};
use rstest::rstest;

use crate::script::Script;

const MIB: u64 = 1 << 20;

#[test]
fn many_cycles_of_many_sizes_need_one_chunk() {
    let driver = Script::new(1024 * MIB);
    let pool = Pool::new(driver.clone());
    for cycle in 0..10_000_u64 {
        let memory = pool.memalloc(cycle * 97 % (8 * MIB)).expect("enough memory");
        pool.release(memory.token).expect("live");
    }
    assert_eq!(driver.calls(), [format!("alloc {}", 32 * MIB)]);
}

#[rstest]
#[case::below_a_chunk(20 * MIB)]
#[case::a_chunk_of_its_own(33 * MIB + 256)]
#[case::odd(40 * MIB + 17)]
fn a_large_size_is_served_from_cache(#[case] size_bytes: u64) {
    let driver = Script::new(1024 * MIB);
    let pool = Pool::new(driver.clone());
    for _ in 0..100 {
        let memory = pool.memalloc(size_bytes).expect("enough memory");
        pool.release(memory.token).expect("live");
    }
    assert_eq!(driver.calls().len(), 1);
}

#[test]
fn running_out_gives_empty_chunks_back_and_tries_again() {
    let driver = Script::new(64 * MIB);
    let pool = Pool::new(driver.clone());
    let small = pool.memalloc(64).expect("enough memory");
    pool.release(small.token).expect("live");
    driver.calls();
    pool.memalloc(60 * MIB).expect("fits once the chunk is free");
    let alloc = format!("alloc {}", 60 * MIB);
    assert_eq!(driver.calls(), [alloc.clone(), "free".to_owned(), alloc]);
}

#[test]
fn inside_defer_empty_chunks_stay() {
    let driver = Script::new(64 * MIB);
    let pool = Pool::new(driver.clone());
    let small = pool.memalloc(64).expect("enough memory");
    pool.release(small.token).expect("live");
    pool.defer_begin();
    assert!(pool.memalloc(60 * MIB).expect_err("short").is_out_of_memory());
    assert_eq!(driver.state().device.len(), 1);
    pool.defer_end().expect("begun");
    pool.memalloc(60 * MIB).expect("fits once the chunk is free");
}

#[test]
fn a_device_smaller_than_a_chunk_is_used_to_the_last_grain() {
    let driver = Script::new(1024);
    let pool = Pool::new(driver.clone());
    for _ in 0..4 {
        pool.memalloc(200).expect("enough memory");
    }
    assert!(pool.memalloc(1).expect_err("full").is_out_of_memory());
}

#[test]
fn a_released_address_is_handed_out_again_under_a_new_token() {
    let driver = Script::new(64 * MIB);
    let pool = Pool::new(driver);
    let first = pool.memalloc(1000).expect("enough memory");
    pool.release(first.token).expect("live");
    let second = pool.memalloc(1000).expect("enough memory");
    assert_eq!(first.device_pointer, second.device_pointer);
    assert_ne!(first.token, second.token);
}
