//! Runs one call of the C API: takes the lock, records the call, asks the fault plan, performs the
//! call and records its answer. No panic unwinds into the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};

use allocert_contract::trace::cuda::{Function, Launch};
use allocert_driver::{Caller, CudaError, Driver, Result, Thread};
use allocert_recorder::{Entry, Origin, Ring};

use crate::{
    host_functions, kernel_arguments,
    session::{self, Session},
};

/// What a function's implementation works with.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    pub(crate) driver: &'c mut Driver,
    pub(crate) caller: Caller<'c>,
    /// See [`Session::refused`].
    pub(crate) refused: bool,
}

/// Where the caller wants an answer; null if it does not.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out<T>(*mut T);

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpcHandle(pub(crate) [u8; 64]);

/// `CUuuid`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uuid(pub(crate) [u8; 16]);

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) kind: u32,
    pub(crate) id: i32,
}

impl Location {
    /// `CU_MEM_LOCATION_TYPE_DEVICE`
    pub(crate) const DEVICE: u32 = 1;
    /// `CU_MEM_LOCATION_TYPE_HOST`, `_HOST_NUMA` and `_HOST_NUMA_CURRENT`
    pub(crate) const HOST: u32 = 2;
    pub(crate) const HOST_NUMA: u32 = 3;
    pub(crate) const HOST_NUMA_CURRENT: u32 = 4;

    /// False for a node of the host's memory that does not exist: there is one.
    pub(crate) fn exists(self) -> bool {
        self.kind != Self::HOST_NUMA || self.id == 0
    }

    /// `None` for the host; `INVALID_VALUE` for what is neither host nor device.
    pub(crate) fn device(self) -> Result<Option<i32>> {
        match self.kind {
            Self::DEVICE => Ok(Some(self.id)),
            Self::HOST..=Self::HOST_NUMA_CURRENT => Ok(None),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// A parameter as the trace keeps it: an input or an output word.
pub(crate) trait Word: Copy {
    fn input(self) -> Option<u64>;
    /// Asked after success only.
    fn output(self) -> Option<u64> {
        None
    }
}

macro_rules! integer_words {
    ($($kind:ty)*) => {
        $(impl Word for $kind {
            #[inline]
            fn input(self) -> Option<u64> {
                Some(self as u64)
            }
        })*
    };
}

integer_words!(u8 u16 u32 i32 u64 usize);

impl Word for f32 {
    fn input(self) -> Option<u64> {
        Some(self.to_bits().into())
    }
}

impl Word for IpcHandle {
    /// The bytes that tell handles apart.
    fn input(self) -> Option<u64> {
        Some(u64::from_le_bytes(std::array::from_fn(|index| self.0[8 + index])))
    }
}

impl Word for Uuid {
    fn input(self) -> Option<u64> {
        Some(u64::from_le_bytes(std::array::from_fn(|index| self.0[8 + index])))
    }
}

impl Word for Location {
    fn input(self) -> Option<u64> {
        Some(u64::from(self.id as u32) << 32 | u64::from(self.kind))
    }
}

impl<T: Word> Word for Out<T> {
    #[inline]
    fn input(self) -> Option<u64> {
        None
    }

    #[inline]
    fn output(self) -> Option<u64> {
        // SAFETY: an `Out` only comes in as a parameter of an exported function, whose caller
        // promises null or valid memory.
        let value = if self.0.is_null() { None } else { Some(unsafe { self.0.read_unaligned() }) };
        Some(value.and_then(Word::input).unwrap_or(0))
    }
}

impl<T> Out<T> {
    /// Answers, if the caller wants to know.
    #[inline]
    pub(crate) fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: an `Out` only comes in as a parameter of an exported function, whose caller
            // promises null or valid memory.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Answers with what a call found, or 0 beside an error.
    #[inline]
    pub(crate) fn put_or_zero(self, found: Result<T>) -> Result
    where
        T: Default,
    {
        let result = found.as_ref().map(|_| ()).map_err(|error| *error);
        self.put(found.unwrap_or_default());
        result
    }

    /// For functions that insist on being able to answer.
    #[inline]
    pub(crate) fn required(self) -> Result<Self> {
        if self.0.is_null() { Err(CudaError::INVALID_VALUE) } else { Ok(self) }
    }

    /// For functions that insist on it, and look at the current context before.
    #[inline]
    pub(crate) fn required_in_context(self, call: &Call) -> Result<Self> {
        if self.0.is_null() {
            call.driver.check_context(&call.caller)?;
        }
        self.required()
    }

    /// For functions that insist on it, and look before whether there was a `cuInit`.
    #[inline]
    pub(crate) fn required_after_init(self, call: &Call) -> Result<Self> {
        if self.0.is_null() {
            call.driver.initialized()?;
        }
        self.required()
    }
}

/// The first words that are there, zeros after them.
#[inline]
pub(crate) fn pack<const N: usize, const M: usize>(words: [Option<u64>; M]) -> [u64; N] {
    let mut packed = [0; N];
    for (slot, word) in packed.iter_mut().zip(words.into_iter().flatten()) {
        *slot = word;
    }
    packed
}

/// Runs an implemented function. `args` and `out` are only asked for if there is a trace.
#[inline]
pub(crate) fn call(
    function: Function,
    per_thread: bool,
    args: impl Fn() -> [u64; 8],
    body: impl Fn(&mut Call) -> Result,
    out: impl Fn() -> [u64; 3],
) -> i32 {
    guard(|| {
        let mut begun = None;
        loop {
            let entered = session::with(function, |session, thread| {
                attempt(session, thread, (function, per_thread), &args, &body, &out, &mut begun)
            });
            match entered {
                Ok(Attempt::Answered(result)) => return result,
                Ok(Attempt::HostFunctionFirst) => session::run_host_function(),
                Ok(Attempt::HostFunctionSoon) => session::nap(),
                Err(error) => return error.code(),
            }
        }
    })
}

/// A call that has begun: its record, if there is a trace.
type Begun = Option<(&'static Ring, Entry, [u64; 8])>;

enum Attempt {
    Answered(i32),
    /// A host function has to run first.
    HostFunctionFirst,
    /// A query found a host function unfinished.
    HostFunctionSoon,
}

#[inline]
fn attempt(
    session: &mut Session,
    thread: &mut Thread,
    (function, per_thread): (Function, bool),
    args: &impl Fn() -> [u64; 8],
    body: &impl Fn(&mut Call) -> Result,
    out: &impl Fn() -> [u64; 3],
    begun: &mut Option<Begun>,
) -> Attempt {
    let origin = origin(function, thread, per_thread);
    let again = begun.is_some();
    let entry = begun.get_or_insert_with(|| {
        session.calls += 1;
        session.ring.map(|ring| {
            let args = args();
            (ring, ring.enter(origin, args), args)
        })
    });
    let fault = if again { None } else { session.driver.faults().on_call(function) };
    let (answered, injected) = answer(session, thread, per_thread, fault, body);
    match answered {
        Err(CudaError::HOST_FUNCTION_FIRST) => return Attempt::HostFunctionFirst,
        Err(CudaError::HOST_FUNCTION_SOON) => {
            host_functions::hurry();
            return Attempt::HostFunctionSoon;
        }
        _ => {}
    }
    let result = answered.map_or_else(CudaError::code, |()| 0);
    if session.driver.has_misuses() {
        write_misuses(session, origin);
    }
    if let Some((ring, entry, args)) = entry {
        ring.leave(entry, result, injected, if result == 0 { out() } else { [0; 3] });
        if function.is_launch() && result == 0 {
            let launch = Launch::read(*args);
            write_arguments(&mut session.driver, ring, origin, entry.seq(), &launch);
        }
    }
    Attempt::Answered(result)
}

#[inline]
fn origin(function: Function, thread: &Thread, per_thread: bool) -> Origin {
    let (function, context) = (function.into(), thread.current());
    Origin { function, thread: thread.id, context, per_thread }
}

#[cold]
fn write_misuses(session: &mut Session, origin: Origin) {
    for (misuse, values) in session.driver.take_misuses() {
        if let Some(ring) = session.ring {
            ring.misuse(origin, misuse, values);
        }
    }
}

fn write_arguments(driver: &mut Driver, ring: &Ring, origin: Origin, seq: u64, launch: &Launch) {
    let layout = driver.function_layout(launch.function).ok().flatten();
    kernel_arguments::write(
        ring,
        origin,
        seq,
        launch,
        || layout,
        |address| driver.allocation(address),
    );
}

/// The result, and whether the fault plan gave it.
#[inline]
fn answer(
    session: &mut Session,
    thread: &mut Thread,
    per_thread: bool,
    fault: Option<CudaError>,
    body: impl Fn(&mut Call) -> Result,
) -> (Result, bool) {
    let refused = session.refused;
    let caller = Caller { thread, per_thread };
    if let Some(error) = fault {
        session.driver.inject(&caller, error);
        return (Err(error), true);
    }
    let mut call = Call { driver: &mut session.driver, caller, refused };
    (body(&mut call), false)
}

/// Answers for a public function that the software driver does not implement.
pub(crate) fn unsupported(function: Function, per_thread: bool) -> i32 {
    guard(|| {
        let recorded = session::with(function, |session, thread| {
            if let Some(ring) = session.ring {
                ring.unsupported(origin(function, thread, per_thread));
            }
        });
        recorded.err().unwrap_or(CudaError::NOT_SUPPORTED).code()
    })
}

/// Turns a panic, which would be a defect of this library, into `CUDA_ERROR_UNKNOWN`.
#[inline]
pub(crate) fn guard(body: impl FnOnce() -> i32) -> i32 {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(CudaError::UNKNOWN.code())
}
