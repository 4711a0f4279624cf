//! A decoded trace record.

mod json;

use super::{
    cuda,
    cuda::Misuse,
    function::Function,
    marker::{Marker, MarkerKind},
    record::{self, Record, RecordKind},
};

/// One thing that happened, in the order in which it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number within the trace, from 0.
    pub seq: u64,
    /// The system's number of the thread.
    pub thread: u32,
    /// The system's number of the process.
    pub process: u32,
    /// The thread's current CUDA context before it happened; 0 for none.
    pub context: u64,
    /// What happened.
    pub what: What,
}

/// What an event tells about.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A call of a function of any boundary.
    Call(Call),
    /// Written by a worker around what it does.
    Marker(Marker),
    /// The software driver noticed a misuse of its API.
    Misuse {
        /// What kind of misuse.
        misuse: Misuse,
        /// The function that the driver was in.
        function: cuda::Function,
        /// As the kind of misuse says.
        args: [u64; 2],
    },
    /// A public driver function that the software driver does not implement was called.
    Unsupported {
        /// The function.
        function: cuda::Function,
        /// Called through a `_ptsz` or `_ptds` symbol.
        per_thread: bool,
    },
    /// A public driver function whose parameters are not known here was called and passed on to a
    /// genuine driver. Neither its arguments nor its result are known.
    PassedOn {
        /// The function.
        function: cuda::Function,
        /// Called through a `_ptsz` or `_ptds` symbol.
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
        /// The word, an address.
        value: u64,
        /// Where the allocation begins that `value` points into.
        base: u64,
        /// Size of that allocation.
        size_bytes: u64,
    },
}

/// A call of a function of any boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function, which tells the boundary too.
    pub function: Function,
    /// In the order of [`Function::inputs`]; zeros behind them.
    pub args: [u64; 8],
    /// In the order of [`Function::outputs`]; meaningful if the result is 0.
    pub out: [u64; 3],
    /// 0 for a call that succeeded, otherwise a code of the boundary, such as a `CUresult`. `None`
    /// if the call never returned.
    pub result: Option<i32>,
    /// Called through a `_ptsz` or `_ptds` symbol. Functions of the CUDA driver alone have these.
    pub per_thread: bool,
    /// The fault plan gave the result.
    pub injected: bool,
}

impl Call {
    /// The input called `name`, if the function has it among its first eight.
    #[must_use]
    pub fn arg(&self, name: &str) -> Option<u64> {
        self.function
            .inputs()
            .zip(self.args)
            .find(|(param, _)| *param == name)
            .map(|(_, value)| value)
    }

    /// The output called `name`, if the call succeeded and has it.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<u64> {
        let found = self.function.outputs().zip(self.out).find(|(output, _)| *output == name)?.1;
        (self.result == Some(0)).then_some(found)
    }
}

impl Event {
    /// The call, if the event is one.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.what {
            What::Call(call) => Some(call),
            _ => None,
        }
    }

    /// `None` for a record that this build does not know.
    #[must_use]
    pub fn decode(record: &Record) -> Option<Self> {
        Some(Self {
            seq: record.seq,
            thread: record.thread,
            process: record.process,
            context: record.context,
            what: what(record)?,
        })
    }
}

fn what(record: &Record) -> Option<What> {
    let function = Function::from_code(record.function)?;
    let per_thread = record.flags & record::PER_THREAD != 0;
    Some(match RecordKind::from_repr(record.kind)? {
        RecordKind::Call => What::Call(Call {
            function,
            args: record.args,
            out: record.out,
            result: (record.state == record::RETURNED).then_some(record.result),
            per_thread,
            injected: record.flags & record::INJECTED != 0,
        }),
        RecordKind::Marker => {
            let [kind, step, ..] = record.args;
            let kind = MarkerKind::from_repr(u32::try_from(kind).ok()?)?;
            What::Marker(Marker::new(kind, step))
        }
        RecordKind::Misuse => {
            let [misuse, first, second, ..] = record.args;
            What::Misuse {
                misuse: Misuse::from_repr(u16::try_from(misuse).ok()?)?,
                function: function.cuda()?,
                args: [first, second],
            }
        }
        RecordKind::Unsupported => What::Unsupported { function: function.cuda()?, per_thread },
        RecordKind::PassedOn => What::PassedOn { function: function.cuda()?, per_thread },
        RecordKind::Argument => {
            let [launch, stream, position, value, base, size_bytes, ..] = record.args;
            let position = u32::try_from(position).ok()?;
            What::Argument { launch, stream, position, value, base, size_bytes }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::plugin;

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
            kind: RecordKind::Argument as u16,
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

    #[test]
    fn a_call_without_return_has_no_result() {
        let entered = Record {
            state: record::ENTERED,
            function: Function::Plugin(plugin::Function::Memalloc).code(),
            flags: record::PER_THREAD,
            args: [3, 1, 64, 0, 0, 0, 0, 0],
            ..Record::default()
        };
        let Some(Event { what: What::Call(call), .. }) = Event::decode(&entered) else {
            panic!("a call")
        };
        assert_eq!((call.result, call.arg("size_bytes")), (None, Some(64)));
        assert!(call.per_thread && !call.injected);
    }

    #[test]
    fn only_driver_functions_are_misused() {
        let misuse = Record {
            kind: RecordKind::Misuse as u16,
            function: Function::Plugin(plugin::Function::Reset).code(),
            args: [1, 0, 0, 0, 0, 0, 0, 0],
            ..Record::default()
        };
        assert_eq!(Event::decode(&misuse), None);
    }
}
