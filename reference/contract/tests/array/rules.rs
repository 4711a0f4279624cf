//! One description for each rule that breaks it, and what is said of it.

use std::collections::BTreeSet;
use strum::VariantArray as _;

use allocert_contract::array::{
    ArrayInterface, Content, Defect, DefectKind, Description, Interpretation, Items,
};

use crate::vector::{Change, data, field, ints, vector};

fn str(text: &str) -> Description {
    Description::str(text)
}

fn mask(interface: Description) -> Description {
    Description::exporter("Mask", interface)
}

fn object(interface: Description) -> Description {
    Description::exporter("Array", interface)
}

fn record(fields: impl IntoIterator<Item = Description>) -> Description {
    vector().with("typestr", str("|V8")).with("descr", Description::list(fields))
}

fn nested(depth: usize) -> Description {
    let leaf = Description::list([field("x", "|V8")]);
    (0..depth).fold(leaf, |inner, _| Description::list([Description::tuple([str("x"), inner])]))
}

fn content(class: &str, base: Option<&str>, content: Content) -> Description {
    Description { class: class.to_owned(), base: base.map(str::to_owned), content }
}

/// Objects by what is wrong with them.
fn broken() -> Vec<(&'static str, Description)> {
    let Content::Dict(entries) = vector().content else { panic!("the vector is a dict") };
    let many = || {
        content(
            "tuple",
            None,
            Content::Tuple(Items { carried: vec![Description::int(1); 64], truncated: 1 }),
        )
    };
    let huge = |digits: &str| content("int", None, Content::Huge(digits.to_owned()));
    let opaque = Description::opaque;
    let bool = Description::bool;
    let of = |key: &str, value: Description| object(vector().with(key, value));
    vec![
        ("no attribute", opaque("Thing")),
        (
            "the attribute raises",
            content("Thing", None, Content::Raised("ValueError: no".to_owned())),
        ),
        ("not carried", content("Thing", None, Content::NotCarried)),
        ("a list for a dict", object(Description::list([]))),
        ("a subclass of dict", object(content("Lazy", Some("dict"), Content::Dict(entries)))),
        ("an empty dict", object(Description::dict([("", Description::none())]))),
        ("version as text", of("version", str("3"))),
        ("version True", of("version", bool(true))),
        ("version 4", of("version", Description::int(4))),
        ("version -1", of("version", Description::int(-1))),
        ("version without end", of("version", huge("1000000…"))),
        ("shape as list", of("shape", Description::list([Description::int(4)]))),
        (
            "extents of all sorts",
            of("shape", Description::tuple([str("4"), bool(true), Description::int(-3)])),
        ),
        ("an extent of 2^63", of("shape", ints([1 << 63]))),
        ("65 axes", of("shape", many())),
        ("2^31 times 2^31 floats", of("shape", ints([1 << 31, 1 << 31]))),
        ("typestr as number", of("typestr", Description::int(4))),
        ("typestr of another grammar", of("typestr", str("float32"))),
        ("three bytes of integer", of("typestr", str("<i3"))),
        ("an unknown unit", of("typestr", str("<M8[fortnight]"))),
        ("a divided unit", of("typestr", str("<m8[s/0]"))),
        ("floats without order", of("typestr", str("|f4"))),
        ("objects", of("typestr", str("|O8"))),
        ("descr as tuple", of("descr", Description::tuple([]))),
        ("descr None", of("descr", Description::none())),
        ("a field as list", object(record([Description::list([str("x"), str("<f8")])]))),
        (
            "a name as number",
            object(record([Description::tuple([Description::int(1), str("<f8")])])),
        ),
        (
            "a title without name",
            object(record([Description::tuple([
                Description::tuple([str("t"), str("")]),
                str("<f8"),
            ])])),
        ),
        ("a name twice", object(record([field("x", "<f4"), field("x", "<f4")]))),
        (
            "a field's type as number",
            object(record([Description::tuple([str("x"), Description::int(8)])])),
        ),
        ("a field's broken typestr", object(record([field("x", "f8")]))),
        ("a field of objects", object(record([field("x", "|O8")]))),
        (
            "a field's shape as list",
            object(record([Description::tuple([str("x"), str("<f8"), Description::list([])])])),
        ),
        (
            "a field's negative shape",
            object(record([Description::tuple([str("x"), str("<f8"), ints([-1])])])),
        ),
        ("fields of another size", object(record([field("x", "<f4")]))),
        (
            "records in records without end",
            object(vector().with("typestr", str("|V8")).with("descr", nested(16))),
        ),
        ("data as list", of("data", Description::list([Description::int(1), bool(false)]))),
        ("data of three", of("data", ints([1, 2, 3]))),
        (
            "a pointer as float",
            of(
                "data",
                Description::tuple([content("float", None, Content::Float(4096.0)), bool(false)]),
            ),
        ),
        ("a pointer True", of("data", Description::tuple([bool(true), bool(false)]))),
        ("a negative pointer", of("data", data(-1))),
        ("a pointer of 65 bits", of("data", data(1 << 64))),
        ("a flag 0", of("data", ints([4096, 0]))),
        (
            "a flag of NumPy",
            of("data", Description::tuple([Description::int(4096), opaque("bool")])),
        ),
        ("no elements, and a pointer", of("shape", ints([0]))),
        ("elements at 0", of("data", data(0))),
        ("elements below 0", of("strides", ints([-0x1000]))),
        ("elements above 2^64", of("data", data((1 << 64) - 15))),
        ("strides as list", of("strides", Description::list([Description::int(4)]))),
        ("two strides for one axis", of("strides", ints([4, 4]))),
        ("a stride as text", of("strides", Description::tuple([str("4")]))),
        ("a stride False", of("strides", Description::tuple([bool(false)]))),
        ("a stride of 64 bits", of("strides", ints([1 << 63]))),
        (
            "a mask in version 0",
            object(vector().with("version", Description::int(0)).with("mask", mask(vector()))),
        ),
        ("a dict as mask", of("mask", vector())),
        ("a bool as mask", of("mask", bool(true))),
        (
            "a mask that raises",
            of("mask", content("Thing", None, Content::Raised("OSError".to_owned()))),
        ),
        ("a mask of another shape", of("mask", mask(vector().with("shape", ints([3]))))),
        ("a mask with more axes", of("mask", mask(vector().with("shape", ints([1, 4]))))),
        (
            "a broken mask",
            of(
                "mask",
                mask(vector().with("typestr", str("?")).with("stream", Description::int(0))),
            ),
        ),
        (
            "a broken mask of a mask",
            of("mask", mask(vector().with("mask", mask(vector().without("data"))))),
        ),
        (
            "masks without end",
            object((0..10).fold(vector(), |inner, _| vector().with("mask", mask(inner)))),
        ),
        (
            "a stream in version 2",
            object(
                vector().with("version", Description::int(2)).with("stream", Description::int(1)),
            ),
        ),
        ("a stream as object", of("stream", opaque("Stream"))),
        ("stream True", of("stream", bool(true))),
        ("stream 0", of("stream", Description::int(0))),
        ("stream -1", of("stream", Description::int(-1))),
        ("a stream below everything", of("stream", huge("-1000000…"))),
        ("a stream of 65 bits", of("stream", Description::int(1_i128 << 64))),
    ]
}

fn defects(object: &Description) -> Vec<Defect> {
    ArrayInterface::read_object(object, &Interpretation::default()).expect_err("it is broken")
}

#[test]
fn a_broken_description_says_what_is_wrong() {
    let mut text = String::new();
    for (name, object) in broken() {
        text.push_str(&format!("{name}\n"));
        for defect in defects(&object) {
            text.push_str(&format!("  {}: {defect}\n", defect.kind));
        }
    }
    insta::assert_snapshot!("defects", text);
}

#[test]
fn every_kind_of_defect_has_its_description() {
    let seen: BTreeSet<_> =
        broken().iter().flat_map(|(_, object)| defects(object)).map(|defect| defect.kind).collect();
    // Needs another reading: see readings.rs.
    let unseen: Vec<_> = DefectKind::VARIANTS.iter().filter(|kind| !seen.contains(kind)).collect();
    assert_eq!(unseen, [&DefectKind::StridesExplicit]);
}

#[test]
fn every_defect_is_reported_at_once() {
    let wrong = ["shape", "typestr", "data", "version", "strides", "descr", "mask", "stream"];
    let object = object(Description::dict(wrong.map(|key| (key, Description::opaque("Thing")))));
    let places: BTreeSet<_> = defects(&object).into_iter().map(|defect| defect.path).collect();
    assert_eq!(places, BTreeSet::from(wrong.map(str::to_owned)));
}

#[test]
fn a_defect_of_the_mask_says_so() {
    let object = object(vector().with("mask", mask(vector().without("version"))));
    let [defect] = &defects(&object)[..] else { panic!("one rule is broken") };
    assert!(defect.of_mask() && defect.kind == DefectKind::VersionMissing, "{defect}");
    let missing = defects(&Description::exporter("Array", vector().without("version")));
    assert!(!missing[0].of_mask());
}

#[test]
fn what_comes_from_outside_is_cut_short_and_printable() {
    let object = object(vector().with("typestr", str(&"\u{1b}[2J".repeat(1000))));
    let [defect] = &defects(&object)[..] else { panic!("one rule is broken") };
    assert!(
        defect.message.len() < 600 && defect.message.chars().all(|letter| !letter.is_control()),
        "{defect}"
    );
}
