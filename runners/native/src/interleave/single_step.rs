//! Executes a call one instruction at a time, and lets another thread run after some of them.

use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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
static STEPS_LEFT: AtomicU64 = AtomicU64::new(0);
static STOPPED: AtomicBool = AtomicBool::new(false);
static WAITS_IN_VAIN: AtomicU64 = AtomicU64::new(0);

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

    /// Performs `call`, and stops it after so many instructions, while the other thread takes a
    /// turn. Also gives the blocks of the other thread, unless the call ended before.
    pub(super) fn step<T>(
        &self,
        after: u64,
        turn: Turn,
        call: impl FnOnce() -> T,
    ) -> (T, Option<[usize; 2]>) {
        NEXT_TURN.store(turn.number(), Ordering::SeqCst);
        STOPPED.store(false, Ordering::SeqCst);
        STEPS_LEFT.store(after, Ordering::SeqCst);
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
    let steps_left = STEPS_LEFT.load(Ordering::SeqCst);
    STEPS_LEFT.store(steps_left.saturating_sub(1), Ordering::SeqCst);
    // The kernel ends a process whose SIGTRAP is blocked when it is raised.
    if steps_left <= 1 || is_about_to_set_signal_mask(registers) {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
    if steps_left == 1 {
        STOPPED.store(true, Ordering::SeqCst);
        TURN.store(NEXT_TURN.load(Ordering::SeqCst), Ordering::SeqCst);
        wait_for_other();
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
