//! Numba's deallocation policy.

use allocert_emm::{Deferred, Manager};

use crate::script::Script;

const MIB: u64 = 1 << 20;

fn open(driver: &Script) -> Deferred<Script> {
    let manager = Deferred::new(driver.clone());
    manager.initialize().expect("a driver");
    driver.calls();
    manager
}

fn frees(driver: &Script) -> usize {
    driver.calls().iter().filter(|call| *call == "free").count()
}

#[test]
fn the_eleventh_release_frees_all_eleven() {
    let driver = Script::new(256 * MIB);
    let manager = open(&driver);
    let tokens = [(); 11].map(|()| manager.memalloc(64).expect("enough memory").token);
    for token in &tokens[..10] {
        manager.release(*token).expect("live");
    }
    assert_eq!(frees(&driver), 0);
    manager.release(tokens[10]).expect("live");
    assert_eq!(frees(&driver), 11);
}

#[test]
fn more_than_a_fifth_of_the_memory_does_not_wait() {
    let driver = Script::new(100 * MIB);
    let manager = open(&driver);
    let fifth = manager.memalloc(20 * MIB).expect("enough memory");
    let more = manager.memalloc(1).expect("enough memory");
    manager.release(fifth.token).expect("live");
    assert_eq!(frees(&driver), 0);
    manager.release(more.token).expect("live");
    assert_eq!(frees(&driver), 2);
}

#[test]
fn running_out_frees_what_waits_and_tries_once_more() {
    let driver = Script::new(100 * MIB);
    let manager = open(&driver);
    let waiting = manager.memalloc(15 * MIB).expect("enough memory");
    manager.release(waiting.token).expect("live");
    driver.calls();
    manager.memalloc(90 * MIB).expect("fits once the waiting memory is free");
    let alloc = format!("alloc {}", 90 * MIB);
    assert_eq!(driver.calls(), [alloc.clone(), "free".to_owned(), alloc]);
}

#[test]
fn inside_defer_running_out_frees_nothing() {
    let driver = Script::new(100 * MIB);
    let manager = open(&driver);
    let waiting = manager.memalloc(15 * MIB).expect("enough memory");
    manager.defer_begin();
    manager.release(waiting.token).expect("live");
    assert!(manager.memalloc(90 * MIB).expect_err("short").is_out_of_memory());
    assert_eq!(frees(&driver), 0);
    manager.defer_end().expect("begun");
    manager.memalloc(90 * MIB).expect("fits once the waiting memory is free");
}
