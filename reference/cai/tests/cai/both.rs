//! Our exporter's arrays in our importer's hands.

use allocert_cai::{Array, Error, Export, Imported, Importer, MemoryOrder, Options, Order, Stream};
use rstest::rstest;

use crate::calls::{count, lines};
use crate::role::play;
use crate::subject::{begin, counted, driver, importer};

fn imported(importer: &Importer, array: &Array) -> Imported {
    importer.import(array.export(&Export::default()).expect("valid")).expect("taken")
}

#[test]
fn events_order_both_directions() {
    let calls = lines(&play("both::by_events"));
    let expected = [
        "fill in s1",
        "create s2",
        "record e1 in s1",
        "s2 waits for e1",
        "fill in s2",
        "record e2 in s2",
        "s1 waits for e2",
        "host waits for s1",
    ];
    assert_eq!(calls[..8], expected, "{calls:?}");
}

#[test]
fn the_host_orders_both_directions() {
    let calls = lines(&play("both::by_host"));
    let expected = [
        "fill in s1",
        "create s2",
        "host waits for s1",
        "fill in s2",
        "host waits for s2",
        "host waits for s1",
    ];
    assert_eq!(calls[..6], expected, "{calls:?}");
}

#[test]
fn work_in_the_given_stream_needs_no_order() {
    let calls = lines(&play("both::by_enqueueing"));
    assert_eq!(calls[..3], ["fill in s1", "host waits for s1", "copy in s1"], "{calls:?}");
}

#[test]
#[ignore = "a role: played by another test"]
fn by_events() {
    ordered(Order::Events);
}

#[test]
#[ignore = "a role: played by another test"]
fn by_host() {
    ordered(Order::Host);
}

#[test]
#[ignore = "a role: played by another test"]
fn by_enqueueing() {
    ordered(Order::Enqueue);
}

/// Work of the exporter, then of the importer, then waiting as an exporter would: for its own
/// stream.
fn ordered(order: Order) {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[8], "|u1");
    let importer = Importer::new(driver, Options { order, ..Options::default() });
    begin(driver);
    array.fill(1, &stream).expect("queued");
    let theirs = imported(&importer, &array.take(0, 0, 4, 2).expect("inside"));
    theirs.fill(2).expect("queued");
    driver.stream_synchronize(&stream).expect("alive");
    assert_eq!(array.read().expect("readable"), [2, 1, 2, 1, 2, 1, 2, 1]);
    theirs.write(&[3, 4, 5, 6]).expect("queued");
    assert_eq!(theirs.read().expect("readable"), [3, 4, 5, 6]);
    driver.stream_synchronize(&stream).expect("alive");
    assert_eq!(array.read().expect("readable"), [3, 1, 4, 1, 5, 1, 6, 1]);
}

#[test]
fn without_a_stream_only_the_importers_own_is_waited_for() {
    assert_eq!(lines(&play("both::no_stream")), ["create s1", "fill in s1", "host waits for s1"]);
}

#[test]
#[ignore = "a role: played by another test"]
fn no_stream() {
    let driver = driver();
    let array = counted(driver, &[8], "|u1");
    let theirs = imported(&importer(driver), &array);
    begin(driver);
    theirs.fill(2).expect("queued");
}

#[test]
fn a_user_may_have_the_stream_ignored() {
    assert_eq!(lines(&play("both::ignored")), ["fill in s1", "create s2", "fill in s2"]);
}

#[test]
#[ignore = "a role: played by another test"]
fn ignored() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[8], "|u1");
    let importer = Importer::new(driver, Options { ignore_stream: true, ..Options::default() });
    begin(driver);
    array.fill(1, &stream).expect("queued");
    imported(&importer, &array).fill(2).expect("queued");
}

#[test]
fn an_array_without_elements_is_taken_without_a_call() {
    assert_eq!(count(&play("both::nothing")), 0);
}

#[test]
#[ignore = "a role: played by another test"]
fn nothing() {
    let driver = driver();
    let empty = Array::new(driver, &[3, 0], "<i2".parse().expect("a type"), MemoryOrder::C)
        .expect("nothing to allocate");
    begin(driver);
    let theirs = imported(&importer(driver), &empty);
    assert!(theirs.read().expect("nothing").is_empty());
    theirs.write(&[]).expect("nothing");
    theirs.fill(1).expect("nothing");
}

#[rstest]
#[case("both::layouts")]
#[case("both::refusals")]
#[case("both::masks")]
#[case("both::contexts")]
#[case("both::many_writes")]
fn a_role_succeeds(#[case] role: &str) {
    play(role);
}

#[test]
#[ignore = "a role: played by another test"]
fn layouts() {
    let driver = driver();
    let importer = importer(driver);
    let array = counted(driver, &[3, 4], "<i2");
    let row = array.at(0, 1).expect("inside");
    let views = [
        array.clone(),
        array.transpose(&[1, 0]).expect("two axes"),
        array.take(0, 2, 3, -1).expect("inside").take(1, 3, 4, -1).expect("inside"),
        array.take(1, 1, 2, 2).expect("inside"),
        row.broadcast(&[2, 4]).expect("possible"),
        row.at(0, 3).expect("inside"),
    ];
    for view in views {
        let theirs = imported(&importer, &view);
        assert_eq!(
            theirs.read().expect("readable"),
            view.read().expect("readable"),
            "{:?}",
            theirs.array()
        );
    }
    let turned = imported(&importer, &array.transpose(&[1, 0]).expect("two axes"));
    turned.write(&(100..124).collect::<Vec<u8>>()).expect("queued");
    assert_eq!(array.read().expect("readable")[..8], [100, 101, 106, 107, 112, 113, 118, 119]);
    let big_endian = imported(&importer, &counted(driver, &[2], ">i4"));
    assert_eq!(big_endian.array().typestr().to_string(), ">i4");
    assert_eq!(big_endian.read().expect("readable"), [0, 1, 2, 3, 4, 5, 6, 7]);
    let bits = imported(&importer, &counted(driver, &[20], "|t1"));
    assert_eq!(bits.read().expect("readable"), [0, 1, 2]);
}

#[test]
#[ignore = "a role: played by another test"]
fn refusals() {
    let driver = driver();
    let importer = importer(driver);
    let array = counted(driver, &[4], "|u1");
    let locked = imported(&importer, &array.as_read_only());
    assert_eq!(
        (locked.fill(1), locked.write(&[1; 4])),
        (Err(Error::ReadOnly), Err(Error::ReadOnly))
    );
    assert!(matches!(imported(&importer, &array).write(&[1; 3]), Err(Error::InvalidValue(_))));
    let scattered =
        imported(&importer, &counted(driver, &[1], "|u1").broadcast(&[1 << 20]).expect("possible"));
    assert!(matches!(scattered.read(), Err(Error::NotSupported(_))));
    let bits = counted(driver, &[16], "|t1").take(0, 0, 4, 2).expect("inside");
    let live = bits.export(&Export::default()).expect("valid");
    assert!(matches!(importer.import(live), Err(Error::NotSupported(_))));
}

#[test]
#[ignore = "a role: played by another test"]
fn masks() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let mask = counted(driver, &[4], "|b1");
    let array = counted(driver, &[4], "|u1").masked(mask.clone()).expect("the same shape");
    mask.fill(1, &stream).expect("queued");
    let theirs = imported(&importer(driver), &array);
    let valid = theirs.mask().expect("taken").expect("there is one");
    assert_eq!(
        valid.array().stream().handle(),
        Some(stream.handle()),
        "the mask has a stream of its own"
    );
    assert_eq!(valid.read().expect("readable"), [1; 4]);
    assert_eq!(theirs.array().stream().handle(), None);
    let refusing = Importer::new(driver, Options { refuse_masks: true, ..Options::default() });
    let live = array.export(&Export::default()).expect("valid");
    assert!(matches!(refusing.import(live), Err(Error::NotSupported(_))));
}

/// The array's context need not be the current one.
#[test]
#[ignore = "a role: played by another test"]
fn contexts() {
    let driver = driver();
    let array = counted(driver, &[4], "|u1");
    array.fill(3, &Stream::LEGACY).expect("queued");
    let theirs = imported(&importer(driver), &array);
    driver.ctx_set_current(None).expect("always possible");
    assert_eq!(theirs.read().expect("readable"), [3; 4]);
    assert_eq!(driver.ctx_get_current(), Ok(None), "the thread's context is as it was");
}

/// Memory that work may still use is kept, and not without end.
#[test]
#[ignore = "a role: played by another test"]
fn many_writes() {
    let driver = driver();
    let stream = driver.stream_create().expect("a stream");
    let array = counted(driver, &[4], "|u1");
    array.fill(0, &stream).expect("queued");
    let importer = importer(driver);
    let theirs = imported(&importer, &array);
    for round in 0..100 {
        theirs.write(&[round; 4]).expect("queued");
    }
    drop((importer, theirs));
    driver.stream_synchronize(&stream).expect("alive");
    assert_eq!(array.read().expect("readable"), [99; 4]);
}
