//! The suite as `cargo test` trials, for a Rust crate that builds a plugin. In the plugin's
//! `Cargo.toml`:
//!
//! ```toml
//! [[test]]
//! name = "allocert"
//! harness = false
//! ```
//!
//! and in its `tests/allocert.rs`, one trial for each case:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     allocert_cargo::main("emm", "libpool.so")
//! }
//! ```
#![forbid(unsafe_code)]

mod pool;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, thread};

use allocert_harness::{Asset, Interrupt, Isolation, Launch, Request, RunDir, Subject};
use allocert_suite::exit::Exit;
use allocert_suite::{Catalogue, Side, fixture};
use libtest_mimic::Arguments;

use crate::pool::Pool;
use crate::trial::trial;

/// Runs the cases of `interface` against the plugin at `subject` as libtest would run tests, and
/// takes libtest's arguments.
///
/// `subject` is a path, or the bare name of a library that cargo put beside the test executable.
pub fn main(interface: &str, subject: impl AsRef<Path>) -> ExitCode {
    match serve_or_test(interface, subject.as_ref()) {
        Ok(exit) => exit,
        Err(message) => {
            eprintln!("allocert: {message}");
            Exit::Harness.code().into()
        }
    }
}

/// The test executable is its own worker, so that nothing but the driver has to be installed.
fn serve_or_test(interface: &str, subject: &Path) -> Result<ExitCode, String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["worker-native", socket] => served(allocert_native::worker(Path::new(socket))),
        ["ipc-peer", ..] => served(allocert_native::peer(&arguments[1..])),
        _ => test(interface, subject),
    }
}

fn served(result: Result<(), allocert_native::WorkerError>) -> Result<ExitCode, String> {
    result.map(|()| ExitCode::SUCCESS).map_err(text)
}

fn test(interface: &str, subject: &Path) -> Result<ExitCode, String> {
    let arguments = Arguments::from_args();
    let mut catalogue = Catalogue::embedded().map_err(texts)?;
    let profile = Side::by_name(interface)
        .and_then(|side| catalogue.default_profile(side.interface()).cloned());
    catalogue.choose(profile);
    let catalogue = Arc::new(catalogue);
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    let mut cases = fixture::plan(files, &catalogue).map_err(texts)?;
    cases.retain(|case| case.side.name() == interface);
    if cases.is_empty() {
        return Err(format!(
            "the interface {interface} has no cases, so nothing could be certified; there is emm"
        ));
    }
    let pool = Arc::new(Pool::new(request(interface, subject)?));
    let trials =
        cases.into_iter().map(|case| trial(case, Arc::clone(&catalogue), Arc::clone(&pool)));
    Ok(libtest_mimic::run(&arguments, trials.collect()).exit_code())
}

fn request(interface: &str, subject: &Path) -> Result<Request, String> {
    let own = env::current_exe().map_err(text)?;
    let subject = find(subject, &own);
    let subject = Subject::parse(&subject.display().to_string(), Side::Emm).map_err(text)?;
    Ok(Request {
        run: RunDir::create(&Asset::Driver.find().map_err(text)?).map_err(text)?,
        launch: Launch::native(own),
        interface: interface.to_owned(),
        subject,
        isolation: Isolation::Case,
        jobs: thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN),
        timeout_s: None,
        interrupt: Interrupt::default(),
    })
}

/// Cargo puts a crate's library beside its test executables, or one folder above.
fn find(subject: &Path, own: &Path) -> PathBuf {
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join(subject));
    beside.into_iter().find(|path| path.is_file()).unwrap_or_else(|| subject.to_owned())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn texts(errors: Vec<impl ToString>) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}
