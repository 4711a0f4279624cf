//! The control functions that the recording driver exports beside the CUDA API.

use std::ffi::{CString, c_char, c_int};

use allocert_contract::trace::{Function, Marker};
use allocert_suite::nouns::DriverSettings;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

use crate::error::WorkerError;

/// The recording driver, loaded before anything else so that it wins every later look-up.
#[derive(Debug)]
pub(crate) struct Recorder {
    marker: Symbol<unsafe extern "C" fn(kind: u32, step: u64) -> c_int>,
    call_begin: Symbol<unsafe extern "C" fn(code: u32, inputs: *const u64, count: usize) -> u64>,
    call_end:
        Symbol<unsafe extern "C" fn(call: u64, result: c_int, outputs: *const u64, count: usize)>,
    fault_add: Symbol<
        unsafe extern "C" fn(name: *const c_char, nth: u64, count: u64, result: c_int) -> c_int,
    >,
    fault_clear: Symbol<unsafe extern "C" fn()>,
    restart: Symbol<unsafe extern "C" fn() -> c_int>,
    /// The settings that the driver runs under, to leave the environment alone while they stay the
    /// same.
    settings: DriverSettings,
}

impl Recorder {
    pub(crate) fn load() -> Result<Self, WorkerError> {
        // SAFETY: the harness put its own driver first on the path; its initialisers do nothing but
        // record.
        let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_GLOBAL) }
            .map_err(|source| WorkerError::Driver { source })?;
        let recorder = Self {
            marker: symbol(&library, "allocert_trace_marker")?,
            call_begin: symbol(&library, "allocert_trace_call_begin")?,
            call_end: symbol(&library, "allocert_trace_call_end")?,
            fault_add: symbol(&library, "allocert_fault_add")?,
            fault_clear: symbol(&library, "allocert_fault_clear")?,
            restart: symbol(&library, "allocert_driver_restart")?,
            settings: DriverSettings::default(),
        };
        // The symbols above stay valid because the library is never closed.
        std::mem::forget(library);
        Ok(recorder)
    }

    fn marker(&self, marker: Marker) {
        // SAFETY: a control function of the recording driver, which takes any numbers.
        unsafe { (self.marker)(marker.kind() as u32, marker.step().unwrap_or(0)) };
    }

    pub(crate) fn case_begin(&self) {
        self.marker(Marker::CaseBegin);
    }

    /// Performs a step between the markers that say which calls belong to it.
    pub(crate) fn step<T>(&self, index: u32, perform: impl FnOnce() -> T) -> T {
        let step = index.into();
        self.marker(Marker::StepBegin { step });
        let result = perform();
        self.marker(Marker::StepEnd { step });
        result
    }

    /// Does something whose driver calls are the worker's own and never the subject's.
    pub(crate) fn as_harness<T>(&self, work: impl FnOnce() -> T) -> T {
        self.marker(Marker::HarnessBegin);
        let result = work();
        self.marker(Marker::HarnessEnd);
        result
    }

    /// Records a call of a boundary other than CUDA. `perform` makes it, and returns what came back
    /// with the outputs that the trace keeps.
    pub(crate) fn call<T, const N: usize>(
        &self,
        function: Function,
        inputs: &[u64],
        perform: impl FnOnce() -> (T, [u64; N]),
    ) -> T {
        self.answered_call(function, inputs, || {
            let (result, outputs) = perform();
            (result, 0, outputs)
        })
    }

    /// As [`Self::call`]; `perform` also returns the result that the trace keeps, 0 for success.
    pub(crate) fn answered_call<T, const N: usize>(
        &self,
        function: Function,
        inputs: &[u64],
        perform: impl FnOnce() -> (T, c_int, [u64; N]),
    ) -> T {
        // SAFETY: a control function of the recording driver, which reads `count` numbers.
        let call =
            unsafe { (self.call_begin)(function.code().into(), inputs.as_ptr(), inputs.len()) };
        let (value, result, outputs) = perform();
        // SAFETY: as above.
        unsafe { (self.call_end)(call, result, outputs.as_ptr(), N) };
        value
    }

    /// Makes the `nth` next and `count - 1` following calls of `function` answer `result`. `false`
    /// where the driver knows no such function.
    pub(crate) fn fault_add(&self, function: &str, nth: u64, count: u64, result: i32) -> bool {
        let Ok(name) = CString::new(function) else { return false };
        // SAFETY: a control function of the recording driver; the name is NUL-terminated and
        // outlives the call.
        unsafe { (self.fault_add)(name.as_ptr(), nth, count, result) == 0 }
    }

    pub(crate) fn fault_clear(&self) {
        // SAFETY: a control function of the recording driver, without arguments.
        unsafe { (self.fault_clear)() }
    }

    /// A new, empty machine with these settings, as if the process had just begun.
    pub(crate) fn restart(&mut self, settings: &DriverSettings) -> Result<(), WorkerError> {
        if *settings != self.settings {
            set_environment(settings);
            self.settings = settings.clone();
        }
        // SAFETY: a control function of the recording driver; the worker holds nothing of the old
        // machine.
        match unsafe { (self.restart)() } {
            0 => Ok(()),
            code => Err(WorkerError::Restart { code }),
        }
    }
}

fn symbol<T>(library: &Library, name: &'static str) -> Result<Symbol<T>, WorkerError> {
    // SAFETY: T is the type of this control function; caller and driver are built from one source.
    unsafe { library.get(name) }.map_err(|_| WorkerError::NotRecording { symbol: name })
}

fn set_environment(settings: &DriverSettings) {
    let text = |value: Option<u64>| value.map(|value| value.to_string());
    for (name, value) in [
        ("ALLOCERT_DEVICES", text(settings.devices.map(Into::into))),
        ("ALLOCERT_MEMORY_BYTES", text(settings.memory_bytes)),
        ("ALLOCERT_DRIVER_VERSION", text(settings.version.map(Into::into))),
        ("ALLOCERT_PEER_ACCESS", text(settings.peer_access.map(Into::into))),
    ] {
        // Empty means the default to the driver, whatever the harness was started with.
        set_variable(name, &value.unwrap_or_default());
    }
}

/// Sets a variable of this process.
pub(crate) fn set_variable(name: &str, value: &str) {
    // SAFETY: the worker reads the environment on no other thread. A subject's thread that reads it
    // at this moment is the one danger left; the process is a fork that serves one batch only.
    unsafe { std::env::set_var(name, value) }
}
