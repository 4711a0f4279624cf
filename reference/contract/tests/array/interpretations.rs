//! What the text leaves open, read in each way.

use allocert_contract::array::{
    ArrayInterface, BitFields, Content, DefectKind, Description, DictSubclass, EarlyStream,
    ExplicitContiguous, Interpretation, LaterVersion, Stream, Version, ZeroSize,
};
use strum::VariantArray as _;

use crate::vector::{Change, data, ints, vector};

fn kinds(description: &Description, reading: Interpretation) -> Vec<DefectKind> {
    let read = ArrayInterface::read_with(description, &reading);
    read.map_or_else(
        |defects| defects.into_iter().map(|defect| defect.kind).collect(),
        |_| Vec::new(),
    )
}

fn usual() -> Interpretation {
    Interpretation::default()
}

#[test]
fn explicit_strides_of_a_contiguous_array() {
    let refused = Interpretation { explicit_contiguous: ExplicitContiguous::Refused, ..usual() };
    let explicit = vector().with("strides", ints([4]));
    assert_eq!(kinds(&explicit, usual()), []);
    assert_eq!(kinds(&explicit, refused), [DefectKind::StridesExplicit]);
    assert_eq!(kinds(&explicit.with("version", Description::int(1)), refused), []);
    assert_eq!(kinds(&vector().with("strides", ints([8])), refused), []);
}

#[test]
fn elements_without_bytes() {
    let bytes = Interpretation { zero_size: ZeroSize::Bytes, ..usual() };
    let void = vector().with("typestr", Description::str("|V0"));
    assert_eq!(kinds(&void, usual()), []);
    assert_eq!(kinds(&void, bytes), [DefectKind::ZeroSizePointer]);
    assert_eq!(kinds(&void.clone().with("data", data(0)), usual()), []);
    assert_eq!(kinds(&void.with("data", data(0)), bytes), []);
}

#[test]
fn a_version_from_the_future() {
    let newest = Interpretation { later_version: LaterVersion::Newest, ..usual() };
    let later = vector().with("version", Description::int(4)).with("stream", Description::int(0));
    assert_eq!(kinds(&later, usual()), [DefectKind::VersionUnknown, DefectKind::StreamZero]);
    assert_eq!(kinds(&later, newest), [DefectKind::StreamZero]);
    assert_eq!(
        kinds(&vector().with("version", Description::int(-1)), newest),
        [DefectKind::VersionUnknown]
    );
}

#[test]
fn a_stream_before_version_3() {
    let early = vector().with("version", Description::int(2)).with("stream", Description::int(7));
    let stream = |early_stream| {
        let read = ArrayInterface::read_with(&early, &Interpretation { early_stream, ..usual() });
        read.map(|array| array.stream())
    };
    assert!(stream(EarlyStream::Refused).is_err());
    assert_eq!(stream(EarlyStream::Obeyed), Ok(Stream::Handle(7)));
    assert_eq!(stream(EarlyStream::Ignored), Ok(Stream::None));
    let none = vector().with("version", Description::int(2)).with("stream", Description::none());
    assert_eq!(kinds(&none, usual()), []);
}

#[test]
fn bit_fields() {
    let bits = vector().with("typestr", Description::str("|t1")).with("shape", ints([20]));
    let extent = |description: &Description, bit_fields| {
        let read =
            ArrayInterface::read_with(description, &Interpretation { bit_fields, ..usual() });
        read.expect("valid").extent()
    };
    assert_eq!(extent(&bits, BitFields::Packed), Some(0x1000..=0x1002));
    assert_eq!(extent(&bits, BitFields::Bytes), Some(0x1000..=0x1013));
    let apart = bits.with("strides", ints([2]));
    assert_eq!(extent(&apart, BitFields::Packed), Some(0x1000..=0x1026));
}

#[test]
fn a_subclass_of_dict() {
    let allowed = Interpretation { dict_subclass: DictSubclass::Allowed, ..usual() };
    let subclass =
        Description { class: "Lazy".to_owned(), base: Some("dict".to_owned()), ..vector() };
    assert_eq!(kinds(&subclass, usual()), [DefectKind::DictSubclass]);
    assert_eq!(kinds(&subclass, allowed), []);
}

#[test]
fn subclasses_of_other_types_are_what_they_are() {
    let mut shape = ints([4]);
    (shape.class, shape.base) = ("Size".to_owned(), Some("tuple".to_owned()));
    assert_eq!(kinds(&vector().with("shape", shape), usual()), []);
}

#[test]
fn rules_of_later_versions_do_not_bind_earlier_ones() {
    let empty = vector().with("shape", ints([0]));
    for version in Version::VARIANTS.iter().copied() {
        let description = empty.clone().with("version", Description::int(version.number()));
        let expected: &[_] =
            if version < Version::V2 { &[] } else { &[DefectKind::ZeroSizePointer] };
        assert_eq!(kinds(&description, usual()), expected, "{version:?}");
    }
}

#[test]
fn entries_that_nobody_knows_are_allowed() {
    let mut description = vector().with("owner", Description::opaque("Thing"));
    let Content::Dict(entries) = &mut description.content else { panic!("the vector is a dict") };
    entries.others.push("7".to_owned());
    assert_eq!(kinds(&description, usual()), []);
}
