//! Refuses PTX as the compiler in an H200's driver does, where a look at the words is enough: the
//! header, the directives, the opcodes and the braces. Registers, types and operands are not
//! looked at. What is not understood passes.

use std::{collections::BTreeSet, iter::Peekable, ops::RangeInclusive, sync::LazyLock};

use super::ptx::Tokens;
use crate::error::{CudaError, Result};

/// The oldest version of the PTX ISA and the newest one that CUDA 13.0 takes, in tenths.
const OLDEST: u32 = 10;
const NEWEST_OF_13_0: u32 = 90;
/// The first version with `sm_20`, the oldest target that is taken.
const FIRST_WITH_TARGETS: u32 = 20;
/// The first version with targets of one architecture alone, as `sm_90a`.
const FIRST_WITH_SUFFIXES: u32 = 80;
/// The compute capabilities whose PTX an H200 takes, in tenths.
const TARGETS: RangeInclusive<u32> = 20..=90;

/// Directives with which a statement begins. PTX ISA, "Directive Statements".
const DIRECTIVES: &str = ".abi_preserve .abi_preserve_control .address_size .alias .align \
    .attribute .blocksareclusters .branchtargets .callprototype .calltargets .common .const \
    .entry .explicitcluster .extern .file .func .global .loc .local .maxclusterrank .maxnctapersm \
    .maxnreg .maxntid .minnctapersm .noreturn .param .pragma .reg .reqnctapercluster .reqntid \
    .section .shared .sreg .target .tex .version .visible .weak";

/// The first words of all instructions. PTX ISA, "Instruction Set".
const OPCODES: &str = "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi \
    bfind bmsk bra brev brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy \
    cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol \
    isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min \
    mma mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu \
    prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt \
    st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap \
    testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax \
    vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor";

/// All of them: each statement of a text asks for one.
static BEGINNINGS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| DIRECTIVES.split_whitespace().chain(OPCODES.split_whitespace()).collect());

/// `INVALID_IMAGE` for a text that does not begin with a version, `UNSUPPORTED_PTX_VERSION` for
/// a version of another driver, and `INVALID_PTX` for a text that cannot be compiled.
pub(super) fn check(text: &str, driver_version: i32) -> Result {
    let mut tokens = Tokens(text).peekable();
    if tokens.next() != Some(".version") {
        return Err(CudaError::INVALID_IMAGE);
    }
    let version = tokens.next().and_then(tenths).ok_or(CudaError::INVALID_PTX)?;
    if !(OLDEST..=newest(driver_version)).contains(&version) {
        return Err(CudaError::UNSUPPORTED_PTX_VERSION);
    }
    let is_valid = has_target(&mut tokens, version) && are_statements(&mut tokens);
    if is_valid { Ok(()) } else { Err(CudaError::INVALID_PTX) }
}

/// The newest version that a driver takes. 13.0 was measured; each later CUDA 13 brought the next
/// version (PTX ISA, "Release Notes").
fn newest(driver_version: i32) -> u32 {
    let later = driver_version.saturating_sub(13000) / 10;
    NEWEST_OF_13_0 + u32::try_from(later).unwrap_or(0)
}

/// `7.0` is 70. `None` if it is no version.
fn tenths(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    let minor: u32 = minor.parse().ok().filter(|minor| *minor < 10)?;
    major.parse::<u32>().ok()?.checked_mul(10)?.checked_add(minor)
}

/// Whether `.target` comes next, with an architecture that an H200 takes and that the version has.
fn has_target(tokens: &mut Peekable<Tokens>, version: u32) -> bool {
    if tokens.next() != Some(".target") {
        return false;
    }
    let Some(name) = tokens.next() else { return false };
    while tokens.next_if_eq(&",").is_some() {
        tokens.next();
    }
    let Some(architecture) = name.strip_prefix("sm_") else { return true };
    let number = architecture.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let first = if number == architecture { FIRST_WITH_TARGETS } else { FIRST_WITH_SUFFIXES };
    version >= first && number.parse().map_or(true, |number| TARGETS.contains(&number))
}

/// Whether the rest is directives and, in functions, instructions, all of known names, in braces
/// that are closed, and no kernel is defined twice.
fn are_statements(tokens: &mut Peekable<Tokens>) -> bool {
    let (mut kernels, mut kernel) = (BTreeSet::new(), None);
    // Whether each open brace is a block of statements, and not a list of values.
    let mut open: Vec<bool> = Vec::new();
    let (mut begins, mut is_list) = (true, false);
    while let Some(token) = tokens.next() {
        if begins && !may_begin(token, open.is_empty(), tokens.peek() == Some(&":")) {
            return false;
        }
        match token {
            "{" => {
                let is_block = begins || open.is_empty() && !is_list;
                if open.is_empty() && !kernel.take().is_none_or(|name| kernels.insert(name)) {
                    return false;
                }
                open.push(is_block);
                (begins, is_list) = (is_block, false);
            }
            "}" => match open.pop() {
                Some(is_block) => begins = is_block,
                None => return false,
            },
            ";" | ":" if open.last() == Some(&false) => {}
            ";" => (begins, is_list, kernel) = (true, false, None),
            ":" => begins = true,
            // A list of values follows, or lines of debug information.
            "=" | ".section" => (begins, is_list) = (false, true),
            ".address_size" if tokens.next_if_eq(&"64").is_none() => return false,
            ".address_size" => begins = true,
            ".entry" => (begins, kernel) = (false, tokens.next()),
            // A predicate comes before the opcode, `@!%p`.
            "@" if begins && !open.is_empty() => drop((tokens.next_if_eq(&"!"), tokens.next())),
            _ => begins = false,
        }
    }
    open.is_empty() && kernel.is_none()
}

/// Whether a statement can begin with a word; at the top, outside of functions, or in one.
fn may_begin(word: &str, at_top: bool, is_label: bool) -> bool {
    match word {
        "{" => !at_top,
        "}" | ";" | "@" => true,
        _ if word.starts_with('.') => BEGINNINGS.contains(word),
        _ if at_top => false,
        _ => is_label || BEGINNINGS.contains(word.split('.').next().unwrap_or(word)),
    }
}
