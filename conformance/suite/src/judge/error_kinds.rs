//! The kinds of a raised error, the same for Python exceptions and native status values.

use crate::nouns::ErrorKind;
use crate::observation::Raised;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub(crate) const OUT_OF_MEMORY: i32 = 2;
/// `CUDA_ERROR_INVALID_CONTEXT`: no context is current.
pub(crate) const INVALID_CONTEXT: i32 = 201;
/// `CUDA_ERROR_NOT_SUPPORTED`.
pub(crate) const NOT_SUPPORTED: i32 = 801;
/// What the Python worker raises where a call returned something that its caller cannot use.
const WRONG_ANSWER: &str = "WrongAnswer";

/// The kinds that an error belongs to; none for one that only `any` accepts.
#[must_use]
pub fn kinds(raised: &Raised) -> Vec<ErrorKind> {
    let candidates = [
        (
            ErrorKind::OutOfMemory,
            is_a(raised, &["MemoryError"])
                || native(raised, "OUT_OF_MEMORY")
                || raised.code == Some(OUT_OF_MEMORY),
        ),
        (
            ErrorKind::NotSupported,
            is_a(raised, &["NotImplementedError"])
                || native(raised, "NOT_SUPPORTED")
                || raised.code == Some(NOT_SUPPORTED),
        ),
        (
            ErrorKind::InvalidValue,
            is_a(raised, &["ValueError", "TypeError", "OverflowError"])
                || native(raised, "INVALID_VALUE")
                || raised.code == Some(1),
        ),
        (ErrorKind::DriverError, driver_error(raised)),
        (ErrorKind::State, state(raised)),
        (ErrorKind::NoPlace, native(raised, "NO_PLACE")),
        (ErrorKind::VersionMismatch, raised.message.to_ascii_lowercase().contains("version")),
    ];
    candidates.into_iter().filter(|(_, holds)| *holds).map(|(kind, _)| kind).collect()
}

/// Whether one of the wanted kinds is met. An answer that is no address meets none of them: a
/// caller that does not check it uses it as one.
pub(crate) fn is_one_of(raised: &Raised, wanted: &[ErrorKind]) -> bool {
    let kinds = kinds(raised);
    raised.r#type != WRONG_ANSWER
        && wanted.iter().any(|kind| *kind == ErrorKind::Any || kinds.contains(kind))
}

/// Whether it is the error that the CUDA runtime answers every call with, if the driver has no
/// table for it: the driver's 801, under the runtime's name for it where a library reports no code.
pub(crate) fn is_refusal_of_runtime(raised: &Raised) -> bool {
    raised.code == Some(NOT_SUPPORTED) || raised.message.contains("cudaErrorNotSupported")
}

/// A CUresult that has no kind of its own, or the contract's word for it.
fn driver_error(raised: &Raised) -> bool {
    native(raised, "DRIVER_ERROR")
        || raised.code.is_some_and(|code| !matches!(code, 0 | 1 | OUT_OF_MEMORY | NOT_SUPPORTED))
}

/// In Python `NotImplementedError` is a subclass of `RuntimeError`, but has another kind.
fn state(raised: &Raised) -> bool {
    native(raised, "STATE")
        || (is_a(raised, &["RuntimeError"]) && !is_a(raised, &["NotImplementedError"]))
}

fn is_a(raised: &Raised, classes: &[&str]) -> bool {
    let last = |name: &str| name.rsplit('.').next().is_some_and(|name| classes.contains(&name));
    last(&raised.r#type) || raised.bases.iter().any(|base| last(base))
}

fn native(raised: &Raised, status: &str) -> bool {
    raised.status.as_deref() == Some(status)
}
