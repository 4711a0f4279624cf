//! Calls of a table, or of two functions. Each is recorded. Those of a table are looked at for what
//! the contract forbids.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{Place, Status, VERSION};
use allocert_contract::trace::{
    Function as AnyFunction,
    place::{Function, NO_STATUS},
};
use allocert_cuda::Driver;
use allocert_suite::observation::{Raised, TableCalls, UNUSABLE_SUBJECT};

use crate::checked_memory;
use crate::churn_and_stress::Block;
use crate::exceptions::Thrown;
use crate::interface::place::exported::Exported;
use crate::interface::place::functions::Functions;
use crate::interface::place::memory::{Memory, WhenCurrent};
use crate::interface::place::table::Table;
use crate::recorder::Recorder;
use crate::step_result::{NoResult, error_of_worker};
use crate::table_guard::TableGuard;

const STATUS: &str = "allocert_place_status";
/// What `*out` holds before a call: no address and no amount that anybody has.
const UNWRITTEN: usize = usize::from_ne_bytes([0xa5; size_of::<usize>()]);

/// What a call of one of two functions that failed is called.
const NO_MEMORY: &str = "NULL";
const NULL_FUNCTION: &str = "NullFunction";

/// The functions of a library in one case.
pub(crate) struct PlaceCalls<'a> {
    exported: &'a Exported,
    recorder: &'a Recorder,
    memory: Memory<'a>,
    guard: TableGuard,
    /// The kinds of place that the library has served.
    served: Mutex<BTreeSet<i32>>,
}

impl<'a> PlaceCalls<'a> {
    pub(crate) fn new(
        exported: &'a Exported,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Self {
        let memory = Memory::new(recorder, driver);
        let (guard, served) = (TableGuard::default(), Mutex::default());
        Self { exported, recorder, memory, guard, served }
    }

    /// What the worker reaches the memory of blocks with.
    pub(crate) fn memory(&self) -> &Memory<'a> {
        &self.memory
    }

    pub(crate) fn exported(&self) -> &'a Exported {
        self.exported
    }

    /// Nothing where no function was called.
    pub(crate) fn taken_notes(&self) -> Option<TableCalls> {
        self.guard.take()
    }

    /// The address that came back, 0 for NULL, and whether two functions left the context current
    /// that was.
    pub(crate) fn alloc(
        &self,
        place: Place,
        size_bytes: u64,
        stream: u64,
    ) -> Result<(u64, Option<bool>), NoResult> {
        match self.exported {
            Exported::Table(table) => Ok((self.table_alloc(table, place, size_bytes)?, None)),
            Exported::Functions(functions) => {
                self.function_alloc(functions, place, size_bytes, stream)
            }
        }
    }

    /// Gives a block back. Also says whether two functions left the context current that was.
    pub(crate) fn free(
        &self,
        place: Place,
        block: Block,
        stream: u64,
    ) -> Result<Option<bool>, NoResult> {
        match self.exported {
            Exported::Table(_) => self.free_address(place, block.address).map(|()| None),
            Exported::Functions(functions) => self.function_free(functions, place, block, stream),
        }
    }

    pub(crate) fn free_null(&self, place: Place) -> Result<(), NoResult> {
        match self.exported {
            Exported::Functions(functions) if functions.frees_null() => {
                let block = Block { address: 0, size_bytes: 0 };
                self.function_free(functions, place, block, 0).map(drop)
            }
            _ => self.free_address(place, 0),
        }
    }

    /// Finds out whether the library serves a place.
    pub(crate) fn ask_for(&self, place: Place) -> Result<(), NoResult> {
        match self.exported {
            Exported::Table(_) => self.used(place).map(drop),
            Exported::Functions(functions) => declined(functions, place, 1),
        }
    }

    /// The caller of the functions has made the device of the place current.
    fn function_alloc(
        &self,
        functions: &Functions,
        place: Place,
        size_bytes: u64,
        stream: u64,
    ) -> Result<(u64, Option<bool>), NoResult> {
        declined(functions, place, size_bytes)?;
        let (address, is_kept) =
            self.memory.with_device_current(place, WhenCurrent::Always, || {
                self.recorded(Function::Alloc, place, &[size_bytes], || {
                    let answer = functions.alloc(place, size_bytes, stream);
                    let failed = match answer {
                        Ok(address) => address == 0 && size_bytes > 0,
                        Err(_) => true,
                    };
                    let result = if failed { NO_STATUS } else { 0 };
                    (result, *answer.as_ref().unwrap_or(&0), answer)
                })
            })?;
        let address = address.map_err(|thrown| exception(&functions.names().alloc, thrown))?;
        if address == 0 && size_bytes > 0 {
            let name = &functions.names().alloc;
            let message = format!("{name} returned NULL for {size_bytes} bytes");
            let status = Status::OUT_OF_MEMORY.name().map(Box::from);
            return Err(Raised { status, ..error_of_worker(NO_MEMORY, message, None) }.into());
        }
        Ok((address, is_kept))
    }

    /// The caller of the functions leaves the device current that is. Where none is, the thread has
    /// not used the driver yet, and the worker makes that of the place current.
    fn function_free(
        &self,
        functions: &Functions,
        place: Place,
        block: Block,
        stream: u64,
    ) -> Result<Option<bool>, NoResult> {
        let Block { address, size_bytes } = block;
        let (answer, is_kept) =
            self.memory.with_device_current(place, WhenCurrent::IfNone, || {
                self.recorded(Function::Free, place, &[address], || {
                    let answer = functions.free(place, address, size_bytes, stream);
                    (if answer.is_ok() { 0 } else { NO_STATUS }, 0, answer)
                })
            })?;
        answer.map_err(|thrown| exception(&functions.names().free, thrown))?;
        Ok(is_kept)
    }

    fn table_alloc(&self, table: &Table, place: Place, size_bytes: u64) -> Result<u64, NoResult> {
        let function = self.member(table, "alloc", table.allocator().alloc)?;
        let mut out = ptr::without_provenance_mut::<c_void>(UNWRITTEN);
        let inputs = [size_bytes];
        let status = self.recorded(Function::Alloc, place, &inputs, || {
            // SAFETY: the library's own function; `out` is valid for a write of a pointer.
            let status = unsafe { function(place, size_bytes as usize, &raw mut out) };
            (status.0, out.expose_provenance() as u64, status)
        });
        self.check("alloc", place, status, out.addr())?;
        Ok(out.addr() as u64)
    }

    /// `address` is any number: a live block of the place, 0, or an address that a case passes
    /// although that is not allowed.
    pub(crate) fn free_address(&self, place: Place, address: u64) -> Result<(), NoResult> {
        let table = self.table("free")?;
        let function = self.member(table, "free", table.allocator().free)?;
        let pointer = ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        let status = self.recorded(Function::Free, place, &[address], || {
            // SAFETY: the library's own function, which refuses an address that it did not give
            // (header, free).
            let status = unsafe { function(place, pointer) };
            (status.0, 0, status)
        });
        self.check_status("free", place, status)
    }

    pub(crate) fn used(&self, place: Place) -> Result<u64, NoResult> {
        let table = self.table("used")?;
        let function = self.member(table, "used", table.allocator().used)?;
        let mut out = UNWRITTEN;
        let status = self.recorded(Function::Used, place, &[], || {
            // SAFETY: the library's own function; `out` is valid for a write of a size.
            let status = unsafe { function(place, &raw mut out) };
            (status.0, out as u64, status)
        });
        self.check("used", place, status, out)?;
        Ok(out as u64)
    }

    pub(crate) fn release(&self, place: Place) -> Result<u64, NoResult> {
        let table = self.table("release")?;
        let function = self.member(table, "release", table.allocator().release)?;
        let mut out = UNWRITTEN;
        let status = self.recorded(Function::Release, place, &[], || {
            // SAFETY: as in used().
            let status = unsafe { function(place, &raw mut out) };
            (status.0, out as u64, status)
        });
        self.check("release", place, status, out)?;
        Ok(out as u64)
    }

    /// The address of the text of this thread's last failed call.
    pub(crate) fn last_error(&self) -> Option<usize> {
        let Exported::Table(table) = self.exported else { return None };
        // SAFETY: the library's own function, on any thread.
        table.allocator().last_error.map(|function| unsafe { function() }.addr())
    }

    /// The table, for a call that two functions do not have.
    fn table(&self, call: &str) -> Result<&'a Table, NoResult> {
        match self.exported {
            Exported::Table(table) => Ok(table),
            Exported::Functions(functions) => {
                let because =
                    format!("a caller of --abi {} makes no such {call}", functions.names().abi);
                Err(NoResult::Declined { because })
            }
        }
    }

    /// The function, if the table has it and this host speaks its version.
    fn member<F>(&self, table: &Table, name: &str, member: Option<F>) -> Result<F, NoResult> {
        if !table.is_spoken() {
            let found = table.allocator().interface_version;
            let message = format!(
                "the table's interface_version is {found}, and allocert_place.h describes {VERSION}"
            );
            return Err(error_of_worker(UNUSABLE_SUBJECT, message, None).into());
        }
        let message =
            || format!("the table's {name} is NULL or beyond its size, so it was not called");
        member.ok_or_else(|| error_of_worker(NULL_FUNCTION, message(), None).into())
    }

    /// Records a call: its result, what came back, and what the caller wants of it.
    fn recorded<T>(
        &self,
        function: Function,
        place: Place,
        arguments: &[u64],
        call: impl FnOnce() -> (c_int, u64, T),
    ) -> T {
        let number = |value: i32| i64::from(value).cast_unsigned();
        let mut inputs = vec![number(place.kind), number(place.device)];
        inputs.extend(arguments);
        self.recorder.answered_call(AnyFunction::Place(function), &inputs, || {
            let (result, out, wanted) = call();
            (wanted, result, [if result == 0 { out } else { 0 }])
        })
    }

    /// Checks the status of a call with a result, and that it wrote the result, or did not.
    fn check(
        &self,
        call: &'static str,
        place: Place,
        status: Status,
        out: usize,
    ) -> Result<(), NoResult> {
        if status != Status::OK && out != UNWRITTEN {
            self.guard.note(call, "written_on_failure", || {
                format!("it answered {status:?} and wrote *out")
            });
        }
        self.check_status(call, place, status)?;
        if out == UNWRITTEN {
            let message = format!("{call} answered OK and did not write its result");
            return Err(error_of_worker("NoResult", message, None).into());
        }
        Ok(())
    }

    /// Turns a status into a result, with the library's own words.
    fn check_status(
        &self,
        call: &'static str,
        place: Place,
        status: Status,
    ) -> Result<(), NoResult> {
        self.guard.called();
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if status == Status::OK {
            served.insert(place.kind);
            return Ok(());
        }
        let message = self.words(call, status);
        let (kind, first) = (kind_name(place.kind), place.device == 0);
        if let (Status::NO_PLACE, Some(kind), true) = (status, kind, first)
            && !served.contains(&place.kind)
        {
            let because = format!("the library does not serve {kind} ({message})");
            return Err(NoResult::Declined { because });
        }
        let name = status.name().map_or_else(|| format!("UNKNOWN({})", status.0), str::to_owned);
        Err(Raised { status: Some(name.into()), ..error_of_worker(STATUS, message, None) }.into())
    }

    /// What the library says about the failed call, and what is wrong with that.
    fn words(&self, call: &'static str, status: Status) -> String {
        if status.name().is_none() {
            self.guard.note(call, "unknown_status", || format!("status {}", status.0));
        }
        let Some(address) = self.last_error() else { return format!("{call} answered {status:?}") };
        self.guard.text(call, address);
        match checked_memory::text(address) {
            Some(text) => format!("{status:?}: {text}"),
            None => format!("{call} answered {status:?}, and last_error {address:#x}"),
        }
    }
}

/// Whether this says that a function of the table was not called.
pub(crate) fn is_uncalled(raised: &Raised) -> bool {
    [UNUSABLE_SUBJECT, NULL_FUNCTION].contains(&raised.r#type.as_str())
}

/// The error that an exception of a function is.
fn exception(function: &str, thrown: Thrown) -> Raised {
    let name = thrown.type_name.unwrap_or_else(|| "an exception".to_owned());
    let message = format!("{function} threw {name}");
    error_of_worker(&name, message, None)
}

/// Declines what no caller of the functions asks for.
fn declined(functions: &Functions, place: Place, size_bytes: u64) -> Result<(), NoResult> {
    functions
        .declines(place, size_bytes)
        .map_or(Ok(()), |because| Err(NoResult::Declined { because }))
}

/// The name of a kind of place that exists.
fn kind_name(kind: i32) -> Option<&'static str> {
    use allocert_abi::place::{CPU, CUDA, CUDA_PINNED};
    match kind {
        CPU => Some("memory of the host"),
        CUDA => Some("memory of devices"),
        CUDA_PINNED => Some("page-locked memory"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use allocert_contract::trace::place::status_name;

    use super::*;

    #[test]
    fn the_trace_has_the_names_of_the_header() {
        for status in -1..=10 {
            assert_eq!(status_name(status), Status(status).name(), "{status}");
        }
    }
}
