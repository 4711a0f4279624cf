//! Bytes behind a block that its caller must not change.

use std::ptr;

/// So many bytes follow the last byte of a block.
pub(crate) const GUARD_BYTES: u64 = 16;

/// Writes the guard of the block at `address`, whose caller may use the bytes before `end`.
///
/// # Safety
/// The [`GUARD_BYTES`] from `end` are memory of this process that nobody else uses.
#[inline]
pub(crate) unsafe fn write(address: u64, end: u64) {
    let guard = ptr::with_exposed_provenance_mut::<u128>(end as usize);
    // SAFETY: the caller's promise.
    unsafe { guard.write_unaligned(pattern(address)) };
}

/// Asks the processor to bring the guard behind `end` into its caches.
#[inline]
pub(crate) fn prefetch(end: u64) {
    #[cfg(target_arch = "x86_64")]
    for byte in [end, end.wrapping_add(GUARD_BYTES - 1)] {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch takes any address: it changes nothing and does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::with_exposed_provenance(byte as usize)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = end;
}

/// Whether the guard still is what [`write`] wrote.
///
/// # Safety
/// As for [`write`], which was called with the same addresses.
#[inline]
pub(crate) unsafe fn is_intact(address: u64, end: u64) -> bool {
    let guard = ptr::with_exposed_provenance::<u128>(end as usize);
    // SAFETY: the caller's promise; the bytes were written.
    unsafe { guard.read_unaligned() == pattern(address) }
}

/// Differs for each block, so the guard of one is not that of another. Its bytes are rarely those
/// of numbers or texts.
fn pattern(address: u64) -> u128 {
    let low = (address ^ 0xa5c3_96e7_d1b8_f49d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u128::from(low) | u128::from(!low.rotate_left(29)) << 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_byte_shows() {
        let mut bytes = [0_u8; 48];
        let address = bytes.as_mut_ptr().expose_provenance() as u64;
        let end = address + 17;
        for at in 17..33 {
            for bit in 0..8 {
                // SAFETY: 16 bytes from `end` lie in the array, which nobody else uses.
                unsafe { write(address, end) };
                let before = (bytes[16], bytes[33]);
                assert_eq!(before, (0, 0));
                bytes[at] ^= 1 << bit;
                // SAFETY: as above.
                assert!(!unsafe { is_intact(address, end) }, "byte {at}, bit {bit}");
                bytes[at] ^= 1 << bit;
                // SAFETY: as above.
                assert!(unsafe { is_intact(address, end) });
            }
        }
    }
}
