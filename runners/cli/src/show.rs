//! `allocert show CASE`

use std::process::ExitCode;

use allocert_campaign::{Failure, Suite};

use crate::terminal;

pub(crate) fn show(case: &str) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let (file, text) = suite.fixture(case)?;
    let numbered =
        text.lines().enumerate().map(|(index, line)| format!("{:>4}  {line}", index + 1));
    let lines: Vec<String> = numbered.map(|line| line.trim_end().to_owned()).collect();
    terminal::print(&format!("fixtures/{file}\n{}\n", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}
