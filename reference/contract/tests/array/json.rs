//! The JSON form.

use allocert_contract::array::{Content, Description};
use rstest::rstest;

use crate::vector::{Change, vector};

fn read(json: &str) -> Description {
    serde_json::from_str(json).expect("any object with a type is a description")
}

#[test]
fn it_is_what_the_worker_writes() {
    let json = serde_json::to_string(&vector()).expect("serializable");
    let entries = [
        r#""data":{"type":"tuple","items":[{"type":"int","value":4096},"#,
        r#"{"type":"bool","value":false}]},"#,
        r#""shape":{"type":"tuple","items":[{"type":"int","value":4}]},"#,
        r#""typestr":{"type":"str","value":"<f4"},"version":{"type":"int","value":3}"#,
    ];
    assert_eq!(json, format!(r#"{{"type":"dict","entries":{{{}}}}}"#, entries.concat()));
}

#[rstest]
#[case::int(r#"{"type":"int","value":-3}"#)]
#[case::address(r#"{"type":"int","value":18446744073709551615}"#)]
#[case::digits(r#"{"type":"int","digits":"18446744073709551616"}"#)]
#[case::without_end(r#"{"type":"int","digits":"-1000…"}"#)]
#[case::bool(r#"{"type":"bool","value":true}"#)]
#[case::none(r#"{"type":"NoneType"}"#)]
#[case::float(r#"{"type":"float","value":1.5}"#)]
#[case::subclass(
    r#"{"type":"Size","base":"tuple","items":[{"type":"int","value":1}],"truncated":3}"#
)]
#[case::dict(r#"{"type":"dict","entries":{},"other_keys":["7"]}"#)]
#[case::exporter(r#"{"type":"Array","interface":{"type":"dict","entries":{}}}"#)]
#[case::raised(r#"{"type":"Array","raised":"ValueError: no"}"#)]
#[case::opaque(r#"{"type":"Stream"}"#)]
#[case::too_long(r#"{"type":"str","truncated":1}"#)]
fn it_comes_back_as_it_was(#[case] json: &str) {
    assert_eq!(serde_json::to_string(&read(json)).expect("serializable"), json);
}

#[rstest]
#[case::class_with_a_builtin_name(r#"{"type":"tuple","base":"object"}"#)]
#[case::text_for_a_number(r#"{"type":"int","value":"3"}"#)]
#[case::number_for_text(r#"{"type":"str","value":3}"#)]
#[case::items_of_a_number(r#"{"type":"bool","items":[]}"#)]
#[case::none_with_a_value(r#"{"type":"NoneType","value":3}"#)]
fn what_makes_no_sense_is_opaque(#[case] json: &str) {
    assert_eq!(read(json).content, Content::Opaque);
}

#[test]
fn digits_are_read_exactly_where_they_fit() {
    let digits = |text: &str| read(&format!(r#"{{"type":"int","digits":"{text}"}}"#)).content;
    assert_eq!(digits("18446744073709551616"), Content::Int(1 << 64));
    assert!(matches!(digits(&"9".repeat(60)), Content::Huge(_)));
}

#[test]
fn an_unknown_entry_survives() {
    let description = vector().with("owner", Description::opaque("Thing"));
    let json = serde_json::to_string(&description).expect("serializable");
    assert_eq!(read(&json), description);
}
