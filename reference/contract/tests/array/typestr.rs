//! The grammar of types.

use allocert_contract::array::{ElementKind, Multiple, Typestr, TypestrError, Unit};
use rstest::rstest;

fn parse(text: &str) -> Result<Typestr, TypestrError> {
    text.parse()
}

#[rstest]
#[case::boolean("|b1", 1)]
#[case::byte("|u1", 1)]
#[case::short("<i2", 2)]
#[case::half(">f2", 2)]
#[case::long_double("<f16", 16)]
#[case::complex("<c32", 32)]
#[case::duration("<m8[ns]", 8)]
#[case::date(">M8[25s]", 8)]
#[case::no_unit("<M8", 8)]
#[case::bytes("|S5", 5)]
#[case::text("<U5", 20)]
#[case::opaque("|V16", 16)]
#[case::nothing("|V0", 0)]
#[case::bits("|t9", 2)]
#[case::the_most("|V2147483647", 2_147_483_647)]
fn a_type_has_a_size_and_is_written_as_it_was_read(#[case] text: &str, #[case] bytes: u64) {
    let typestr = parse(text).expect("NumPy writes it");
    assert_eq!((typestr.size_bytes(), typestr.to_string()), (bytes, text.to_owned()));
}

#[rstest]
#[case("", TypestrError::Order)]
#[case("f4", TypestrError::Order)]
#[case("=f4", TypestrError::Order)]
#[case("<", TypestrError::ElementKind)]
#[case("<g4", TypestrError::ElementKind)]
#[case("<é4", TypestrError::ElementKind)]
#[case("<f", TypestrError::NoCount)]
#[case("<f 4", TypestrError::NoCount)]
#[case("<f-4", TypestrError::NoCount)]
#[case("<f٤", TypestrError::NoCount)]
#[case("<f3", TypestrError::Count(ElementKind::Float, 3))]
#[case("<M4[s]", TypestrError::Count(ElementKind::Datetime, 4))]
#[case("|S2147483648", TypestrError::Count(ElementKind::Bytes, 1 << 31))]
#[case("|V99999999999999999999", TypestrError::Count(ElementKind::Void, u64::MAX))]
#[case("<U536870912", TypestrError::Count(ElementKind::Unicode, 1 << 29))]
#[case("<f4 ", TypestrError::Rest)]
#[case("<f8[s]", TypestrError::Rest)]
#[case("<M8[]", TypestrError::Unit)]
#[case("<M8[s", TypestrError::Unit)]
#[case("<M8[s/0]", TypestrError::Unit)]
#[case("<m8[2147483648s]", TypestrError::Unit)]
fn the_rest_is_refused_for_what_is_wrong(#[case] text: &str, #[case] bad: TypestrError) {
    assert_eq!(parse(text), Err(bad));
}

#[test]
fn a_unit_keeps_its_count() {
    let unit = |text| parse(text).expect("valid").unit;
    assert_eq!(unit("<m8[25s]"), Some(Multiple { count: 25, unit: Unit::Second }));
    assert_eq!(unit("<m8[M]"), Some(Multiple { count: 1, unit: Unit::Month }));
    assert_eq!(unit("<m8[generic]"), None);
}

#[rstest]
#[case(">f4", cfg!(target_endian = "little"))]
#[case("<f4", cfg!(target_endian = "big"))]
#[case(">u1", false)]
#[case(">S4", false)]
#[case(">U1", cfg!(target_endian = "little"))]
fn foreign_is_what_this_machine_reads_backwards(#[case] text: &str, #[case] foreign: bool) {
    assert_eq!(parse(text).expect("valid").is_foreign(), foreign);
}
