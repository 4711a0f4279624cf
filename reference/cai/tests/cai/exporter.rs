//! What an array exports.

use allocert_cai::{Array, Error, Export, MemoryOrder, Stream};
use allocert_contract::array::{ArrayInterface, DefectKind, Description, Stream as Said, Version};
use rstest::rstest;

use crate::calls::{count, lines};
use crate::role::play;
use crate::subject::{begin, counted, driver};

fn of(version: Version) -> Export {
    Export { version, ..Export::default() }
}

fn export(array: &Array) -> ArrayInterface {
    array.export(&Export::default()).expect("valid").array().clone()
}

/// 7, 9 and 15 of the text are the first three streams here, 3 is the fourth.
#[test]
fn several_streams_are_joined_in_the_exported_one() {
    let events = play("exporter::joins");
    let expected = [
        "fill in s1",
        "fill in s2",
        "fill in s3",
        "record e1 in s1",
        "s4 waits for e1",
        "record e2 in s2",
        "s4 waits for e2",
        "record e3 in s3",
        "s4 waits for e3",
        "host waits for s4",
    ];
    assert_eq!(lines(&events), expected);
}

#[test]
#[ignore = "a role: played by another test"]
fn joins() {
    let driver = driver();
    let streams = [(); 4].map(|()| driver.stream_create().expect("a stream"));
    let array = counted(driver, &[6], "|u1").on(streams[3].clone());
    begin(driver);
    for (part, stream) in [0_u64, 2, 4].into_iter().zip(&streams) {
        array.take(0, part, 2, 1).expect("inside").fill(part as u8 + 10, stream).expect("queued");
    }
    assert_eq!(export(&array).stream().handle(), Some(streams[3].handle()));
    driver.stream_synchronize(&streams[3]).expect("alive");
    let mut found = [0; 6];
    let memory = array
        .export(&Export { without_stream: true, ..Export::default() })
        .expect("valid")
        .memory();
    driver.span_read(&mut found, &memory.expect("six bytes")).expect("alive");
    assert_eq!(found, [10, 10, 12, 12, 14, 14]);
}

#[test]
fn work_in_one_stream_is_exported_with_it_and_none_with_none() {
    assert_eq!(lines(&play("exporter::one_stream")), ["fill in s1"]);
}

#[test]
#[ignore = "a role: played by another test"]
fn one_stream() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[6], "|u1");
    begin(driver);
    assert_eq!(export(&array).stream(), Said::None);
    array.take(0, 0, 2, 1).expect("inside").fill(9, &stream).expect("queued");
    let rest = array.take(0, 2, 4, 1).expect("inside");
    assert_eq!(export(&rest).stream(), Said::None, "no work touches it");
    assert_eq!(export(&array).stream().handle(), Some(stream.handle()));
    assert_eq!(
        export(&rest).stream().handle(),
        Some(stream.handle()),
        "whoever has the array may work on it"
    );
}

#[test]
fn work_of_the_array_follows_what_consumers_may_do_in_the_exported_stream() {
    let expected = ["fill in s1", "record e1 in s1", "s2 waits for e1", "fill in s2"];
    assert_eq!(lines(&play("exporter::after_export")), expected);
}

#[test]
#[ignore = "a role: played by another test"]
fn after_export() {
    let driver = driver();
    let [first, second] = [(); 2].map(|()| driver.stream_create().expect("a stream"));
    let array = counted(driver, &[6], "|u1");
    begin(driver);
    array.fill(1, &first).expect("queued");
    assert_eq!(export(&array).stream().handle(), Some(first.handle()));
    array.fill(2, &second).expect("queued");
}

#[test]
fn the_work_of_a_threads_own_stream_is_remembered_by_an_event() {
    let expected =
        ["fill in per-thread", "record e1 in per-thread", "create s1", "s1 waits for e1"];
    assert_eq!(lines(&play("exporter::per_thread")), expected);
}

#[test]
#[ignore = "a role: played by another test"]
fn per_thread() {
    let driver = driver();
    let array = counted(driver, &[6], "|u1");
    begin(driver);
    array.fill(1, &Stream::PER_THREAD).expect("queued");
    assert!(matches!(export(&array).stream(), Said::Handle(_)));
}

#[rstest]
#[case("exporter::before_streams")]
#[case("exporter::without_stream")]
#[case("exporter::views")]
#[case("exporter::kinds")]
fn a_role_succeeds(#[case] role: &str) {
    play(role);
}

/// Work is waited for where no stream can be told.
#[test]
#[ignore = "a role: played by another test"]
fn before_streams() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[6], "|u1");
    for version in [Version::V0, Version::V1, Version::V2] {
        array.fill(version.number(), &stream).expect("queued");
        let live = array.export(&of(version)).expect("valid");
        assert_eq!((live.array().version(), live.array().stream()), (version, Said::None));
        let mut found = [9; 6];
        driver.span_read(&mut found, &live.memory().expect("six bytes")).expect("alive");
        assert_eq!(found, [version.number(); 6]);
    }
}

#[test]
#[ignore = "a role: played by another test"]
fn without_stream() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[6], "|u1");
    array.fill(7, &stream).expect("queued");
    let live = array.export(&Export { without_stream: true, ..Export::default() }).expect("valid");
    assert_eq!(live.array().stream(), Said::None);
    let mut found = [9; 6];
    driver.span_read(&mut found, &live.memory().expect("six bytes")).expect("alive");
    assert_eq!(found, [0, 1, 2, 3, 4, 5], "nothing was waited for: the user sees to it");
}

#[test]
#[ignore = "a role: played by another test"]
fn views() {
    let array = counted(driver(), &[3, 4], "<i2");
    let pointer = array.pointer();
    assert_eq!(export(&array).strides(), None);
    let explicit = Export { explicit_strides: true, ..Export::default() };
    assert_eq!(array.export(&explicit).expect("valid").array().strides(), Some(&[8, 2][..]));
    let turned = export(&array.transpose(&[1, 0]).expect("two axes"));
    assert_eq!(
        (turned.shape(), turned.strides(), turned.data().0),
        (&[4, 3][..], Some(&[2, 8][..]), pointer)
    );
    let reversed = array.take(1, 3, 4, -1).expect("inside");
    let said = export(&reversed);
    assert_eq!((said.strides(), said.data().0), (Some(&[8, -2][..]), pointer + 6));
    assert_eq!(said.extent(), Some(pointer..=pointer + 23));
    assert_eq!(reversed.read().expect("readable")[..8], [6, 7, 4, 5, 2, 3, 0, 1]);
    let every_other = array.take(0, 0, 2, 2).expect("inside");
    assert_eq!(
        (export(&every_other).shape(), export(&every_other).strides()),
        (&[2, 4][..], Some(&[16, 2][..]))
    );
    let row = array.at(0, 1).expect("inside");
    assert_eq!((export(&row).strides(), export(&row).data().0), (None, pointer + 8));
    let repeated = export(&row.broadcast(&[5, 4]).expect("possible"));
    assert_eq!(
        (repeated.strides(), repeated.extent()),
        (Some(&[0, 2][..]), Some(pointer + 8..=pointer + 15))
    );
    let one = export(&array.at(0, 2).expect("inside").at(0, 3).expect("inside"));
    assert_eq!((one.shape(), one.strides(), one.elements()), (&[][..], None, 1));
    for (axis, first, count, step) in
        [(2, 0, 1, 1), (0, 3, 1, 1), (0, 0, 4, 1), (1, 0, 2, -1), (1, 1, 2, i64::MAX)]
    {
        assert!(
            matches!(array.take(axis, first, count, step), Err(Error::InvalidValue(_))),
            "{axis} {first} {count} {step}"
        );
    }
    assert!(
        array.transpose(&[0, 0]).is_err()
            && array.broadcast(&[4, 4]).is_err()
            && array.broadcast(&[4]).is_err()
    );
}

#[test]
#[ignore = "a role: played by another test"]
fn kinds() {
    let driver = driver();
    let columns = Array::new(driver, &[3, 4], "<f8".parse().expect("a type"), MemoryOrder::Fortran)
        .expect("room");
    assert_eq!(export(&columns).strides(), Some(&[8, 24][..]));
    let array = counted(driver, &[4], "|V8");
    let descr =
        Description::list([Description::tuple([Description::str("x"), Description::str("<f8")])]);
    let record = array
        .export(&Export { descr: Some(descr.clone()), ..Export::default() })
        .expect("eight bytes");
    assert_eq!(record.array().descr().map(<[_]>::len), Some(1));
    assert!(export(&array.as_read_only()).read_only());
    assert_eq!(array.as_read_only().fill(0, &Stream::LEGACY), Err(Error::ReadOnly));
    let masked = array.masked(counted(driver, &[1], "|b1")).expect("broadcastable");
    assert_eq!(export(&masked).mask().map(ArrayInterface::shape), Some(&[1][..]));
    let refused = masked.export(&of(Version::V0)).expect_err("version 0 has no masks");
    let Error::Defects(defects) = refused else { panic!("{refused}") };
    assert_eq!(
        defects.iter().map(|defect| defect.kind).collect::<Vec<_>>(),
        [DefectKind::MaskInVersion0]
    );
    assert!(array.masked(counted(driver, &[3], "|b1")).is_err());
    let masked = array.masked(counted(driver, &[4], "|b1")).expect("the same shape");
    let part = masked.take(0, 3, 2, -2).expect("inside");
    let said = export(&part);
    let mask = said.mask().expect("a view keeps it");
    assert_eq!((mask.shape(), mask.strides()), (&[2][..], Some(&[-2][..])));
    assert_eq!(part.mask().expect("the same").read().expect("readable"), [3, 1]);
    let short =
        counted(driver, &[4], "|V4").export(&Export { descr: Some(descr), ..Export::default() });
    assert!(matches!(short, Err(Error::Defects(_))));
    let huge =
        Array::new(driver, &[1 << 40, 1 << 40], "<f8".parse().expect("a type"), MemoryOrder::C);
    assert!(matches!(huge, Err(Error::InvalidValue(_))));
}

#[test]
fn an_array_without_elements_has_pointer_0_and_makes_no_call() {
    assert_eq!(count(&play("exporter::nothing")), 0);
}

#[test]
#[ignore = "a role: played by another test"]
fn nothing() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let full = counted(driver, &[3, 4], "<i2");
    full.fill(1, &stream).expect("queued");
    begin(driver);
    let empty = Array::new(driver, &[3, 0], "<i2".parse().expect("a type"), MemoryOrder::C)
        .expect("nothing to allocate");
    for array in
        [empty, full.take(0, 3, 0, 1).expect("nothing"), full.take(1, 2, 0, 1).expect("nothing")]
    {
        array.fill(1, &stream).expect("nothing to do");
        let said = export(&array);
        assert_eq!((said.data().0, said.stream(), said.is_zero_size()), (0, Said::None, true));
    }
    begin(driver);
}

#[test]
fn streams_live_as_long_as_the_array() {
    let events = play("exporter::lifetime");
    assert_eq!(lines(&events), ["host waits for s1"]);
}

#[test]
#[ignore = "a role: played by another test"]
fn lifetime() {
    let driver = driver();
    let array = counted(driver, &[6], "|u1");
    let stream = driver.stream_create().expect("a stream");
    array.fill(5, &stream).expect("queued");
    let live = array.export(&Export::default()).expect("valid");
    drop((array, stream));
    begin(driver);
    // A destroyed stream would be refused.
    driver.stream_synchronize(&live.stream().expect("one")).expect("alive");
    let mut found = [0; 6];
    driver.span_read(&mut found, &live.memory().expect("six bytes")).expect("alive");
    assert_eq!(found, [5; 6]);
}
