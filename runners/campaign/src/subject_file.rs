//! The file that a subject was loaded from, by its digest.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use allocert_suite::run_format::SubjectFile;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A file that is larger has no digest. A subject in Python names its file itself, and a device
/// such as /dev/zero has no end.
const LARGEST_BYTES: u64 = 4 << 30;

/// The file that the worker says the subject was loaded from; nothing if it cannot be read.
pub(crate) fn of_subject(path: &Value) -> Option<SubjectFile> {
    read(Path::new(path.as_str()?)).ok()
}

/// Reads a plain file whole.
pub(crate) fn read(path: &Path) -> io::Result<SubjectFile> {
    let facts = fs::metadata(path)?;
    if !facts.is_file() || facts.len() > LARGEST_BYTES {
        return Err(io::Error::other("it is no plain file of at most 4 GiB"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(SubjectFile { name, size_bytes: facts.len(), sha256: sha256_of(path)? })
}

pub(crate) fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?.take(LARGEST_BYTES + 1);
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => digest.update(&buffer[..count]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
