//! Whether the fields of an operation make sense together.

use super::{Checked, check_function};
use crate::operation::{Operation, ROOM_BYTES, StreamKind};
use allocert_requirements::yaml::Document;

/// What the types of an operation's fields do not say.
pub(super) fn check(operation: &Operation, line: usize, document: &Document<'_>) -> Checked {
    let refuse = |word: &str, message: String| Err(document.refuse_word(line, word, message));
    match operation {
        Operation::Fault { call, .. } => check_function(call, line, document),
        Operation::Call(call) if call.room().abs() > ROOM_BYTES => {
            refuse("room", format!("`room` is at most {ROOM_BYTES} bytes either way"))
        }
        Operation::Derive(derive) if derive.ways() != 1 => {
            let ways = derive.ways();
            refuse(
                "derive",
                format!("`derive` takes one way to make an array of another, and {ways} are given"),
            )
        }
        Operation::Array(array) if array.counting && array.byte != 0 => {
            refuse("counting", "`counting` and `byte` both say what the elements hold".to_owned())
        }
        Operation::Produce(produce)
            if produce.strides.as_ref().is_some_and(|all| all.len() != produce.shape.len()) =>
        {
            refuse(
                "strides",
                "`strides` and `shape` differ in length; an entry that lies belongs in `set`"
                    .to_owned(),
            )
        }
        Operation::Stream { kind: StreamKind::New | StreamKind::Default, .. } => refuse(
            "stream",
            "only the subject has such a stream: `subject_stream` makes it".to_owned(),
        ),
        Operation::SubjectStream {
            kind: StreamKind::Blocking | StreamKind::NonBlocking, ..
        } => refuse(
            "subject_stream",
            "only the worker makes such a stream: `stream` does".to_owned(),
        ),
        _ => Ok(()),
    }
}
