//! The second process of an IPC case: `allocert ipc-peer HANDLE OFFSET SIZE DEVICE`.

use std::process::{Command, Stdio};

use allocert_cuda::{Driver, DriverError};
use allocert_suite::observation::{PEER_FAILED, Raised};
use serde::{Deserialize, Serialize};

use crate::error::WorkerError;
use crate::recorder::Recorder;
use crate::step_result::{driver_error, error_of_worker};

/// What a peer is to read. Offset and size are bytes.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) handle: [u8; 64],
    pub(crate) offset_bytes: u64,
    pub(crate) size_bytes: u64,
    pub(crate) device: u32,
}

/// The one line that a peer prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The value of all bytes, or null where they differ.
    Uniform(Option<u8>),
    /// A driver call failed.
    Failed { message: String, code: Option<i32> },
}

/// Opens the handle that the arguments name, reads, closes and prints one JSON line. `arguments`
/// are HANDLE (128 hexadecimal digits), OFFSET and SIZE (bytes) and DEVICE (an ordinal).
///
/// # Errors
/// [`WorkerError`] for wrong arguments and for a driver that does not record. A driver call that
/// fails is part of the answer.
pub fn peer(arguments: &[String]) -> Result<(), WorkerError> {
    let reading = parse(arguments)?;
    let recorder = Recorder::load()?;
    let answer = match recorder.as_harness(|| reading.perform()) {
        Ok(uniform) => Answer::Uniform(uniform),
        Err(error) => {
            let Raised { message, code, .. } = driver_error(error);
            Answer::Failed { message, code }
        }
    };
    println!("{}", serde_json::to_string(&answer).map_err(|source| WorkerError::Line { source })?);
    Ok(())
}

/// Has a fresh process of this program do the reading.
pub(crate) fn ask(reading: &Reading) -> Result<Option<u8>, Raised> {
    let lost = |why: String| {
        error_of_worker(PEER_FAILED, format!("the second process gave no answer: {why}"), None)
    };
    let program = std::env::current_exe().map_err(|error| lost(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["ipc-peer", &hex(&reading.handle)]);
    command.args(
        [reading.offset_bytes, reading.size_bytes, reading.device.into()]
            .map(|number| number.to_string()),
    );
    let output = command.stdin(Stdio::null()).output().map_err(|error| lost(error.to_string()))?;
    match serde_json::from_slice(&output.stdout) {
        Ok(Answer::Uniform(uniform)) => Ok(uniform),
        Ok(Answer::Failed { message, code }) => {
            Err(error_of_worker("DriverError", format!("in the peer: {message}"), code))
        }
        Err(_) => Err(lost(format!(
            "{}; {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

impl Reading {
    fn perform(&self) -> Result<Option<u8>, DriverError> {
        let driver = Driver::load()?;
        driver.init()?;
        let context = driver.primary_ctx_retain(self.device.cast_signed())?;
        driver.ctx_set_current(Some(context))?;
        let base = driver.ipc_open_mem_handle(self.handle)?;
        let mut bytes =
            vec![0; usize::try_from(self.size_bytes).unwrap_or(usize::MAX).min(1 << 30)];
        // SAFETY: from a base that the driver just gave; it refuses what lies outside of the
        // allocation.
        let read = unsafe { driver.memcpy_dtoh(&mut bytes, base.wrapping_add(self.offset_bytes)) };
        driver.ipc_close_mem_handle(base)?;
        read?;
        let first = bytes.first().copied();
        Ok(first.filter(|first| bytes.iter().all(|byte| byte == first)))
    }
}

fn parse(arguments: &[String]) -> Result<Reading, WorkerError> {
    let wrong = |what: &str| {
        WorkerError::Peer(format!("{what}; usage: allocert ipc-peer HANDLE OFFSET SIZE DEVICE"))
    };
    let [handle, offset, size, device] = arguments else {
        return Err(wrong(&format!("{} arguments instead of 4", arguments.len())));
    };
    Ok(Reading {
        handle: unhex(handle).ok_or_else(|| wrong("HANDLE is not 128 hexadecimal digits"))?,
        offset_bytes: offset.parse().map_err(|_| wrong("OFFSET is no number of bytes"))?,
        size_bytes: size.parse().map_err(|_| wrong("SIZE is no number of bytes"))?,
        device: device.parse().map_err(|_| wrong("DEVICE is no ordinal"))?,
    })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    if text.len() != 2 * bytes.len() || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_its_way_through_the_command_line() {
        let handle: [u8; 64] = std::array::from_fn(|at| at as u8 * 3);
        assert_eq!(unhex(&hex(&handle)), Some(handle));
        assert_eq!(unhex("00"), None);
    }

    #[test]
    fn wrong_arguments_are_named() {
        let error =
            parse(&["00".into(), "0".into(), "1".into(), "0".into()]).expect_err("a short handle");
        assert!(error.to_string().contains("HANDLE is not 128 hexadecimal digits"), "{error}");
    }
}
