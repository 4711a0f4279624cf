//! A kernel launch as a trace record keeps it.
//!
//! `cuLaunchKernel` has eleven inputs and a record eight words, and `cuLaunchKernelEx` has most of
//! its inputs in a structure. So all launches are written with the same eight words, of which grid
//! and block take one each.

use crate::trace::parameter::Parameter;

/// What a record of a launch names, in order: [`Launch::words`].
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::input("function"),
    Parameter::input("grid_dim"),
    Parameter::input("block_dim"),
    Parameter::input("shared_mem_bytes"),
    Parameter::input("stream"),
    Parameter::input("kernel_params"),
    Parameter::input("extra"),
    Parameter::input("attributes"),
];

/// The word of a record that names the attributes of `cuLaunchKernelEx`: a bit for each
/// `CUlaunchAttributeID` below 64.
pub const ATTRIBUTES_WORD: usize = 7;

/// The inputs that all launches have. A cooperative launch has no `extra`: 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The function's or the kernel's handle.
    pub function: u64,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// The handle of the stream.
    pub stream: u64,
    /// Where the addresses of the parameters lie; 0 if `extra` tells.
    pub kernel_params: u64,
    /// Where the list of `CU_LAUNCH_PARAM_*` lies; 0 for none.
    pub extra: u64,
}

impl Launch {
    /// The arguments of a record.
    #[must_use]
    pub fn words(&self) -> [u64; 8] {
        let [grid, block] = [self.grid, self.block].map(pack);
        [
            self.function,
            grid,
            block,
            self.shared_bytes.into(),
            self.stream,
            self.kernel_params,
            self.extra,
            0,
        ]
    }

    /// The launch that a record has these arguments of.
    #[must_use]
    pub fn read(
        [function, grid, block, shared_bytes, stream, kernel_params, extra, _]: [u64; 8],
    ) -> Self {
        let [grid, block] = [grid, block].map(unpack);
        Self {
            function,
            grid,
            block,
            shared_bytes: shared_bytes as u32,
            stream,
            kernel_params,
            extra,
        }
    }
}

/// x in the low 32 bits, y in the next 16, z in the rest. CUDA allows no more than 65535 in y and
/// z; what is more becomes that.
fn pack([x, y, z]: [u32; 3]) -> u64 {
    let narrow = |value: u32| u64::from(value.min(u16::MAX.into()));
    u64::from(x) | narrow(y) << 32 | narrow(z) << 48
}

fn unpack(word: u64) -> [u32; 3] {
    [word as u32, u32::from((word >> 32) as u16), u32::from((word >> 48) as u16)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: Launch = Launch {
        function: 0xf0,
        grid: [u32::MAX, 65535, 1],
        block: [1024, 0, 64],
        shared_bytes: 48 << 10,
        stream: 0x57,
        kernel_params: 0x7ffe,
        extra: 9,
    };

    #[test]
    fn a_launch_survives_its_words() {
        assert_eq!(Launch::read(LAUNCH.words()), LAUNCH);
        let beyond = Launch { grid: [1, 65536, u32::MAX], ..LAUNCH };
        assert_eq!(Launch::read(beyond.words()).grid, [1, 65535, 65535]);
    }

    #[test]
    fn every_word_has_its_name() {
        let named: Vec<_> =
            PARAMETERS.iter().map(|parameter| parameter.name).zip(LAUNCH.words()).collect();
        assert_eq!(named.len(), 8);
        assert_eq!(named[ATTRIBUTES_WORD].0, "attributes");
        assert_eq!(named[4], ("stream", 0x57));
        assert_eq!(named[6], ("extra", 9));
        assert!(PARAMETERS.iter().all(|parameter| !parameter.output));
    }
}
