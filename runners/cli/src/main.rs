//! The `allocert` program: translates a command line into calls of a campaign, and prints the
//! results.
#![forbid(unsafe_code)]

mod arguments;
mod certify;
mod coverage;
mod debug;
mod diff;
mod explain;
mod explore;
mod failure;
mod fixtures;
mod hidden_commands;
mod judge;
mod list;
mod matrix;
mod merge;
mod mutants;
mod new;
mod progress_bar;
mod report;
mod run;
mod shell_help;
mod show;
mod snapshot;
mod templates;
mod terminal;
mod trace;
mod variants;
mod verify;
mod workers;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use allocert_campaign::Failure;

use arguments::{Command, Fixtures};

/// Enough for every command, whatever `ulimit -s` says.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let done = match on_large_stack(arguments::read) {
        // The subject of a worker may ask which thread is the main one.
        Ok(Some(command)) if command.is_worker() => dispatch(command),
        Ok(Some(command)) => on_large_stack(|| dispatch(command)),
        Ok(None) => Ok(ExitCode::SUCCESS),
        Err(failure) => Err(failure),
    };
    done.unwrap_or_else(|failure| failure::report(&failure))
}

/// Does the work on a thread of its own.
fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let refused = |error| Failure::harness(format!("the system starts no thread: {error}"));
        thread.map_err(refused)?.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn dispatch(command: Command) -> Result<ExitCode, Failure> {
    // A worker holds the subject, whose panics are none of ours.
    if !command.is_worker() {
        failure::report_panics_in_one_line();
    }
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Explore(arguments) => explore::explore(arguments),
        Command::Certify(arguments) => certify::certify(*arguments),
        Command::Verify { bundle, subject } => verify::verify(&bundle, subject.as_deref()),
        Command::Judge(arguments) => judge::judge(arguments),
        Command::Merge { runs, out } => merge::merge(&runs, &out),
        Command::Report(arguments) => report::report(&arguments),
        Command::Snapshot(arguments) => snapshot::snapshot(&arguments),
        Command::Diff(arguments) => diff::diff(arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Debug(arguments) => debug::debug(arguments),
        Command::Matrix(arguments) => matrix::matrix(arguments),
        Command::Explain { id } => explain::explain(&id),
        Command::Show { case } => show::show(&case),
        Command::List { interface, filter, profile } => {
            list::list(interface.as_deref(), filter.as_deref(), profile.as_deref())
        }
        Command::Coverage { interface, profile } => {
            coverage::coverage(&interface, profile.as_deref())
        }
        Command::Mutants(arguments) => mutants::mutants(arguments),
        Command::Variants(arguments) => variants::variants(arguments),
        Command::Fixtures(Fixtures::Check { paths }) => fixtures::check(&paths),
        Command::New { language, folder } => new::new(language, &folder),
        Command::Completions { shell } => shell_help::completions(shell, &arguments::program()),
        Command::Man { command } => shell_help::man(command.as_deref(), arguments::program()),
        Command::WorkerNative { socket } => hidden_commands::native_worker(&socket),
        Command::IpcPeer { arguments } => hidden_commands::ipc_peer(&arguments),
        Command::DriverFacts => hidden_commands::driver_facts(),
    }
}
