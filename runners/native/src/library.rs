//! Shared libraries of subjects.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::protocol::Refused;

/// The path and the symbol of `PATH.so[:symbol]`. The part behind the last colon is a symbol,
/// unless the whole is a file.
pub(crate) fn split<'a>(subject: &'a str, default_symbol: &'a str) -> (PathBuf, &'a str) {
    match subject.rsplit_once(':') {
        Some((path, symbol)) if !Path::new(subject).exists() => (path.into(), symbol),
        _ => (subject.into(), default_symbol),
    }
}

/// The path without links, as messages and reports name it.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, Refused> {
    path.canonicalize().map_err(|error| {
        Refused::new("open", format!("{}: cannot be opened", path.display()), error.to_string())
    })
}

/// Loads the library. Whoever keeps an address of it never closes it.
pub(crate) fn open(path: &Path) -> Result<Library, Refused> {
    if let Some(why) = cut_off(path) {
        let message = format!("{}: cannot be loaded: {why}", path.display());
        return Err(Refused::new("open", message, String::new()));
    }
    // SAFETY: runs the initialisers of a library that the user asked to have loaded and run.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        let reason = reason(&error);
        let why = other_machine(path).or_else(|| needs_python(&reason));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        Refused::new("open", format!("{}: cannot be loaded{why}", path.display()), reason)
    })
}

/// The symbols of Python are in an interpreter alone.
fn needs_python(reason: &str) -> Option<String> {
    reason.contains("undefined symbol: Py").then(|| {
        "it calls Python, so run it as a subject in Python; a handler of NumPy with \
         `allocert.numpy.library(PATH)`"
            .to_owned()
    })
}

/// That the file ends before what its ELF header tells the loader to map. The loader maps it
/// nevertheless, and the process ends with SIGBUS where it reads there.
fn cut_off(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    let is_64_bit_elf = header.starts_with(b"\x7fELF\x02\x01");
    let (begin, entry, count) = (word(&header, 32), half(&header, 54), half(&header, 56));
    if !is_64_bit_elf || entry < PROGRAM_HEADER_BYTES {
        return None;
    }
    let mut table = Vec::new();
    file.seek(SeekFrom::Start(begin)).ok()?;
    file.take((entry * count) as u64).read_to_end(&mut table).ok()?;
    let mapped = table.chunks_exact(entry).filter(|header| header.starts_with(&LOAD));
    let needed = mapped.map(|header| word(header, 8).saturating_add(word(header, 32))).max()?;
    (needed > length).then(|| {
        format!(
            "the file is cut off: it has {length} bytes, and its header names {needed} at least; \
             copy or build it again"
        )
    })
}

/// The size of a program header of a 64-bit file.
const PROGRAM_HEADER_BYTES: usize = 56;
/// `p_type` of a part of the file that is mapped.
const LOAD: [u8; 4] = [1, 0, 0, 0];

fn word(bytes: &[u8], from: usize) -> u64 {
    bytes[from..from + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn half(bytes: &[u8], from: usize) -> usize {
    u16::from_le_bytes([bytes[from], bytes[from + 1]]).into()
}

/// Why this machine cannot run a file, by its ELF header. The loader calls a library of another
/// architecture a missing file.
fn other_machine(path: &Path) -> Option<String> {
    let file = machine_of(path)?;
    let own = machine_of(Path::new("/proc/self/exe"))??;
    match file {
        None => Some("it is no ELF file, so it is no shared library of this system".to_owned()),
        Some(machine) if machine != own => {
            let (machine, own) = (machine_name(machine), machine_name(own));
            Some(format!("it is built for {machine}, and this machine runs {own}"))
        }
        Some(_) => None,
    }
}

/// `e_machine` of an ELF file, `Some(None)` for another file, `None` for one that cannot be read.
fn machine_of(path: &Path) -> Option<Option<u16>> {
    let mut header = Vec::new();
    File::open(path).ok()?.take(20).read_to_end(&mut header).ok()?;
    let is_elf = header.starts_with(b"\x7fELF") && header.len() == 20;
    Some(is_elf.then(|| u16::from_le_bytes([header[18], header[19]])))
}

fn machine_name(machine: u16) -> String {
    match machine {
        3 => "x86".to_owned(),
        40 => "ARM".to_owned(),
        62 => "x86-64".to_owned(),
        183 => "AArch64".to_owned(),
        243 => "RISC-V".to_owned(),
        other => format!("the architecture with the ELF number {other}"),
    }
}

/// That the library does not export the symbol.
pub(crate) fn no_symbol(path: &Path, symbol: &str, error: &libloading::Error) -> Refused {
    let message = format!("{}: has no symbol `{symbol}`", path.display());
    Refused::new("symbol", message, reason(error))
}

fn reason(error: &libloading::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
