//! Text files that a user names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use allocert_suite::RefusalCode;

use crate::failure::Failure;

/// No file that a person writes is larger. A device such as /dev/zero has no end.
const LARGEST_BYTES: u64 = 16 << 20;

/// The whole text; `noun` is what it is, for messages. A pipe is read too.
pub(crate) fn read(noun: &str, path: &Path) -> Result<String, Failure> {
    let refused = |why: &dyn std::fmt::Display| {
        let message = format!("cannot read the {noun} {}: {why}", path.display());
        Failure::refused(RefusalCode::UnreadableFile, message)
    };
    let file = File::open(path).map_err(|error| refused(&error))?;
    let mut text = String::new();
    file.take(LARGEST_BYTES + 1).read_to_string(&mut text).map_err(|error| refused(&error))?;
    if text.len() as u64 > LARGEST_BYTES {
        return Err(refused(&format!("it is larger than {} MiB", LARGEST_BYTES >> 20)));
    }
    Ok(text)
}
