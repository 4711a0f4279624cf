//! `allocert debug INTERFACE SUBJECT CASE [-- DEBUGGER...]`

use std::process::ExitCode;

use allocert_campaign::Failure;
use allocert_campaign::debug::{self, DebugOptions};
use allocert_suite::exit::Exit;
use allocert_suite::report;

use crate::arguments::Debug;
use crate::{terminal, workers};

pub(crate) fn debug(arguments: Debug) -> Result<ExitCode, Failure> {
    let workers = workers::for_debugger(arguments.python)?;
    let options = DebugOptions {
        side: arguments.side,
        subject: arguments.subject,
        abi: arguments.abi,
        case: arguments.case,
        fixtures: arguments.fixtures,
        debugger: arguments.debugger,
    };
    let judged = debug::debug(&options, &workers)?;
    terminal::print(&report::trace::render(&judged, terminal::palette()))?;
    Ok(Exit::of([&judged.judgement]).code().into())
}
