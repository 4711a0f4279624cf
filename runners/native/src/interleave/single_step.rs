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

use crate::interleave::driver_code::{DriverCode, resume_after_driver};

/// What the other thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Takes two blocks.
    Takes,
    /// Takes two blocks and frees the first one. Both addresses are the second one's.
    GivesBack,
    /// Takes a block, and leaves others behind that are free. Both addresses are the block's.
    Prepares,
}

/// Takes a turn, and returns the addresses of two blocks.
pub(super) trait OtherThread: Fn(Turn) -> [usize; 2] + Send {}
impl<F: Fn(Turn) -> [usize; 2] + Send> OtherThread for F {}

/// How long a stopped thread waits for the other one, which may need a lock of the stopped one.
const WAIT: Duration = Duration::from_millis(2);
/// As [`WAIT`], after so many waits in vain that the allocator clearly has a lock.
const SHORT_WAIT: Duration = Duration::from_micros(200);
const LONG_WAITS: u64 = 48;

/// The flag of the processor that raises SIGTRAP after each instruction.
const TRAP_FLAG: i64 = 0x100;
/// The two bytes of the instruction `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// The prefix of atomic instructions.
const LOCK: u8 = 0xf0;

/// The turns of the two threads.
const IDLE: u32 = 0;
const OTHER_TAKES: u32 = 1;
const OTHER_GIVES_BACK: u32 = 2;
const OTHER_PREPARES: u32 = 3;
const OTHER_IS_DONE: u32 = 4;
const END: u32 = 5;

// The handler of a signal reaches only statics. One step of a case uses them at a time.
static TURN: AtomicU32 = AtomicU32::new(IDLE);
static NEXT_TURN: AtomicU32 = AtomicU32::new(IDLE);
/// Instructions before the stop, or before the count of [`ATOMICS_LEFT`] begins.
static STEPS_LEFT: AtomicU64 = AtomicU64::new(0);
/// The thread stops before so many atomic instructions after [`STEPS_LEFT`]; 0 for at once.
static ATOMICS_LEFT: AtomicU64 = AtomicU64::new(0);
/// Instructions after [`STEPS_LEFT`] that are looked at for atomic ones.
const MOST_BETWEEN: u64 = 2000;
static BETWEEN_LEFT: AtomicU64 = AtomicU64::new(0);
static DRIVER_BEGIN: AtomicU64 = AtomicU64::new(0);
static DRIVER_END: AtomicU64 = AtomicU64::new(0);
static STOPPED: AtomicBool = AtomicBool::new(false);
static WAITS_IN_VAIN: AtomicU64 = AtomicU64::new(0);

/// Where a call is stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// After so many instructions.
    After(u64),
    /// Before the atomic instruction with this number, from 1, behind so many instructions.
    AtAtomic { number: u64, behind: u64 },
}

impl Stop {
    fn set(self) {
        let (steps, atomics) = match self {
            Self::After(instructions) => (instructions, 0),
            Self::AtAtomic { number, behind } => (behind, number),
        };
        STEPS_LEFT.store(steps, Ordering::SeqCst);
        ATOMICS_LEFT.store(atomics, Ordering::SeqCst);
        BETWEEN_LEFT.store(MOST_BETWEEN, Ordering::SeqCst);
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
                stepper.serve();
            });
            work(&stepper);
            TURN.store(END, Ordering::SeqCst);
        });
    }

    /// The other thread.
    fn serve(&self) {
        loop {
            let turn = match TURN.load(Ordering::SeqCst) {
                END => return,
                OTHER_TAKES => Turn::Takes,
                OTHER_GIVES_BACK => Turn::GivesBack,
                OTHER_PREPARES => Turn::Prepares,
                _ => {
                    thread::yield_now();
                    continue;
                }
            };
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
        TURN.store(turn.number(), Ordering::SeqCst);
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
        }
    }
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

/// After one instruction. Uses atomics, the clock and `sched_yield` alone.
extern "C" fn on_trap(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the registers of the thread that it interrupted.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let next = registers[libc::REG_RIP as usize].cast_unsigned();
    if (DRIVER_BEGIN.load(Ordering::SeqCst)..DRIVER_END.load(Ordering::SeqCst)).contains(&next) {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
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
        TURN.store(NEXT_TURN.load(Ordering::SeqCst), Ordering::SeqCst);
        wait_for_other();
    }
}

/// Counts an instruction. Whether the thread stops before the next one; `None` where it has no more
/// stop.
fn stops_before(next: u64) -> Option<bool> {
    let steps_left = STEPS_LEFT.load(Ordering::SeqCst).saturating_sub(1);
    STEPS_LEFT.store(steps_left, Ordering::SeqCst);
    if steps_left > 0 {
        return Some(false);
    }
    let atomics_left = ATOMICS_LEFT.load(Ordering::SeqCst);
    if atomics_left == 0 {
        return Some(true);
    }
    if is_atomic(next as *const u8) {
        ATOMICS_LEFT.store(atomics_left - 1, Ordering::SeqCst);
        return Some(atomics_left == 1);
    }
    let between_left = BETWEEN_LEFT.load(Ordering::SeqCst).checked_sub(1)?;
    BETWEEN_LEFT.store(between_left, Ordering::SeqCst);
    Some(false)
}

/// Whether an instruction begins with the prefix `lock`, or is an `xchg`.
fn is_atomic(mut next: *const u8) -> bool {
    loop {
        // SAFETY: an instruction that the thread executes next, which goes on behind each prefix.
        match unsafe { next.read() } {
            LOCK => return true,
            // Sizes, segments, repetition and REX.
            0x66 | 0x67 | 0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf2 | 0xf3 | 0x40..=0x4f => {}
            byte => return matches!(byte, 0x86 | 0x87),
        }
        next = next.wrapping_add(1);
    }
}

/// Whether the next instruction is the system call that blocks signals.
fn is_about_to_set_signal_mask(registers: &[i64]) -> bool {
    let next = registers[libc::REG_RIP as usize] as *const [u8; 2];
    registers[libc::REG_RAX as usize] == libc::SYS_rt_sigprocmask
        // SAFETY: the instruction that the thread executes next; every instruction is followed by
        // another byte of code.
        && unsafe { next.read_unaligned() } == SYSCALL
}

fn wait_for_other() {
    let vain = WAITS_IN_VAIN.load(Ordering::SeqCst);
    let (begin, limit) = (Instant::now(), if vain < LONG_WAITS { WAIT } else { SHORT_WAIT });
    while TURN.load(Ordering::SeqCst) != OTHER_IS_DONE {
        if begin.elapsed() > limit {
            WAITS_IN_VAIN.store(vain + 1, Ordering::SeqCst);
            return;
        }
        thread::yield_now();
    }
}
