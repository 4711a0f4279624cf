//! The project's own commands: `cargo xtask certify | test | bench | package | results |
//! free-threaded`.
#![forbid(unsafe_code)]

mod bench;
mod certify;
mod free_threaded;
mod passed;
mod python;
mod results;
mod shell;
mod test;
mod workspace;

use std::process::ExitCode;

use shell::Fault;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  certify [ARGS]  build what is needed and certify the reference manager on the software driver
                  (ARGS go to `allocert run emm reference`)
  test [--again]  everything that CI checks: format, lints, Rust tests, the Python package and
                  its tests. Tests that passed on the same files before are left out, unless
                  --again is given
  bench           the speed table: driver pair, pool pair, judge, whole suites
  results [WORDS] certify the known libraries that run on the software driver, and write
                  docs/results and docs/results.md; with WORDS, those with one of them in their
                  side, argument or package
  package         build the Python package into .venv and stop
  free-threaded PYTHON
                  build the Python package for this free-threaded Python, and certify the handler
                  and NumPy under it";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_deref() {
        Some("certify") => certify::certify(&rest),
        Some("test") => test::test(&rest),
        Some("bench") => bench::bench(),
        Some("results") => results::results(&rest),
        Some("package") => python::package(),
        Some("free-threaded") => free_threaded::free_threaded(&rest),
        Some("--help" | "-h" | "help") => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(code) => code,
        Err(Fault::Usage(what)) => {
            eprintln!("xtask: {what}\n{USAGE}");
            ExitCode::from(2)
        }
        Err(fault) => {
            eprintln!("xtask: {fault}");
            ExitCode::from(3)
        }
    }
}
