//! Executes a call one instruction at a time, and lets another thread run after some of them.
//!
//! A call of the driver counts as one instruction: an allocator may ask the driver which context is
//! current before it reads its own list, and the driver executes thousands of instructions for
//! that.

use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::interleave::driver_code::{DriverCode, resume_after_driver};
use crate::interleave::instruction::{is_atomic, is_system_call, may_access_shared_memory};
use crate::interleave::progress::{Observed, Progress};

/// What the other thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Takes two blocks.
    Takes,
    /// Takes two blocks and frees the first one. Both addresses are the second one's.
    GivesBack,
    /// Takes a block, and leaves others behind that are free. Both addresses are the block's.
    Prepares,
    /// Releases what is idle, and takes two blocks.
    Releases,
    /// Takes a smaller block, writes to it and resizes it. Both addresses are the new block's.
    Resizes,
}

/// Takes a turn, and returns the addresses of two blocks.
pub(super) trait OtherThread: Fn(Turn) -> [usize; 2] + Send {}
impl<F: Fn(Turn) -> [usize; 2] + Send> OtherThread for F {}

/// How long a stopped thread waits for the other one at least, which may need a lock of the stopped
/// one. After that it waits as long as the other one only waits for a processor.
const WAIT: Duration = Duration::from_millis(2);
/// As [`WAIT`], after so many waits in vain that the allocator clearly has a lock.
const SHORT_WAIT: Duration = Duration::from_micros(200);
const LONG_WAITS: u64 = 48;
/// The longest wait, whatever the other thread does.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The flag of the processor that raises SIGTRAP after each instruction.
const TRAP_FLAG: i64 = 0x100;
/// How often the other thread looks for a turn before it sleeps.
const LOOKS_BEFORE_SLEEP: u32 = 16;

/// The turns of the two threads.
const IDLE: u32 = 0;
const OTHER_TAKES: u32 = 1;
const OTHER_GIVES_BACK: u32 = 2;
const OTHER_PREPARES: u32 = 3;
const OTHER_RELEASES: u32 = 4;
const OTHER_RESIZES: u32 = 5;
const OTHER_IS_DONE: u32 = 6;
const END: u32 = 7;

// The handler of a signal reaches only statics. One step of a case uses them at a time.
static TURN: AtomicU32 = AtomicU32::new(IDLE);
static NEXT_TURN: AtomicU32 = AtomicU32::new(IDLE);
/// Instructions that are looked at for accesses, or that come before the count of [`ATOMICS_LEFT`].
static STEPS_LEFT: AtomicU64 = AtomicU64::new(0);
/// The thread stops before the last of so many accesses among [`STEPS_LEFT`]; 0 for none.
static ACCESSES_LEFT: AtomicU64 = AtomicU64::new(0);
/// The thread stops before the last of so many atomic instructions after [`STEPS_LEFT`].
static ATOMICS_LEFT: AtomicU64 = AtomicU64::new(0);
/// Instructions after [`STEPS_LEFT`] that are looked at for atomic ones.
const MOST_BEFORE_ATOMIC: u64 = 2000;
/// Instructions before each call of the driver that counts.
const MOST_BEFORE_DRIVER: u64 = 3000;
/// What is left of them.
static BETWEEN_LEFT: AtomicU64 = AtomicU64::new(0);
/// The count of [`STEPS_LEFT`] begins when the driver returns from the last of so many calls.
static DRIVER_CALLS_LEFT: AtomicU64 = AtomicU64::new(0);
static DRIVER_BEGIN: AtomicU64 = AtomicU64::new(0);
static DRIVER_END: AtomicU64 = AtomicU64::new(0);
static STOPPED: AtomicBool = AtomicBool::new(false);
/// The instruction before which the thread stopped last.
static STOPPED_AT: AtomicU64 = AtomicU64::new(0);
static WAITS_IN_VAIN: AtomicU64 = AtomicU64::new(0);

/// Where a call is stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// Before the instruction with this number, from 1, among those of the first `within` that may
    /// access memory of another thread. A stop before any other instruction shows the same as the
    /// next one of these.
    AtAccess { number: u64, within: u64 },
    /// The same among the first `within` instructions after the driver returned from the call with
    /// this number, from 1.
    AfterDriver { call: u64, number: u64, within: u64 },
    /// Before the atomic instruction with this number, from 1, behind so many instructions.
    AtAtomic { number: u64, behind: u64 },
}

impl Stop {
    fn set(self) {
        let (driver_calls, steps, accesses, atomics, between) = match self {
            Self::AtAccess { number, within } => (0, within, number, 0, 0),
            Self::AfterDriver { call, number, within } => {
                (call, within, number, 0, MOST_BEFORE_DRIVER)
            }
            Self::AtAtomic { number, behind } => (0, behind, 0, number, MOST_BEFORE_ATOMIC),
        };
        DRIVER_CALLS_LEFT.store(driver_calls, Ordering::SeqCst);
        STEPS_LEFT.store(steps, Ordering::SeqCst);
        ACCESSES_LEFT.store(accesses, Ordering::SeqCst);
        ATOMICS_LEFT.store(atomics, Ordering::SeqCst);
        BETWEEN_LEFT.store(between, Ordering::SeqCst);
    }
}

/// The thread that executes single instructions, and the other one.
pub(super) struct Stepper<F> {
    other: F,
    blocks: [AtomicUsize; 2],
}

impl<F: OtherThread + Sync> Stepper<F> {
    /// Starts the other thread, which first does what `begin` does, and takes SIGTRAP over, until
    /// `work` returns.
    pub(super) fn with(begin: impl FnOnce() + Send, other: F, work: impl FnOnce(&Self)) {
        let stepper = Self { other, blocks: [AtomicUsize::new(0), AtomicUsize::new(0)] };
        TURN.store(IDLE, Ordering::SeqCst);
        WAITS_IN_VAIN.store(0, Ordering::SeqCst);
        let driver = DriverCode::find();
        DRIVER_BEGIN.store(driver.begin, Ordering::SeqCst);
        DRIVER_END.store(driver.end, Ordering::SeqCst);
        let _trap = TrapHandler::install();
        thread::scope(|scope| {
            scope.spawn(|| {
                begin();
                let _observed = Observed::begin();
                stepper.serve();
            });
            work(&stepper);
            begin_turn(END);
        });
    }

    /// The other thread.
    fn serve(&self) {
        let mut looks = 0;
        loop {
            let turn = match TURN.load(Ordering::SeqCst) {
                END => return,
                OTHER_TAKES => Turn::Takes,
                OTHER_GIVES_BACK => Turn::GivesBack,
                OTHER_PREPARES => Turn::Prepares,
                OTHER_RELEASES => Turn::Releases,
                OTHER_RESIZES => Turn::Resizes,
                _ if looks < LOOKS_BEFORE_SLEEP => {
                    looks += 1;
                    thread::yield_now();
                    continue;
                }
                nothing => {
                    // Fails if there is a turn by now.
                    let _ = futex::wait(&TURN, futex::Flags::PRIVATE, nothing, None);
                    continue;
                }
            };
            looks = 0;
            let blocks = (self.other)(turn);
            for (place, block) in self.blocks.iter().zip(blocks) {
                place.store(block, Ordering::SeqCst);
            }
            TURN.store(OTHER_IS_DONE, Ordering::SeqCst);
        }
    }
}

impl<F> Stepper<F> {
    /// Has the other thread take a turn, and gives its blocks.
    pub(super) fn ask(&self, turn: Turn) -> [usize; 2] {
        begin_turn(turn.number());
        self.blocks_of_other()
    }

    /// Performs `call`, and stops it there, while the other thread takes a turn. Also gives the
    /// blocks of the other thread, unless the call ended before.
    pub(super) fn step<T>(
        &self,
        stop: Stop,
        turn: Turn,
        call: impl FnOnce() -> T,
    ) -> (T, Option<[usize; 2]>) {
        NEXT_TURN.store(turn.number(), Ordering::SeqCst);
        STOPPED.store(false, Ordering::SeqCst);
        stop.set();
        let result = step_through(call);
        if !STOPPED.load(Ordering::SeqCst) {
            return (result, None);
        }
        (result, Some(self.blocks_of_other()))
    }

    /// Waits until the other thread is done.
    fn blocks_of_other(&self) -> [usize; 2] {
        while TURN.load(Ordering::SeqCst) != OTHER_IS_DONE {
            thread::yield_now();
        }
        TURN.store(IDLE, Ordering::SeqCst);
        [0, 1].map(|index| self.blocks[index].load(Ordering::SeqCst))
    }
}

impl Turn {
    fn number(self) -> u32 {
        match self {
            Self::Takes => OTHER_TAKES,
            Self::GivesBack => OTHER_GIVES_BACK,
            Self::Prepares => OTHER_PREPARES,
            Self::Releases => OTHER_RELEASES,
            Self::Resizes => OTHER_RESIZES,
        }
    }
}

/// The address of the instruction before which a call was stopped last.
pub(super) fn stopped_at() -> u64 {
    STOPPED_AT.load(Ordering::SeqCst)
}

/// Wakes the other thread, which may sleep.
fn begin_turn(turn: u32) {
    TURN.store(turn, Ordering::SeqCst);
    let _ = futex::wake(&TURN, futex::Flags::PRIVATE, 1);
}

/// Performs `call` with the flag set.
#[inline(never)]
fn step_through<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: sets the flag for single steps and changes nothing else. SIGTRAP has a handler.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    let result = call();
    // SAFETY: clears the flag, which the handler of the signal may have cleared already.
    unsafe { asm!("pushfq", "and qword ptr [rsp], -257", "popfq") };
    result
}

/// SIGTRAP is the worker's own while this lives.
struct TrapHandler {
    before: libc::sigaction,
}

impl TrapHandler {
    fn install() -> Self {
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_trap;
        // SAFETY: a structure of numbers and pointers, for which zeros are valid: no mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        let mut before = action;
        // SAFETY: both structures outlive the call; the handler calls only what a handler may.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, &raw mut before) };
        Self { before }
    }
}

impl Drop for TrapHandler {
    fn drop(&mut self) {
        // SAFETY: puts back what was there.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const self.before, ptr::null_mut()) };
    }
}

/// After one instruction. Uses atomics, clocks, `pread`, `sched_yield` and `futex` alone.
extern "C" fn on_trap(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the registers of the thread that it interrupted.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let next = registers[libc::REG_RIP as usize].cast_unsigned();
    if (DRIVER_BEGIN.load(Ordering::SeqCst)..DRIVER_END.load(Ordering::SeqCst)).contains(&next) {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        count_driver_call();
        // SAFETY: the thread executed the call of a function of the driver, so the address to
        // return to is on top of its stack.
        unsafe { resume_after_driver(registers[libc::REG_RSP as usize] as *mut u64) };
        return;
    }
    let stops = stops_before(next);
    // The kernel ends a process whose SIGTRAP is blocked when it is raised.
    if stops != Some(false) || is_about_to_set_signal_mask(registers) {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
    if stops == Some(true) {
        STOPPED.store(true, Ordering::SeqCst);
        STOPPED_AT.store(next, Ordering::SeqCst);
        begin_turn(NEXT_TURN.load(Ordering::SeqCst));
        wait_for_other();
    }
}

/// Counts a call of the driver.
fn count_driver_call() {
    if let Some(left) = DRIVER_CALLS_LEFT.load(Ordering::SeqCst).checked_sub(1) {
        DRIVER_CALLS_LEFT.store(left, Ordering::SeqCst);
        BETWEEN_LEFT.store(MOST_BEFORE_DRIVER, Ordering::SeqCst);
    }
}

/// Counts an instruction. Whether the thread stops before the next one; `None` where it has no more
/// stop.
fn stops_before(next: u64) -> Option<bool> {
    if DRIVER_CALLS_LEFT.load(Ordering::SeqCst) > 0 {
        let between_left = BETWEEN_LEFT.load(Ordering::SeqCst).checked_sub(1)?;
        BETWEEN_LEFT.store(between_left, Ordering::SeqCst);
        return Some(false);
    }
    let next = next as *const u8;
    let steps_left = STEPS_LEFT.load(Ordering::SeqCst);
    if steps_left > 0 {
        STEPS_LEFT.store(steps_left - 1, Ordering::SeqCst);
    }
    let accesses_left = ACCESSES_LEFT.load(Ordering::SeqCst);
    if accesses_left > 0 {
        return (steps_left > 0).then(|| {
            // SAFETY: the thread executes this instruction next.
            let accesses = unsafe { may_access_shared_memory(next) };
            ACCESSES_LEFT.store(accesses_left - u64::from(accesses), Ordering::SeqCst);
            accesses && accesses_left == 1
        });
    }
    if steps_left > 1 {
        return Some(false);
    }
    // SAFETY: as above.
    if unsafe { is_atomic(next) } {
        let atomics_left = ATOMICS_LEFT.load(Ordering::SeqCst).saturating_sub(1);
        ATOMICS_LEFT.store(atomics_left, Ordering::SeqCst);
        return Some(atomics_left == 0);
    }
    let between_left = BETWEEN_LEFT.load(Ordering::SeqCst).checked_sub(1)?;
    BETWEEN_LEFT.store(between_left, Ordering::SeqCst);
    Some(false)
}

/// Whether the next instruction is the system call that blocks signals.
fn is_about_to_set_signal_mask(registers: &[i64]) -> bool {
    registers[libc::REG_RAX as usize] == libc::SYS_rt_sigprocmask
        // SAFETY: the thread executes this instruction next.
        && unsafe { is_system_call(registers[libc::REG_RIP as usize] as *const u8) }
}

fn wait_for_other() {
    let vain = WAITS_IN_VAIN.load(Ordering::SeqCst);
    let limit = if vain < LONG_WAITS { WAIT } else { SHORT_WAIT };
    let (begin, other) = (Instant::now(), Progress::of_other());
    while TURN.load(Ordering::SeqCst) != OTHER_IS_DONE {
        let waited = begin.elapsed();
        if waited > limit && (other.needs_a_lock(limit) || waited > LONGEST_WAIT) {
            WAITS_IN_VAIN.store(vain + 1, Ordering::SeqCst);
            return;
        }
        thread::yield_now();
    }
}
