//! Refuses PTX as the compiler in an H200's driver does, where a look at the words is enough: the
//! header, the directives, the opcodes and the braces. Registers, types and operands are not
//! looked at. What is not understood is accepted.

use std::collections::BTreeSet;

use super::ptx::Tokens;
use crate::error::{CudaError, Result};

/// The greatest version of the PTX ISA that CUDA 13.0 takes, and the least, in tenths.
const VERSIONS: std::ops::RangeInclusive<u32> = 10..=90;
/// The compute capabilities whose PTX an H200 takes, in tenths.
const TARGETS: std::ops::RangeInclusive<u32> = 20..=90;

/// `INVALID_IMAGE` for a text that does not begin with a version, `UNSUPPORTED_PTX_VERSION` for
/// one of another driver, and `INVALID_PTX` for a text that cannot be compiled.
pub(super) fn check(text: &str) -> Result {
    let mut tokens = Tokens(text);
    if tokens.next() != Some(".version") {
        return Err(CudaError::INVALID_IMAGE);
    }
    let version = tokens.next().and_then(tenths).ok_or(CudaError::INVALID_PTX)?;
    if !VERSIONS.contains(&version) {
        return Err(CudaError::UNSUPPORTED_PTX_VERSION);
    }
    let is_valid = has_target(&mut tokens) && are_statements(&mut tokens);
    if is_valid { Ok(()) } else { Err(CudaError::INVALID_PTX) }
}

/// `7.0` is 70. `None` if it is no version.
fn tenths(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    let minor: u32 = minor.parse().ok().filter(|minor| *minor < 10)?;
    major.parse::<u32>().ok()?.checked_mul(10)?.checked_add(minor)
}

/// Whether `.target` comes next, with an architecture that an H200 takes.
fn has_target(tokens: &mut Tokens) -> bool {
    if tokens.next() != Some(".target") {
        return false;
    }
    let Some(architecture) = tokens.next().and_then(|name| name.strip_prefix("sm_")) else {
        return true;
    };
    // `sm_90a` is the H200's own, which PTX ISA 8.0 has first: it was only measured with 7.0.
    let number = architecture.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    number.parse().map_or(true, |number| TARGETS.contains(&number))
}

/// Whether what comes behind the target is directives and, in functions, instructions too, all of
/// known names, in braces that are closed.
fn are_statements(tokens: &mut Tokens) -> bool {
    let mut kernels = BTreeSet::new();
    let (mut depth, mut begins) = (0_usize, true);
    while let Some(token) = tokens.next() {
        match token {
            "{" => depth += 1,
            "}" => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            "(" if begins && depth == 0 => return false,
            _ if begins && !is_start(token, depth) => return false,
            ".address_size" if tokens.next() != Some("64") => return false,
            _ => {}
        }
        if token == ".entry" && !tokens.next().is_some_and(|name| kernels.insert(name)) {
            return false;
        }
        begins = matches!(token, "{" | "}" | ";");
    }
    depth == 0
}
