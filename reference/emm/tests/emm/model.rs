//! Random operations against the simplest model: a list of live ranges.

use allocert_emm::{Kind, Memory};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rstest::rstest;

use crate::every::open;
use crate::script::Script;

const MIB: u64 = 1 << 20;

#[rstest]
fn live_ranges_are_aligned_disjoint_and_inside_driver_memory(
    #[values(Kind::Pool, Kind::Deferred, Kind::HostOnly)] kind: Kind,
    #[values(1, 0xdead_beef, 0x0123_4567_89ab_cdef)] seed: u64,
) {
    let driver = Script::new(96 * MIB);
    let manager = open(kind, &driver);
    manager.initialize().expect("a driver");
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut live: Vec<Memory> = Vec::new();
    for step in 0..8_000 {
        match below(100) {
            0 if step % 5 == 0 => {
                manager.reset();
                live.clear();
                assert!(driver.state().device.is_empty());
            }
            0..55 => {
                let power = below(24);
                let size_bytes = below(1 << power);
                match manager.memalloc(size_bytes) {
                    Ok(memory) => admit(&mut live, memory, &driver),
                    Err(error) => assert!(error.is_out_of_memory(), "{error}"),
                }
            }
            _ if live.is_empty() => {}
            _ => {
                let memory = live.swap_remove(below(live.len() as u64) as usize);
                manager.release(memory.token).expect("live");
            }
        }
    }
    for memory in live {
        manager.release(memory.token).expect("live");
    }
    manager.reset();
    assert!(driver.state().device.is_empty());
}

fn admit(live: &mut Vec<Memory>, new: Memory, driver: &Script) {
    let (start, end) = (new.device_pointer, new.device_pointer + new.size_bytes.max(1));
    assert_eq!(start % 256, 0);
    for old in live.iter() {
        let (old_start, old_end) = (old.device_pointer, old.device_pointer + old.size_bytes.max(1));
        assert!(end <= old_start || old_end <= start, "{new:?} overlaps {old:?}");
    }
    let state = driver.state();
    let (base, size_bytes) =
        state.device.range(..=start).next_back().expect("no driver memory below it");
    assert!(end <= base + size_bytes, "{new:?} leaves the driver's memory");
    drop(state);
    live.push(new);
}
