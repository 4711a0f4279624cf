//! The `allocert` program: translates a command line into calls and their results into text and an
//! exit code.
#![forbid(unsafe_code)]

mod arguments;
mod conclude;
mod coverage;
mod explain;
mod explore;
mod failure;
mod fixtures;
mod hunt;
mod interface;
mod judge;
mod list;
mod matrix;
mod mutants;
mod profile;
mod progress;
mod run;
mod selection;
mod suite;
mod sweep;
mod terminal;
mod worker;

use std::process::ExitCode;

use arguments::{Command, Fixtures};
use failure::Failure;

fn main() -> ExitCode {
    arguments::read().and_then(obey).unwrap_or_else(Failure::report)
}

fn obey(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::WorkerNative { socket } => return worker::native(&socket),
        Command::IpcPeer { arguments } => return worker::peer(&arguments),
        Command::DriverFacts => return worker::facts(),
        _ => failure::report_bugs_in_one_line(),
    }
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Explore(arguments) => explore::explore(&arguments),
        Command::Judge(arguments) => judge::judge(&arguments),
        Command::Matrix(arguments) => matrix::matrix(&arguments),
        Command::Explain { id } => explain::explain(&id),
        Command::List { filter, profile } => list::list(filter.as_deref(), profile.as_deref()),
        Command::Coverage { interface, profile } => {
            coverage::coverage(&interface, profile.as_deref())
        }
        Command::Mutants(arguments) => mutants::mutants(&arguments),
        Command::Fixtures(Fixtures::Check { paths }) => fixtures::check(&paths),
        Command::WorkerNative { .. } | Command::IpcPeer { .. } | Command::DriverFacts => {
            Ok(ExitCode::SUCCESS)
        }
    }
}
