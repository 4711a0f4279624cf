//! `allocert completions SHELL` and `allocert man [COMMAND]`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_suite::RefusalCode;
use clap::Command;
use clap_complete::aot;

use crate::arguments::Shell;
use crate::terminal;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell, program: &Command) -> Result<ExitCode, Failure> {
    let shell = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    // The generator would offer the commands by which the program starts its workers.
    let shown = program.get_subcommands().filter(|one| !one.is_hide_set()).cloned();
    let mut program = Command::new("allocert").version(VERSION).subcommands(shown);
    let mut text = Vec::new();
    aot::generate(shell, &mut program, "allocert", &mut text);
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the page of the program, or of one of its commands.
pub(crate) fn man(command: Option<&str>, mut program: Command) -> Result<ExitCode, Failure> {
    // The names of the commands become those of their pages, such as allocert-run.
    program.build();
    let page = match command {
        None => program,
        Some(name) => {
            let mut shown = program.get_subcommands().filter(|one| !one.is_hide_set());
            let found = shown.find(|one| one.get_name() == name);
            found.cloned().ok_or_else(|| {
                let message = format!("there is no command `{name}`; `allocert help` lists them");
                Failure::refused(RefusalCode::CommandLine, message)
            })?
        }
    };
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(page).render(&mut text);
    written.map_err(|error| Failure::harness(format!("cannot write the page: {error}")))?;
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
