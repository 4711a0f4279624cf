//! Functions whose callers read no error say on stderr why they failed.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `call` answers, or `failed` after a line on stderr. `function` is the end of the symbol's
/// name.
pub(crate) fn answer<T>(function: &str, failed: T, call: impl FnOnce() -> Result<T, String>) -> T {
    let result = catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err("a defect of the allocator".to_owned()));
    result.unwrap_or_else(|text| {
        eprintln!("allocert_place_{function}: {text}");
        failed
    })
}
