use std::collections::BTreeMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rstest::rstest;

use super::*;

const MIB: u64 = 1 << 20;

fn over(size_bytes: u64) -> Fit {
    let mut fit = Fit::new(256);
    fit.add(MIB, size_bytes);
    fit
}

#[test]
fn neighbours_coalesce_in_any_order() {
    for order in [[0_usize, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut fit = over(3 * 256);
        let blocks = [(); 3].map(|()| fit.take(256).expect("three grains"));
        assert_eq!(fit.take(256), None);
        for index in order {
            fit.give(blocks[index]);
        }
        assert_eq!(fit.free_bytes(), 3 * 256);
        let whole = fit.take(3 * 256).expect("one block again");
        assert_eq!(fit.locate(whole), (MIB, MIB));
    }
}

#[rstest]
#[case::one_grain(256)]
#[case::inside_a_wide_cell(33 * MIB + 256)]
#[case::a_power_of_two(64 * MIB)]
fn a_size_given_back_is_found_again(#[case] size_bytes: u64) {
    let mut fit = over(size_bytes);
    for _ in 0..100 {
        let block = fit.take(size_bytes).expect("the region has just this size");
        fit.give(block);
    }
    assert_eq!(fit.free_bytes(), size_bytes);
}

#[test]
fn no_fitting_block_is_missed_behind_smaller_ones_of_its_cell() {
    let mut fit = Fit::new(256);
    // One cell: 64 MiB and the sizes shortly above it. The largest is entered first, so found last.
    fit.add(1 << 40, 64 * MIB + 1024);
    fit.add(1 << 41, 64 * MIB);
    fit.add(1 << 42, 64 * MIB + 256);
    let block = fit.take(64 * MIB + 512).expect("the first region fits");
    assert_eq!(fit.locate(block).1, 1 << 40);
}

#[test]
fn only_unused_regions_are_removed() {
    let mut fit = over(MIB);
    fit.add(64 * MIB, 2 * MIB);
    let block = fit.take(2 * MIB).expect("the second region");
    assert_eq!(fit.remove_unused(), [Region { address: MIB, size_bytes: MIB }]);
    assert_eq!(fit.free_bytes(), 0);
    fit.give(block);
    assert_eq!(fit.remove_unused(), [Region { address: 64 * MIB, size_bytes: 2 * MIB }]);
    assert_eq!(fit.take(256), None);
}

/// What one owner has is nobody else's, and joins only with his own.
#[test]
fn free_blocks_of_different_owners_stay_apart() {
    let mut fit = over(4 * 256);
    let other = fit.add_owner();
    assert!(fit.has_none(other) && !fit.has_none(Owner::FIRST));
    let [first, second, third, fourth] = [(); 4].map(|()| fit.take(256).expect("four grains"));
    fit.give_to(other, second);
    fit.give_to(other, third);
    fit.give(first);
    fit.give(fourth);
    assert_eq!([fit.take(512), fit.take_from(other, 768)], [None; 2]);
    let part = fit.take_from(other, 256).expect("half of what he has");
    assert_eq!(fit.locate(part), (MIB + 256, MIB));
    fit.give_to(other, part);
    assert_eq!((fit.remove_unused(), fit.free_bytes()), (Vec::new(), 4 * 256));
    fit.hand_over(other, Owner::FIRST);
    assert!(fit.has_none(other));
    assert_eq!(fit.remove_unused(), [Region { address: MIB, size_bytes: 4 * 256 }]);
}

/// The simplest model: the taken ranges by address.
#[rstest]
fn taken_blocks_are_disjoint_and_all_comes_back(
    #[values(64, 256)] grain_bytes: u64,
    #[values(1, 0xdead_beef)] seed: u64,
) {
    let mut fit = Fit::new(grain_bytes);
    let regions = [(MIB, 2 * MIB), (8 * MIB, MIB), (9 * MIB, MIB)];
    for (address, size_bytes) in regions {
        fit.add(address, size_bytes);
    }
    let owners = [Owner::FIRST, fit.add_owner(), fit.add_owner()];
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut taken: BTreeMap<u64, (u64, BlockId)> = BTreeMap::new();
    let mut taken_bytes = 0;
    for _ in 0..if cfg!(miri) { 300 } else { 5_000 } {
        if below(100) < 55 {
            let power = below(10);
            let size_bytes = (below(1 << power) + 1) * grain_bytes;
            let owner = owners[below(3) as usize];
            let Some(block) = fit.take_from(owner, size_bytes) else { continue };
            let (address, region) = fit.locate(block);
            assert!(address.is_multiple_of(grain_bytes) && fit.size_bytes(block) == size_bytes);
            let room = regions.iter().find(|(start, _)| *start == region).expect("a region").1;
            assert!(region <= address && address + size_bytes <= region + room);
            let before = taken.range(..=address).next_back();
            assert!(before.is_none_or(|(start, (bytes, _))| start + bytes <= address));
            let after = taken.range(address..).next();
            assert!(after.is_none_or(|(start, _)| address + size_bytes <= *start));
            taken.insert(address, (size_bytes, block));
            taken_bytes += size_bytes;
        } else if let Some((&address, _)) = taken.range(below(10 * MIB)..).next() {
            let (size_bytes, block) = taken.remove(&address).expect("just found");
            fit.give_to(owners[below(3) as usize], block);
            taken_bytes -= size_bytes;
        }
        if below(100) == 0 {
            fit.hand_over(owners[below(2) as usize + 1], Owner::FIRST);
        }
        assert_eq!(fit.free_bytes() + taken_bytes, 4 * MIB);
    }
    for (_, block) in taken.into_values() {
        fit.give(block);
    }
    owners[1..].iter().for_each(|&owner| fit.hand_over(owner, Owner::FIRST));
    assert_eq!(fit.remove_unused().len(), 3);
}

/// The block keeps its place and its neighbours, and its old number stays unused.
#[test]
fn a_block_gets_another_number() {
    for at in 0..3 {
        let mut fit = over(3 * 256);
        let mut blocks = [(); 3].map(|()| fit.take(256).expect("three grains"));
        let old = blocks[at];
        let before = fit.locate(old);
        blocks[at] = fit.renumber(old);
        assert_eq!((fit.locate(blocks[at]), fit.size_bytes(blocks[at])), (before, 256));
        blocks.into_iter().for_each(|block| fit.give(block));
        let taken = [(); 3].map(|()| fit.take(256).expect("three grains"));
        assert!(!taken.contains(&old));
        taken.into_iter().for_each(|block| fit.give(block));
        assert_eq!(fit.remove_unused(), [Region { address: MIB, size_bytes: 3 * 256 }]);
    }
}

#[test]
fn clear_yields_whole_regions() {
    let mut fit = over(3 * 256);
    fit.add(64 * MIB, MIB);
    let taken = [(); 3].map(|()| fit.take(256).expect("four grains"));
    fit.give(taken[1]);
    let [first, second] = [(MIB, 3 * 256), (64 * MIB, MIB)]
        .map(|(address, size_bytes)| Region { address, size_bytes });
    assert_eq!(fit.clear(), [first, second]);
    assert_eq!((fit.free_bytes(), fit.clear()), (0, Vec::new()));
}
