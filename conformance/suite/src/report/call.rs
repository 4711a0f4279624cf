//! Calls as text: `cuMemFree_v2(dptr=0x7d0000000000) = 201 CUDA_ERROR_INVALID_CONTEXT`.

use allocert_contract::curesult;
use allocert_contract::trace::{Call, Event, Function, What, place};

/// Whether an event says more than where a step begins or ends.
#[must_use]
pub fn is_shown(event: &Event) -> bool {
    !matches!(event.what, What::Marker(_))
}

/// One event in one line.
#[must_use]
pub fn render(event: &Event) -> String {
    match &event.what {
        What::Call(call) => render_call(call),
        What::Marker(marker) => format!("{marker:?}"),
        What::Misuse { misuse, function, args } => {
            format!("{function} misuse: {misuse:?} {:#x}", args[0])
        }
        What::Unsupported { function, .. } => {
            format!("{function} is not part of the software driver")
        }
        What::PassedOn { function, .. } => format!("{function}(...), passed on by name alone"),
        What::Argument { position, value, base, size_bytes, .. } => {
            format!(
                "kernel argument: word {position} is {value:#x}, in {size_bytes} bytes from \
                 {base:#x}"
            )
        }
    }
}

fn render_call(call: &Call) -> String {
    let function = call.function;
    let inputs: Vec<String> =
        function.inputs().zip(call.args).map(|(name, value)| pair(name, value)).collect();
    let thread = if call.per_thread { " [per-thread stream]" } else { "" };
    let injected = if call.injected { " (made to fail by the case)" } else { "" };
    let result = match call.result {
        None => " never returned".to_owned(),
        Some(0) => format!(" = 0{}", outputs(call)),
        Some(code) => format!(" = {}", failure(function, code)),
    };
    format!("{function}({}){thread}{result}{injected}", inputs.join(", "))
}

/// What a call answered that failed.
#[must_use]
pub(crate) fn failure(function: Function, code: i32) -> String {
    match function {
        Function::Cuda(_) => error(code),
        Function::Place(_) if code == place::NO_STATUS => "failed".to_owned(),
        Function::Place(_) => named(code, place::status_name(code)),
        _ => code.to_string(),
    }
}

fn outputs(call: &Call) -> String {
    let outputs: Vec<String> =
        call.function.outputs().zip(call.out).map(|(name, value)| pair(name, value)).collect();
    if outputs.is_empty() { String::new() } else { format!(", {}", outputs.join(", ")) }
}

/// Counts are read in decimal, addresses and handles in hexadecimal.
fn pair(name: &str, value: u64) -> String {
    if is_count(name) || value < 10 {
        format!("{name}={value}")
    } else {
        format!("{name}={value:#x}")
    }
}

/// Whether a value of this name counts something, and is no address.
pub(crate) fn is_count(name: &str) -> bool {
    let counts = [
        "size",
        "count",
        "bytes",
        "flags",
        "device",
        "ordinal",
        "free",
        "total",
        "width",
        "height",
        "len",
        "attribute",
        "version",
        "value",
    ];
    counts.iter().any(|part| name.contains(part))
        && !name.starts_with("dst_")
        && !name.starts_with("src_")
}

/// A `CUresult` with its name, where it is a common one.
#[must_use]
pub fn error(code: i32) -> String {
    named(code, curesult::name(code))
}

fn named(code: i32, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{code} {name}"),
        None => code.to_string(),
    }
}
