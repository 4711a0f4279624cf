//! Mutations of `alloc()`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use allocert_abi::place::{CPU, CUDA, CUDA_PINNED, Place, Status};

use super::base_allocator::{Base, rounded};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, Failure, GRANULE_BYTES, fail, out_of_memory};

export_place_mutants! {
    mutant_place_conforming => Conforming,
    mutant_place_small_blocks_only => SmallBlocksOnly,
    mutant_place_half_block => HalfBlock,
    mutant_place_same_block_again => SameBlockAgain,
    mutant_place_aligned_to_16 => AlignedTo16,
    mutant_place_marks_neighbours => MarksNeighbours,
    mutant_place_at_most_1_gib => AtMost1Gib,
    mutant_place_size_wraps => SizeWraps,
    mutant_place_too_much_is_internal => TooMuchIsInternal,
    mutant_place_zero_fails => ZeroFails,
    mutant_place_zero_alternates => ZeroAlternates,
    mutant_place_zero_is_one_block => ZeroIsOneBlock,
    mutant_place_size_in_32_bits => SizeIn32Bits,
    mutant_place_pinned_size_in_32_bits => PinnedSizeIn32Bits,
    mutant_place_rounds_down => RoundsDown,
    mutant_place_idle_shrinks => IdleShrinks,
    mutant_place_merges_idle => MergesIdle,
}

/// Breaks nothing.
struct Conforming;

impl Mutation for Conforming {}

/// Refuses requests for more than 1 MiB.
struct SmallBlocksOnly;

impl Mutation for SmallBlocksOnly {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if size_bytes > 1 << 20 { Err(out_of_memory()) } else { base.alloc(place, size_bytes) }
    }
}

/// Reserves half of a large block of a device.
struct HalfBlock;

impl Mutation for HalfBlock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let half = place.kind == CUDA && (4096..=1 << 30).contains(&size_bytes);
        base.alloc(place, if half { size_bytes / 2 } else { size_bytes })
    }
}

/// Gives the block of the last request again, if it was of the same size. Only requests of the main
/// thread: otherwise a race of several threads decides which requirement shows first.
struct SameBlockAgain;

static LAST: Mutex<Option<(i32, usize, usize)>> = Mutex::new(None);

impl Mutation for SameBlockAgain {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        // SAFETY: it only asks for the number of the thread.
        let thread = unsafe { libc::gettid() };
        // SAFETY: it only asks for the number of the process, which the main thread has too.
        if thread != unsafe { libc::getpid() } {
            return base.alloc(place, size_bytes);
        }
        let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((kind, size, address)) = last.take()
            && (kind, size) == (place.kind, size_bytes)
        {
            return Ok(address);
        }
        let address = base.alloc(place, size_bytes)?;
        *last = Some((place.kind, size_bytes, address));
        Ok(address)
    }

    /// A block that was given twice comes back twice.
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address).or(Ok(()))
    }
}

/// Gives addresses 16 bytes behind a multiple of 32.
struct AlignedTo16;

impl Mutation for AlignedTo16 {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        match size_bytes {
            0 => base.alloc(place, 0),
            _ => Ok(base.alloc(place, size_bytes.saturating_add(16))? + 16),
        }
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address.saturating_sub(16))
    }
}

/// Writes a mark into the live block before the one that is freed.
struct MarksNeighbours;

impl Mutation for MarksNeighbours {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address)?;
        if place.kind == CPU {
            let before = base.with(place, |region| {
                region.live.range(..address).next_back().map(|(before, _)| *before)
            });
            if let Some(before) = before {
                let byte = std::ptr::with_exposed_provenance_mut::<u8>(before);
                // SAFETY: a live block of the heap, of a granule or more.
                unsafe { byte.write_volatile(0) };
            }
        }
        Ok(())
    }
}

/// Serves requests of any size by 1 GiB.
struct AtMost1Gib;

impl Mutation for AtMost1Gib {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(place, size_bytes.min(1 << 30))
    }
}

/// Keeps the lower 32 bits of a size up to 1 TiB.
struct SizeIn32Bits;

impl Mutation for SizeIn32Bits {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(place, in_32_bits(size_bytes))
    }
}

/// The lower 32 bits of a size up to 1 TiB.
fn in_32_bits(size_bytes: usize) -> usize {
    let is_kept = size_bytes > 1 << 40;
    if is_kept { size_bytes } else { size_bytes & 0xffff_ffff }
}

/// Keeps the lower 32 bits of the size of page-locked memory.
struct PinnedSizeIn32Bits;

impl Mutation for PinnedSizeIn32Bits {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let is_cut = place.kind == CUDA_PINNED;
        base.alloc(place, if is_cut { in_32_bits(size_bytes) } else { size_bytes })
    }
}

/// Takes whole pages for a block of more than 1 MiB, of which the last one is missing.
struct RoundsDown;

impl Mutation for RoundsDown {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let rounds = size_bytes > 1 << 20 && place.kind == CUDA;
        base.alloc(place, if rounds { size_bytes & !0xfff } else { size_bytes })
    }
}

/// Serves a request from a larger idle block, whose size is that of the request from then on.
struct IdleShrinks;

/// A block that is larger by more than this factor stays idle.
const MOST_OF_WANTED: usize = 8;

impl Mutation for IdleShrinks {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let wanted = rounded(size_bytes)?;
        let serves = wanted..=wanted.saturating_mul(MOST_OF_WANTED);
        base.with(place, |region| {
            let larger = region.idle.iter_mut().rev().find(|(_, idle)| serves.contains(idle));
            if let Some((_, idle)) = larger {
                *idle = wanted;
            }
        });
        base.alloc(place, size_bytes)
    }
}

/// Serves a request from two idle blocks of a device, one behind the other, as if they were one.
struct MergesIdle;

/// The smallest request that is served so.
const LEAST_MERGED_BYTES: usize = 8 << 20;

impl Mutation for MergesIdle {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let wanted = rounded(size_bytes)?;
        if place.kind == CUDA && wanted >= LEAST_MERGED_BYTES {
            base.with(place, |region| merge(&mut region.idle, wanted));
        }
        base.alloc(place, size_bytes)
    }
}

/// Makes one idle block of `wanted` bytes of two neighbours, if there are such.
fn merge(idle: &mut Vec<(usize, usize)>, wanted: usize) {
    idle.sort_unstable();
    let neighbours = idle.windows(2).position(|pair| {
        let [(address, first), (next, second)] = pair else { return false };
        address + first == *next && first + second == wanted
    });
    if let Some(index) = neighbours {
        idle.remove(index + 1);
        idle[index].1 = wanted;
    }
}

/// Adds the room for a header to the size, and does not look whether the sum fits.
struct SizeWraps;

impl Mutation for SizeWraps {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        match size_bytes {
            0 => base.alloc(place, 0),
            _ => base.alloc(place, size_bytes.wrapping_add(GRANULE_BYTES).max(1)),
        }
    }
}

/// Calls a lack of memory an internal error.
struct TooMuchIsInternal;

impl Mutation for TooMuchIsInternal {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(place, size_bytes).map_err(|failure| match failure {
            Failure { status: Status::OUT_OF_MEMORY, .. } => {
                fail(Status::INTERNAL, "alloc: std::bad_alloc\0")
            }
            other => other,
        })
    }
}

/// Refuses requests for no bytes.
struct ZeroFails;

impl Mutation for ZeroFails {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if size_bytes == 0 { Err(out_of_memory()) } else { base.alloc(place, size_bytes) }
    }
}

/// Answers every second request for no bytes with a block, and the others with NULL.
struct ZeroAlternates;

static WITH_BLOCK: AtomicBool = AtomicBool::new(false);

impl Mutation for ZeroAlternates {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let block = size_bytes == 0 && WITH_BLOCK.fetch_not(Ordering::SeqCst);
        base.alloc(place, if block { 1 } else { size_bytes })
    }
}

/// Answers all requests for no bytes with the same block, until it is freed.
struct ZeroIsOneBlock;

static ZERO: Mutex<Option<usize>> = Mutex::new(None);

impl Mutation for ZeroIsOneBlock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if size_bytes > 0 {
            return base.alloc(place, size_bytes);
        }
        let mut zero = ZERO.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match *zero {
            Some(address) => Ok(address),
            None => {
                let address = base.alloc(place, 1)?;
                *zero = Some(address);
                Ok(address)
            }
        }
    }
}
