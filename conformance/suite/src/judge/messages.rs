//! How findings write facts and outcomes.

use serde_json::Value;

use crate::observation::Raised;

/// A fact as a person reads it: addresses in hexadecimal.
pub(crate) fn value(name: &str, value: &Value) -> String {
    match value.as_u64() {
        Some(number) if name.contains("pointer") && number > 0 => format!("{number:#x}"),
        _ => value.to_string(),
    }
}

/// `raised CudaAPIError (CUresult 2): out of memory`.
pub(crate) fn raised(raised: &Raised) -> String {
    let mut text = match &raised.ignored_in {
        Some(place) => format!("{place} raised "),
        None => "raised ".to_owned(),
    };
    text.push_str(if raised.r#type.is_empty() { "an error" } else { &raised.r#type });
    match (&raised.status, raised.code) {
        (Some(status), Some(code)) => text.push_str(&format!(" ({status}, CUresult {code})")),
        (Some(status), None) => text.push_str(&format!(" ({status})")),
        (None, Some(code)) => text.push_str(&format!(" (CUresult {code})")),
        (None, None) => {}
    }
    if !raised.message.is_empty() {
        text.push_str(&format!(": {}", raised.message));
    }
    text
}

/// So many bytes at the beginning and at the end of what a subject printed are shown.
const SHOWN_BYTES: usize = 1000;

/// What a subject printed, without the middle of a long text.
pub(crate) fn excerpt(printed: &str) -> String {
    let printed = printed.trim_end();
    let is_boundary = |at: &usize| printed.is_char_boundary(*at);
    let begin = (0..=SHOWN_BYTES.min(printed.len())).rev().find(is_boundary).unwrap_or(0);
    let mut last = printed.len().saturating_sub(SHOWN_BYTES)..=printed.len();
    let end = last.find(is_boundary).unwrap_or(printed.len());
    if begin >= end {
        return printed.to_owned();
    }
    let left_out = bytes((end - begin) as u64);
    let (begin, end) = (&printed[..begin], &printed[end..]);
    format!("{begin} ({left_out} more, which `allocert trace` shows) {end}")
}

/// `1 byte`, `3 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}
