//! The steps of an exploration.

use allocert_suite::fixture_format;
use allocert_suite::interface::Operation;
use allocert_suite::nouns::Thread;

pub(crate) type Step = fixture_format::Step<Operation>;

/// A step on the main thread, without expectations.
pub(crate) fn step(operation: impl Into<Operation>, on: &str) -> Step {
    Step {
        r#do: operation.into(),
        on: on.into(),
        thread: None,
        label: None,
        expect: Default::default(),
    }
}

/// The same step on a thread of its own.
pub(crate) fn on_fresh_thread(step: Step) -> Step {
    Step { thread: Some(Thread::Fresh), ..step }
}

/// The name that a step binds.
pub(crate) fn bound_name(step: &Step) -> Option<&str> {
    step.r#do.bound_name()
}
