//! What an instruction does, as far as its first bytes say.

/// The prefix of atomic instructions.
const LOCK: u8 = 0xf0;
/// Sizes, segments and repetition. REX follows them.
const PREFIXES: [u8; 10] = [0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf2, 0xf3];
/// The first byte of opcodes of two bytes.
const TWO_BYTES: u8 = 0x0f;
/// The second byte of `syscall`.
const SYSCALL: u8 = 0x05;
/// The number of the register of the stack in the bytes behind an opcode.
const STACK: u8 = 4;

/// The bytes of an instruction, one after the other.
struct Bytes(*const u8);

impl Bytes {
    /// # Safety
    /// The instruction has another byte.
    unsafe fn next(&mut self) -> u8 {
        // SAFETY: the caller's promise.
        let byte = unsafe { self.0.read() };
        self.0 = self.0.wrapping_add(1);
        byte
    }

    /// Skips the prefixes. Gives the first byte behind them, whether one of them was `lock`, and
    /// REX or 0.
    ///
    /// # Safety
    /// They are the bytes of an instruction, from the first on.
    unsafe fn behind_prefixes(&mut self) -> (u8, bool, u8) {
        let (mut locked, mut rex) = (false, 0);
        loop {
            // SAFETY: an instruction goes on behind each prefix.
            match unsafe { self.next() } {
                LOCK => locked = true,
                byte if PREFIXES.contains(&byte) => {}
                byte @ 0x40..=0x4f => rex = byte,
                byte => return (byte, locked, rex),
            }
        }
    }

    /// Whether the operand is memory, and not that of the thread's own stack.
    ///
    /// # Safety
    /// The next byte is that of the operands (ModRM).
    unsafe fn operand_is_shared(&mut self, rex: u8) -> bool {
        // SAFETY: the caller's promise.
        let operands = unsafe { self.next() };
        if operands >> 6 == 3 {
            return false;
        }
        // SAFETY: the byte of scale, index and base follows.
        let base = || unsafe { self.0.read() };
        let is_on_stack = operands & 7 == STACK && rex & 1 == 0 && base() & 7 == STACK;
        !is_on_stack
    }
}

/// Whether an instruction begins with the prefix `lock`, or is an `xchg` with an operand that may
/// be memory.
///
/// # Safety
/// `instruction` is the address of an instruction.
pub(super) unsafe fn is_atomic(instruction: *const u8) -> bool {
    // SAFETY: the caller's promise.
    let (opcode, locked, _) = unsafe { Bytes(instruction).behind_prefixes() };
    locked || matches!(opcode, 0x86 | 0x87)
}

/// Whether an instruction is the system call.
///
/// # Safety
/// `instruction` is the address of an instruction.
pub(super) unsafe fn is_system_call(instruction: *const u8) -> bool {
    let mut bytes = Bytes(instruction);
    // SAFETY: the caller's promise.
    let is_long = unsafe { bytes.next() } == TWO_BYTES;
    // SAFETY: an opcode of two bytes has a second one.
    is_long && unsafe { bytes.next() } == SYSCALL
}

/// Whether an instruction may do what another thread sees, or see what another thread does: it
/// accesses memory that is not the stack, calls the system, or calls another library. True for
/// all instructions that are not known.
///
/// # Safety
/// `instruction` is the address of an instruction.
pub(super) unsafe fn may_access_shared_memory(instruction: *const u8) -> bool {
    let mut bytes = Bytes(instruction);
    // SAFETY: the caller's promise.
    let (opcode, locked, rex) = unsafe { bytes.behind_prefixes() };
    if locked {
        return true;
    }
    match opcode {
        // SAFETY: an opcode of two bytes has a second one.
        TWO_BYTES => match unsafe { bytes.next() } {
            // Hints, jumps and the exchange of bytes in a register.
            0x18..=0x1f | 0x80..=0x8f | 0xc8..=0xcf => false,
            // Moves with a condition or to a vector, bits, widening and multiplication.
            0x10..=0x17 | 0x28..=0x2f | 0x40..=0x76 | 0x7e | 0x7f | 0x90..=0x9f | 0xa3..=0xa5
            // SAFETY: the byte of the operands follows.
            | 0xab..=0xad | 0xaf | 0xb6..=0xbf | 0xd6 | 0xef => unsafe {
                bytes.operand_is_shared(rex)
            },
            _ => true,
        },
        // Arithmetic with a constant, the stack, jumps, constants, flags and returns.
        0x04 | 0x05 | 0x0c | 0x0d | 0x14 | 0x15 | 0x1c | 0x1d | 0x24 | 0x25 | 0x2c | 0x2d
        | 0x34 | 0x35 | 0x3c | 0x3d | 0x50..=0x5f | 0x68 | 0x6a | 0x70..=0x7f | 0x8d
        | 0x90..=0x99 | 0x9c | 0x9d | 0xa8 | 0xa9 | 0xb0..=0xbf | 0xc2 | 0xc3 | 0xc9
        | 0xe0..=0xe3 | 0xe8 | 0xe9 | 0xeb | 0xf5 | 0xf8..=0xfd => false,
        0x00..=0x03 | 0x08..=0x0b | 0x10..=0x13 | 0x18..=0x1b | 0x20..=0x23 | 0x28..=0x2b
        | 0x30..=0x33 | 0x38..=0x3b | 0x63 | 0x69 | 0x6b | 0x80..=0x8b | 0xc0 | 0xc1 | 0xc6
        // SAFETY: the byte of the operands follows.
        | 0xc7 | 0xd0..=0xd3 | 0xf6 | 0xf7 | 0xfe => unsafe { bytes.operand_is_shared(rex) },
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::mov_register(&[0x48, 0x89, 0xc3])]
    #[case::add_constant(&[0x48, 0x83, 0xc0, 0x10])]
    #[case::lea(&[0x48, 0x8d, 0x44, 0x24, 0x08])]
    #[case::push(&[0x41, 0x57])]
    #[case::ret(&[0xc3])]
    #[case::jump(&[0x0f, 0x84, 0, 0, 0, 0])]
    #[case::call_in_library(&[0xe8, 0, 0, 0, 0])]
    #[case::load_from_stack(&[0x48, 0x8b, 0x44, 0x24, 0x08])]
    #[case::widen_register(&[0x0f, 0xb6, 0xc0])]
    #[case::endbr64(&[0xf3, 0x0f, 0x1e, 0xfa])]
    fn nobody_else_sees_it(#[case] instruction: &[u8]) {
        // SAFETY: these are whole instructions.
        assert!(!unsafe { may_access_shared_memory(instruction.as_ptr()) });
    }

    #[rstest]
    #[case::load(&[0x48, 0x8b, 0x03])]
    #[case::store(&[0x48, 0x89, 0x47, 0x08])]
    #[case::load_relative(&[0x48, 0x8b, 0x05, 0, 0, 0, 0])]
    #[case::load_with_index(&[0x48, 0x8b, 0x04, 0xc7])]
    #[case::load_by_r12(&[0x49, 0x8b, 0x04, 0x24])]
    #[case::load_thread_local(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0])]
    #[case::compare_and_swap(&[0xf0, 0x48, 0x0f, 0xb1, 0x0b])]
    #[case::locked_on_stack(&[0xf0, 0x48, 0x0f, 0xb1, 0x0c, 0x24])]
    #[case::exchange(&[0x48, 0x87, 0x03])]
    #[case::jump_to_other_library(&[0xff, 0x25, 0, 0, 0, 0])]
    #[case::call_of_pointer(&[0xff, 0xd0])]
    #[case::store_vector(&[0x0f, 0x11, 0x03])]
    #[case::copy_bytes(&[0xf3, 0xa4])]
    #[case::vector_256(&[0xc5, 0xfe, 0x6f, 0x06])]
    #[case::system_call(&[0x0f, 0x05])]
    fn others_may_see_it(#[case] instruction: &[u8]) {
        // SAFETY: these are whole instructions.
        assert!(unsafe { may_access_shared_memory(instruction.as_ptr()) });
    }

    #[test]
    fn atomic_instructions_have_a_prefix_or_exchange() {
        let is_atomic = |instruction: &[u8]| {
            // SAFETY: these are whole instructions.
            unsafe { is_atomic(instruction.as_ptr()) }
        };
        assert!(is_atomic(&[0xf0, 0x48, 0x0f, 0xb1, 0x0b]));
        assert!(is_atomic(&[0x48, 0x87, 0x03]));
        assert!(!is_atomic(&[0x48, 0x89, 0x03]));
    }
}
