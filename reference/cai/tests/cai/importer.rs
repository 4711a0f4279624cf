//! What an importer refuses.

use allocert_cai::{Error, Importer, Options, Result};
use allocert_contract::array::{ArrayInterface, Content, DefectKind, Description, Stream};
use rstest::rstest;

use crate::role::play;
use crate::subject::driver;

fn vector(changes: &[(&str, Description)]) -> Description {
    let data = Description::tuple([Description::int(4096), Description::bool(false)]);
    let mut entries = vec![
        ("shape", Description::tuple([Description::int(4)])),
        ("typestr", Description::str("<f4")),
        ("data", data),
        ("version", Description::int(3)),
    ];
    entries.extend_from_slice(changes);
    Description::exporter("Theirs", Description::dict(entries))
}

fn read(object: &Description, options: Options) -> Result<ArrayInterface> {
    Importer::new(driver(), options).read(object)
}

#[test]
fn everything_that_is_wrong_is_said() {
    play("importer::refuses");
}

#[test]
#[ignore = "a role: played by another test"]
fn refuses() {
    let wrong = vector(&[
        ("shape", Description::tuple([Description::int(1_i128 << 63)])),
        ("typestr", Description::str("|f4")),
        ("stream", Description::int(0)),
    ]);
    let Err(Error::Defects(defects)) = read(&wrong, Options::default()) else {
        panic!("three rules are broken")
    };
    let kinds: Vec<_> = defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(
        kinds,
        [DefectKind::ExtentTooLarge, DefectKind::TypestrNoOrder, DefectKind::StreamZero]
    );
    let masked = vector(&[("mask", vector(&[]))]);
    assert!(read(&masked, Options::default()).is_ok());
    let refused = read(&masked, Options { refuse_masks: true, ..Options::default() });
    assert!(matches!(refused, Err(Error::NotSupported(_))));
}

#[rstest]
#[case(2)]
#[case(3)]
fn a_stream_is_obeyed_in_any_version(#[case] version: i128) {
    let described =
        vector(&[("version", Description::int(version)), ("stream", Description::int(7))]);
    let Description { content: Content::Exporter(interface), .. } = described else {
        panic!("an exporter")
    };
    let reading = Importer::reading();
    let array = ArrayInterface::read_with(&interface, &reading).expect("valid");
    assert_eq!(array.stream(), Stream::Handle(7));
}
