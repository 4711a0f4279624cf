//! Finds the memory that a kernel is launched on: the words of its parameters that point into an
//! allocation.
//!
//! A number that happens to be an address of live memory counts as one. Memory that is reached
//! through another pointer in memory is not found.

use allocert_contract::trace::cuda::Launch;
use allocert_driver::{Arguments, Layout, Parameter};
use allocert_recorder::{Origin, Range, Ring};

use crate::program_memory;

/// `CU_LAUNCH_PARAM_END`, `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`.
const END: u64 = 0;
const BUFFER_POINTER: u64 = 1;
const BUFFER_SIZE: u64 = 2;
/// Entries of `extra` that are looked at; CUDA knows two.
const MAX_EXTRA: u64 = 8;
/// No kernel has more parameters.
const MAX_BYTES: usize = 1 << 16;
const WORD_BYTES: usize = 8;

/// Writes an event for each word of the launch's parameters that `owner` knows an allocation of.
/// `layout` is asked for if the launch gives parameters one by one, and answers with their places,
/// or with nothing if they are not known; then nothing is written.
pub(crate) fn write(
    ring: &Ring,
    origin: Origin,
    seq: u64,
    launch: &Launch,
    layout: impl FnOnce() -> Layout,
    mut owner: impl FnMut(u64) -> Option<Range>,
) {
    let block = match launch.kernel_params {
        0 => buffer(launch.extra),
        parameters => layout().and_then(|layout| collect(parameters, &layout)),
    };
    let words = block.as_deref().unwrap_or_default().as_chunks::<WORD_BYTES>().0;
    for (position, word) in words.iter().enumerate() {
        let value = u64::from_le_bytes(*word);
        if let Some(range) = owner(value) {
            ring.argument(origin, seq, launch.stream, position as u32, value, range);
        }
    }
}

/// In which way a launch gives its kernel's arguments.
pub(crate) fn given(launch: &Launch) -> Arguments {
    let Some(Buffer { address, bytes }) = Buffer::read(launch.extra) else {
        return Arguments::Invalid;
    };
    match (launch.kernel_params, address) {
        (0, None) => Arguments::None,
        (0, Some(1..)) => Arguments::Buffer { bytes },
        (1.., None) => Arguments::Addresses,
        _ => Arguments::Invalid,
    }
}

/// What `extra` tells of.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    address: Option<u64>,
    bytes: u64,
}

impl Buffer {
    /// Names and values by turns, the last name being 0. `None` if that is not what is there.
    fn read(extra: u64) -> Option<Self> {
        let mut buffer = Self::default();
        if extra == 0 {
            return Some(buffer);
        }
        for index in 0..MAX_EXTRA {
            let entry = extra.checked_add(index * 16)?;
            match word(entry)? {
                END => break,
                BUFFER_POINTER => buffer.address = Some(word(entry + 8)?),
                BUFFER_SIZE => buffer.bytes = word(word(entry + 8)?)?,
                _ => return None,
            }
        }
        Some(buffer)
    }
}

/// The block that `extra` tells of.
fn buffer(extra: u64) -> Option<Vec<u8>> {
    let Buffer { address, bytes } = Buffer::read(extra)?;
    let size = usize::try_from(bytes).ok().filter(|size| *size <= MAX_BYTES)?;
    program_memory::gather(&[(address?, size)])
}

/// The block that an array of addresses, one for each parameter, stands for.
fn collect(parameters: u64, layout: &[Parameter]) -> Option<Vec<u8>> {
    let end = layout
        .iter()
        .map(|parameter| parameter.offset as usize + parameter.size as usize)
        .max()
        .unwrap_or(0);
    let bytes: usize = layout.iter().map(|parameter| parameter.size as usize).sum();
    if end.max(bytes) > MAX_BYTES {
        return None;
    }
    let addresses = program_memory::gather(&[(parameters, layout.len() * WORD_BYTES)])?;
    let addresses =
        addresses.as_chunks::<WORD_BYTES>().0.iter().map(|address| u64::from_le_bytes(*address));
    let ranges: Vec<_> = addresses
        .zip(layout)
        .map(|(address, parameter)| (address, parameter.size as usize))
        .collect();
    let values = program_memory::gather(&ranges)?;
    let (mut block, mut values) = (vec![0; end.next_multiple_of(WORD_BYTES)], &values[..]);
    for Parameter { offset, size } in layout {
        let (value, rest) = values.split_at(*size as usize);
        block[*offset as usize..][..value.len()].copy_from_slice(value);
        values = rest;
    }
    Some(block)
}

fn word(address: u64) -> Option<u64> {
    let mut bytes = [0; WORD_BYTES];
    program_memory::read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}
