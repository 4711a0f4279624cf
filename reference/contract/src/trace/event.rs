//! A decoded trace record.

mod json;

use serde::{Deserialize, Serialize};

use super::{
    function::Function,
    misuse::Misuse,
    ring::{self, Record, kind},
};

/// One thing that happened, in the order in which the driver saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub seq: u64,
    pub thread: u32,
    pub process: u32,
    /// The calling thread's current context when the call came in; 0 for none.
    pub context: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Call(Call),
    /// Written by a worker around what it does.
    Mark {
        mark: Mark,
        a: u64,
        b: u64,
    },
    /// Seen by the driver inside `function`.
    Misuse {
        misuse: Misuse,
        function: Function,
        args: [u64; 2],
    },
    /// A public function that the software driver does not implement was called.
    Unsupported {
        function: Function,
        per_thread: bool,
    },
    /// A public function whose parameters are not known here was called and passed on to a genuine
    /// driver. Neither its arguments nor its result are known.
    PassedOn {
        function: Function,
        per_thread: bool,
    },
    /// A word of a kernel's parameters that points into memory which is alive, written after its
    /// launch, which succeeded.
    Argument {
        /// The launch: `seq` of its call.
        launch: u64,
        /// As the launch was given it.
        stream: u64,
        /// Which 8-byte word of the kernel's parameters, counted from their beginning.
        position: u32,
        value: u64,
        /// Where the allocation that `value` points into begins, and how long it is.
        base: u64,
        size_bytes: u64,
    },
}

/// A driver call. `args` and `out` are in the order of [`Function::params`] and
/// [`Function::outputs`].
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub function: Function,
    pub args: [u64; 8],
    /// Meaningful if the result is 0.
    pub out: [u64; 3],
    /// The `CUresult`; `None` if the call never returned.
    pub result: Option<i32>,
    /// Called through a `_ptsz` or `_ptds` symbol.
    pub per_thread: bool,
    /// The fault plan gave the result.
    pub injected: bool,
}

impl Call {
    /// The input called `name`, if the function has it among its first eight.
    pub fn arg(&self, name: &str) -> Option<u64> {
        self.function
            .params()
            .zip(self.args)
            .find(|(param, _)| *param == name)
            .map(|(_, value)| value)
    }

    /// The output called `name`, if the call succeeded and has it.
    pub fn output(&self, name: &str) -> Option<u64> {
        let found = self.function.outputs().zip(self.out).find(|(output, _)| *output == name)?.1;
        (self.result == Some(0)).then_some(found)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum Mark {
    StepBegin = kind::STEP_BEGIN,
    StepEnd = kind::STEP_END,
    HarnessBegin = kind::HARNESS_BEGIN,
    HarnessEnd = kind::HARNESS_END,
}

impl Mark {
    /// The mark of a record kind (see [`ring::kind`]).
    pub fn from_kind(kind: u32) -> Option<Self> {
        [Self::StepBegin, Self::StepEnd, Self::HarnessBegin, Self::HarnessEnd]
            .into_iter()
            .find(|mark| *mark as u32 == kind)
    }
}

impl Event {
    /// `None` for a record that this build does not know.
    pub fn decode(record: &Record) -> Option<Self> {
        let per_thread = record.flags & ring::PER_THREAD != 0;
        let what = match record.kind {
            kind::CALL => What::Call(Call {
                function: Function::from_index(record.function)?,
                args: record.args,
                out: record.out,
                result: (record.state == ring::RETURNED).then_some(record.result),
                per_thread,
                injected: record.flags & ring::INJECTED != 0,
            }),
            kind::MISUSE => What::Misuse {
                misuse: Misuse::from_code(record.args[0])?,
                function: Function::from_index(record.function)?,
                args: [record.args[1], record.args[2]],
            },
            kind::UNSUPPORTED => {
                What::Unsupported { function: Function::from_index(record.function)?, per_thread }
            }
            kind::PASSED_ON => {
                What::PassedOn { function: Function::from_index(record.function)?, per_thread }
            }
            kind::ARGUMENT => {
                let [launch, stream, position, value, base, size_bytes, ..] = record.args;
                What::Argument {
                    launch,
                    stream,
                    position: u32::try_from(position).ok()?,
                    value,
                    base,
                    size_bytes,
                }
            }
            other => What::Mark {
                mark: Mark::from_kind(other.into())?,
                a: record.args[0],
                b: record.args[1],
            },
        };
        Some(Self {
            seq: record.seq,
            thread: record.thread,
            process: record.process,
            context: record.context,
            what,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(what: What) -> Event {
        Event { seq: 12, thread: 77, process: 70, context: 1, what }
    }

    const ARGUMENT: What = What::Argument {
        launch: 11,
        stream: 87,
        position: 2,
        value: 4104,
        base: 4096,
        size_bytes: u64::MAX,
    };

    #[test]
    fn an_argument_survives_its_record() {
        let args = [11, 87, 2, 4104, 4096, u64::MAX, 0, 0];
        let record = Record {
            seq: 12,
            thread: 77,
            process: 70,
            context: 1,
            kind: kind::ARGUMENT,
            args,
            ..Record::default()
        };
        assert_eq!(Event::decode(&record), Some(event(ARGUMENT)));
        assert_eq!(
            Event::decode(&Record { args: [0, 0, 1 << 32, 0, 0, 0, 0, 0], ..record }),
            None,
            "no such position"
        );
    }
}
