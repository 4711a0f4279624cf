//! Where elements lie.

use allocert_contract::array::{ArrayInterface, Description, Element};
use rstest::rstest;

use crate::vector::{Change, data, field, ints, vector};

fn array<const N: usize>(shape: [i128; N], strides: Option<[i128; N]>) -> ArrayInterface {
    let pointer = if shape.contains(&0) { 0 } else { 0x1000 };
    let described = vector().with("shape", ints(shape)).with("data", data(pointer));
    let described = match strides {
        None => described,
        Some(strides) => described.with("strides", ints(strides)),
    };
    ArrayInterface::read(&described).expect("valid")
}

#[rstest]
#[case::c_order([3, 4], None, Some((0x1000, 0x102f)))]
#[case::one_of_many([3, 4], Some([16, 4]), Some((0x1000, 0x102f)))]
#[case::columns([3, 4], Some([4, 12]), Some((0x1000, 0x102f)))]
#[case::gaps([3, 4], Some([64, 8]), Some((0x1000, 0x109b)))]
#[case::backwards([3, 4], Some([-16, 4]), Some((0xfe0, 0x100f)))]
#[case::both_backwards([3, 4], Some([-16, -4]), Some((0xfd4, 0x1003)))]
#[case::broadcast([3, 4], Some([0, 4]), Some((0x1000, 0x100f)))]
#[case::all_one([3, 4], Some([0, 0]), Some((0x1000, 0x1003)))]
#[case::apart_by_an_odd_number([3, 4], Some([3, 1]), Some((0x1000, 0x100c)))]
#[case::nothing([3, 0], Some([1 << 40, -5]), None)]
#[case::one_row([1, 4], Some([i64::MIN as i128, 4]), Some((0x1000, 0x100f)))]
fn from_the_lowest_byte_to_the_highest(
    #[case] shape: [i128; 2],
    #[case] strides: Option<[i128; 2]>,
    #[case] expected: Option<(u64, u64)>,
) {
    let extent = array(shape, strides).extent().map(|extent| extent.into_inner());
    assert_eq!(extent, expected);
}

#[rstest]
#[case::not_said([3, 4], None, true, false)]
#[case::said([3, 4], Some([16, 4]), true, false)]
#[case::columns([3, 4], Some([4, 12]), false, true)]
#[case::gaps([3, 4], Some([32, 4]), false, false)]
#[case::broadcast([3, 1], Some([0, 4]), false, false)]
#[case::one_row([1, 4], Some([999, 4]), true, true)]
#[case::one_element([1, 1], Some([0, -7]), true, true)]
#[case::nothing([0, 4], Some([1, 1]), true, true)]
fn contiguity(
    #[case] shape: [i128; 2],
    #[case] strides: Option<[i128; 2]>,
    #[case] c: bool,
    #[case] f: bool,
) {
    let array = array(shape, strides);
    assert_eq!((array.is_c_contiguous(), array.is_f_contiguous()), (c, f));
}

#[test]
fn strides_that_are_not_said_are_those_of_c_order() {
    assert_eq!(array([3, 4], None).byte_strides(), [16, 4]);
    assert!(array([], None).byte_strides().is_empty());
    assert_eq!(
        (
            array([], None).elements(),
            array([3, 4], None).elements(),
            array([3, 0], None).elements()
        ),
        (1, 12, 0)
    );
}

#[test]
fn the_last_byte_of_all_may_be_an_element() {
    let top = vector().with("data", data((1 << 64) - 16));
    assert_eq!(
        ArrayInterface::read(&top).expect("it fits").extent(),
        Some(u64::MAX - 15..=u64::MAX)
    );
}

#[test]
fn a_record_with_gaps() {
    let fields = [
        field("x", "<f8"),
        Description::tuple([
            Description::str("y"),
            Description::list([field("", "|V3"), field("z", "<i2")]),
            ints([3]),
        ]),
        field("", "|V1"),
    ];
    let described =
        vector().with("typestr", Description::str("|V24")).with("descr", Description::list(fields));
    let array = ArrayInterface::read(&described).expect("8 + 3 * (3 + 2) + 1 are 24");
    let [x, y, gap] = array.descr().expect("it was said") else { panic!("three fields") };
    assert_eq!([x, y, gap].map(|field| field.size_bytes()), [Some(8), Some(15), Some(1)]);
    assert_eq!([x, y, gap].map(|field| field.is_padding()), [false, false, true]);
    let Element::Record(inner) = &y.element else { panic!("y is a record") };
    assert!(inner[0].is_padding() && !inner[1].is_padding());
    assert_eq!(array.extent(), Some(0x1000..=0x105f));
}
