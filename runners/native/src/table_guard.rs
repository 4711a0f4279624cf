//! What calls of a C table did besides what they answered, whichever table it is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use allocert_suite::observation;

use crate::checked_memory;

/// The defects of calls since it was last asked.
#[derive(Debug, Default)]
pub(crate) struct TableGuard {
    calls: AtomicU64,
    /// By the member and the catalogue's name of the defect.
    defects: Mutex<BTreeMap<(&'static str, &'static str), String>>,
}

impl TableGuard {
    pub(crate) fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the first of each kind of each member: a churn makes the same one thousands of times.
    pub(crate) fn note(
        &self,
        call: &'static str,
        defect: &'static str,
        observed: impl FnOnce() -> String,
    ) {
        let mut defects = self.defects.lock().unwrap_or_else(PoisonError::into_inner);
        defects.entry((call, defect)).or_insert_with(observed);
    }

    /// Nothing where no member was called.
    pub(crate) fn take(&self) -> Option<observation::TableCalls> {
        let calls = self.calls.swap(0, Ordering::Relaxed);
        let defects =
            std::mem::take(&mut *self.defects.lock().unwrap_or_else(PoisonError::into_inner));
        let tell = |((call, defect), observed): ((&str, &str), String)| observation::TableDefect {
            call: call.to_owned(),
            defect: defect.to_owned(),
            observed,
        };
        (calls > 0).then(|| observation::TableCalls {
            calls,
            defects: defects.into_iter().map(tell).collect(),
        })
    }

    /// Looks at what last_error() answered after a failed call.
    pub(crate) fn text(&self, call: &'static str, address: usize) {
        let wrong = match checked_memory::bytes(address) {
            _ if address == 0 => "last_error() is NULL",
            None => "last_error() cannot be read",
            Some(bytes) if bytes.is_empty() => "last_error() is \"\"",
            Some(bytes) if !checked_memory::is_utf8(&bytes) => "last_error() is not UTF-8",
            Some(_) => return,
        };
        self.note(call, "no_error_text", || wrong.to_owned());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Takes what a guard has noted, a line for each defect.
    pub(crate) fn defects(guard: &TableGuard) -> Vec<String> {
        guard.called();
        let taken = guard.take().map(|guard| guard.defects).unwrap_or_default();
        taken
            .into_iter()
            .map(|one| format!("{} {}: {}", one.call, one.defect, one.observed))
            .collect()
    }

    #[test]
    fn an_error_text_is_text() {
        for (text, wrong) in [
            (c"memalloc: no memory", None),
            (c"", Some("last_error() is \"\"")),
            (c"bad \xff", Some("last_error() is not UTF-8")),
        ] {
            let guard = TableGuard::default();
            guard.text("memalloc", text.as_ptr().addr());
            let wrong: Vec<String> =
                wrong.map(|wrong| format!("memalloc no_error_text: {wrong}")).into_iter().collect();
            assert_eq!(defects(&guard), wrong);
        }
    }
}
