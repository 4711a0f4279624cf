//! What a call may do that was passed on by its name alone: nobody saw its arguments.

use allocert_contract::trace::cuda::Function;

/// What such a call may do to the order of work and to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassedOnEffect {
    BeginsCapture,
    EndsCapture,
    /// It waits for nothing and touches no memory of a case.
    Nothing,
    /// It queues no work. It may wait for all work that was queued before.
    MayWait,
    /// It may also queue work, in any stream and on any memory.
    MayTouch,
}

/// Measured: these do not wait, and later work does not wait for them.
const DO_NOTHING: [&str; 7] = [
    "cuGraphInstantiateWithFlags",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemMap",
    "cuMemRelease",
    "cuMemSetAccess",
    "cuMemUnmap",
];

/// Beginnings of functions that make, describe or end something, and have no stream to work in.
const QUEUE_NOTHING: [&str; 19] = [
    "cuArray",
    "cuCoredump",
    "cuCtx",
    "cuDevice",
    "cuEventDestroy",
    "cuFunc",
    "cuGraphAdd",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExec",
    "cuGraphInstantiate",
    "cuIpcGet",
    "cuKernel",
    "cuLibrary",
    "cuLink",
    "cuModule",
    "cuOccupancy",
    "cuTensorMap",
    "cuTexRef",
];

impl PassedOnEffect {
    pub(crate) fn of(function: Function) -> Self {
        let name = function.name();
        let begins = |prefix: &&str| name.starts_with(*prefix);
        if name.starts_with("cuStreamBeginCapture") || name.starts_with("cuStreamBeginRecapture") {
            Self::BeginsCapture
        } else if name.starts_with("cuStreamEndCapture") {
            Self::EndsCapture
        } else if function == Function::cuGetExportTable || DO_NOTHING.contains(&name) {
            Self::Nothing
        } else if QUEUE_NOTHING.iter().any(begins) || name.contains("Get") {
            Self::MayWait
        } else {
            Self::MayTouch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_may_hide_in_what_is_passed_on() {
        let of = |name: &str| PassedOnEffect::of(Function::by_name(name).expect("in the table"));
        for name in [
            "cuGraphLaunch",
            "cuMemcpy3D_v2",
            "cuMemcpy3DAsync_v2",
            "cuMemsetD2D8_v2",
            "cuStreamBatchMemOp_v2",
            "cuStreamWriteValue32_v2",
        ] {
            assert_eq!(of(name), PassedOnEffect::MayTouch, "{name}");
        }
        assert_eq!(of("cuFuncGetName"), PassedOnEffect::MayWait);
        assert_eq!(of("cuMemCreate"), PassedOnEffect::Nothing);
    }
}
