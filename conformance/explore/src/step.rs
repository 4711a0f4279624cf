//! Steps without expectations, as they are drawn and added.

use allocert_suite::case::Step;
use allocert_suite::nouns::Thread;
use allocert_suite::operation::Operation;

/// A step on the main thread; the model adds what it expects.
pub(crate) fn step(operation: Operation, on: &str) -> Step {
    Step { r#do: operation, on: on.into(), thread: None, label: None, expect: Default::default() }
}

/// The same step on a thread of its own.
pub(crate) fn on_fresh_thread(step: Step) -> Step {
    Step { thread: Some(Thread::Fresh), ..step }
}
