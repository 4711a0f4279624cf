//! Whatever comes, reading it ends with a true answer of bounded size.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use strum::VariantArray as _;

use allocert_contract::array::{
    ArrayInterface, Content, DefectKind, Description, ElementKind, Interpretation, Stream, Typestr,
    Version,
};

use crate::generator::Random;

/// A few seconds in a build without optimisation.
#[test]
fn two_hundred_thousand_inputs() {
    let seen = inputs(1, 200_000);
    assert!(
        seen.valid > 20_000 && seen.strided > 2_000 && seen.masked > 500 && seen.records > 200,
        "{seen:?}"
    );
    let rare = [DefectKind::NoInterface, DefectKind::InterfaceRaised, DefectKind::StridesExplicit];
    let unseen: Vec<_> = DefectKind::VARIANTS
        .iter()
        .filter(|kind| !seen.kinds.contains(kind) && !rare.contains(kind))
        .collect();
    assert!(unseen.is_empty(), "the inputs never broke {unseen:?}");
}

/// With other inputs, for a release build: CONTRIBUTING.md has the command.
#[test]
#[ignore = "takes a minute or more; run it after a change to what descriptions are read as"]
fn ten_million_inputs() {
    let seen = inputs(2, 10_000_000);
    assert!(seen.valid > 1_000_000, "{seen:?}");
    println!(
        "{} valid, {} strided, {} masked, {} records",
        seen.valid, seen.strided, seen.masked, seen.records
    );
}

/// What the inputs were, so that a generator that makes only noise is found out.
#[derive(Debug, Default)]
struct Seen {
    valid: u64,
    strided: u64,
    masked: u64,
    records: u64,
    kinds: BTreeSet<DefectKind>,
}

/// Of each five inputs one is a typestr alone.
fn inputs(seed: u64, count: u64) -> Seen {
    let mut random = Random::of(seed);
    let mut seen = Seen::default();
    for _ in 0..count {
        match random.below(5) {
            0 => typestr(&random.typestr()),
            _ => {
                let description = random.description();
                read(&description, &mut random, &mut seen);
            }
        }
    }
    seen
}

fn typestr(text: &str) {
    let Ok(parsed) = text.parse::<Typestr>() else { return };
    let written = parsed.to_string();
    assert_eq!(written.parse(), Ok(parsed), "{text:?} was written as {written:?}");
    assert!(parsed.size_bytes() <= i32::MAX as u64, "NumPy has no such type: {text:?}");
}

fn read(description: &Description, random: &mut Random, seen: &mut Seen) {
    match ArrayInterface::read(description) {
        Err(defects) => {
            assert!(!defects.is_empty(), "refused without a reason: {description:?}");
            assert!(
                defects.len() <= 2 * values(description) + 8,
                "{} defects: {description:?}",
                defects.len()
            );
            for defect in defects {
                assert!(defect.message.len() < 2000 && defect.path.len() < 200, "{defect}");
                seen.kinds.insert(defect.kind);
            }
        }
        Ok(array) => {
            valid(description, &array);
            assert_eq!(
                ArrayInterface::read(&array.describe()).as_ref(),
                Ok(&array),
                "{description:?}"
            );
            inside(&array, random);
            seen.valid += 1;
            seen.strided += u64::from(array.strides().is_some());
            seen.masked += u64::from(array.mask().is_some());
            seen.records += u64::from(array.descr().is_some());
        }
    }
    // Every other reading ends, too.
    let _ = ArrayInterface::read_object(description, &Interpretation::default());
}

/// Values in a description, itself included.
fn values(description: &Description) -> usize {
    1 + match &description.content {
        Content::Tuple(items) | Content::List(items) => items.carried.iter().map(values).sum(),
        Content::Dict(entries) => entries.known.values().map(values).sum(),
        Content::Exporter(inner) => values(inner),
        _ => 0,
    }
}

/// The rules once more, from the description alone.
fn valid(description: &Description, array: &ArrayInterface) {
    let Content::Dict(entries) = &description.content else {
        panic!("no dict is valid: {description:?}")
    };
    let entry = |key: &str| {
        entries.known.get(key).map(|value| &value.content).filter(|value| **value != Content::None)
    };
    let ints = |content: Option<&Content>| match content {
        Some(Content::Tuple(items)) => {
            Some(items.carried.iter().map(|item| int(&item.content)).collect::<Vec<_>>())
        }
        _ => None,
    };
    let shape = ints(entry("shape")).expect("a tuple of ints");
    assert!(shape.iter().all(|extent| (0..1 << 63).contains(extent)), "{description:?}");
    let Some(Content::Str(typestr)) = entry("typestr") else {
        panic!("no typestr: {description:?}")
    };
    assert!(
        array.typestr().kind != ElementKind::Object && typestr.starts_with(['<', '>', '|']),
        "{description:?}"
    );
    let version = int(entry("version").expect("a version"));
    assert!((0..=3).contains(&version));
    let Some(Content::Tuple(pair)) = entry("data") else { panic!("no data: {description:?}") };
    let pointer = int(&pair.carried[0].content);
    let (zero_size, bytes) = (shape.contains(&0), array.element_bytes());
    assert!(!zero_size || version < 2 || pointer == 0, "{description:?}");
    assert!(zero_size || bytes == 0 || pointer != 0, "{description:?}");
    assert!(
        zero_size
            || shape.iter().try_fold(i128::from(bytes), |size, extent| size.checked_mul(*extent))
                < Some(1 << 63)
            || array.typestr().kind == ElementKind::BitField
    );
    if let Some(strides) = entry("strides") {
        assert_eq!(
            ints(Some(strides)).map(|strides| strides.len()),
            Some(shape.len()),
            "{description:?}"
        );
    }
    match (array.stream(), entry("stream")) {
        (Stream::None, None) => (),
        (stream, Some(said)) => {
            assert!(
                array.version() == Version::V3
                    && stream.value().map(i128::from) == Some(int(said))
                    && int(said) > 0
            );
        }
        (stream, None) => panic!("a stream out of nothing: {stream:?}"),
    }
    let masked = matches!(entry("mask"), Some(Content::Exporter(_)));
    assert_eq!(array.mask().is_some(), masked && version > 0, "{description:?}");
}

fn int(content: &Content) -> i128 {
    match content {
        Content::Int(number) => *number,
        other => panic!("no int: {other:?}"),
    }
}

/// Elements picked at random, and those at the corners, lie where the array says; and no smaller
/// range would do.
fn inside(array: &ArrayInterface, random: &mut Random) {
    let Some(extent) = array.extent() else {
        return assert!(array.is_zero_size() || array.element_bytes() == 0, "{array:?}");
    };
    assert!(!array.is_zero_size() && array.elements() > 0, "{array:?}");
    if array.typestr().kind == ElementKind::BitField {
        return;
    }
    let axes = || array.shape().iter().zip(array.byte_strides());
    let first = |side: fn(i64) -> bool| {
        axes().map(|(extent, stride)| if side(stride) { extent - 1 } else { 0 }).collect::<Vec<_>>()
    };
    let (low, high) =
        (element(array, &first(|stride| stride < 0)), element(array, &first(|stride| stride > 0)));
    assert_eq!(
        (low.start(), high.end()),
        (&i128::from(*extent.start()), &i128::from(*extent.end())),
        "{array:?}"
    );
    for _ in 0..4 {
        let index: Vec<_> = array.shape().iter().map(|extent| random.below(*extent)).collect();
        let bytes = element(array, &index);
        assert!(
            low.start() <= bytes.start() && bytes.end() <= high.end(),
            "{index:?} of {array:?}"
        );
    }
}

/// The bytes of one element.
fn element(array: &ArrayInterface, index: &[u64]) -> RangeInclusive<i128> {
    let steps = index
        .iter()
        .zip(array.byte_strides())
        .map(|(index, stride)| i128::from(*index) * i128::from(stride));
    let begin = i128::from(array.data().0) + steps.sum::<i128>();
    begin..=begin + i128::from(array.element_bytes()) - 1
}
