use rstest::rstest;

use super::*;

const MIB: u64 = 1 << 20;

fn over(size_bytes: u64) -> Fit {
    let mut fit = Fit::default();
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
    let mut fit = Fit::default();
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
    assert_eq!(fit.remove_unused(), [MIB]);
    assert_eq!(fit.free_bytes(), 0);
    fit.give(block);
    assert_eq!(fit.remove_unused(), [64 * MIB]);
    assert_eq!(fit.take(256), None);
}
