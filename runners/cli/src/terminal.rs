//! Text for a person on standard output. A reader that stopped reading is no error.

use std::env;
use std::io::{self, IsTerminal, Write};

use allocert_campaign::Failure;
use allocert_suite::RefusalCode;
use allocert_suite::report::style::Palette;

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("cannot write to standard output: {error}");
            Err(Failure::refused(RefusalCode::UnwritableFile, message))
        }
        _ => Ok(()),
    }
}

/// Colour for a person, none for a file.
pub(crate) fn palette() -> Palette {
    Palette::detect(io::stdout().is_terminal(), env::var_os("NO_COLOR").as_deref())
}
