//! `worker-native SOCKET` and `ipc-peer ...`, as the `allocert` program translates them.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, [socket])) if command == "worker-native" => {
            allocert_native::worker(socket.as_ref())
        }
        Some((command, rest)) if command == "ipc-peer" => allocert_native::peer(rest),
        _ => return ExitCode::from(2),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
