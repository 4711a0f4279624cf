//! Driver calls as text: `cuMemFree_v2(dptr=0x7d0000000000) = 201 CUDA_ERROR_INVALID_CONTEXT`.

use allocert_contract::trace::{Call, Event, What};

/// One event in one line.
#[must_use]
pub fn render(event: &Event) -> String {
    match &event.what {
        What::Call(call) => render_call(call),
        What::Mark { mark, a, .. } => format!("{mark:?} {a}"),
        What::Misuse { misuse, function, args } => format!("{function} misuse: {misuse:?} {:#x}", args[0]),
        What::Unsupported { function, .. } => format!("{function} is not part of the software driver"),
        What::PassedOn { function, .. } => format!("{function}(...), passed on by name alone"),
    }
}

fn render_call(call: &Call) -> String {
    let function = call.function;
    let inputs: Vec<String> = function.params().zip(call.args).map(|(name, value)| pair(name, value)).collect();
    let thread = if call.per_thread { " [per-thread stream]" } else { "" };
    let injected = if call.injected { " (made to fail by the case)" } else { "" };
    let result = match call.result {
        None => " never returned".to_owned(),
        Some(0) => format!(" = 0{}", outputs(call)),
        Some(code) => format!(" = {}", error(code)),
    };
    format!("{function}({}){thread}{result}{injected}", inputs.join(", "))
}

fn outputs(call: &Call) -> String {
    let outputs: Vec<String> = call.function.outputs().zip(call.out).map(|(name, value)| pair(name, value)).collect();
    if outputs.is_empty() { String::new() } else { format!(", {}", outputs.join(", ")) }
}

/// Counts are read in decimal, addresses and handles in hexadecimal.
fn pair(name: &str, value: u64) -> String {
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
    let count = counts.iter().any(|part| name.contains(part)) && !name.starts_with("dst_") && !name.starts_with("src_");
    if count || value < 10 { format!("{name}={value}") } else { format!("{name}={value:#x}") }
}

/// A `CUresult` with its name, where it is a common one.
#[must_use]
pub fn error(code: i32) -> String {
    match error_name(code) {
        Some(name) => format!("{code} {name}"),
        None => code.to_string(),
    }
}

/// CUDA Driver API, "Data types used by CUDA driver", `CUresult`.
fn error_name(code: i32) -> Option<&'static str> {
    Some(match code {
        0 => "CUDA_SUCCESS",
        1 => "CUDA_ERROR_INVALID_VALUE",
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        4 => "CUDA_ERROR_DEINITIALIZED",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        201 => "CUDA_ERROR_INVALID_CONTEXT",
        205 => "CUDA_ERROR_MAP_FAILED",
        208 => "CUDA_ERROR_ALREADY_MAPPED",
        211 => "CUDA_ERROR_NOT_MAPPED",
        400 => "CUDA_ERROR_INVALID_HANDLE",
        500 => "CUDA_ERROR_NOT_FOUND",
        600 => "CUDA_ERROR_NOT_READY",
        700 => "CUDA_ERROR_ILLEGAL_ADDRESS",
        708 => "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
        709 => "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        712 => "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        713 => "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        716 => "CUDA_ERROR_MISALIGNED_ADDRESS",
        719 => "CUDA_ERROR_LAUNCH_FAILED",
        800 => "CUDA_ERROR_NOT_PERMITTED",
        801 => "CUDA_ERROR_NOT_SUPPORTED",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => return None,
    })
}
