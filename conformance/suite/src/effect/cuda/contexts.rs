//! What a driver call does to contexts. "Context Management" and "Primary Context Management".

use std::collections::HashMap;

use allocert_contract::trace::{Call, cuda::Function};

/// What a call that succeeds does to contexts and to the thread's context stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextEffect {
    /// Creates a context and pushes it.
    Create {
        context: u64,
        device: u64,
    },
    /// Destroys a context; it is popped if it is current.
    Destroy {
        context: u64,
    },
    /// Retains the primary context of a device.
    Retain {
        device: u64,
        context: u64,
    },
    /// Releases it; the last release ends it.
    Release {
        device: u64,
    },
    /// Ends it at once.
    Reset {
        device: u64,
    },
    Push,
    Pop,
    SetCurrent {
        context: u64,
    },
    Nothing,
}

impl ContextEffect {
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, c, ..], [out, ..]) = (call.args, call.out);
        let Some(function) = call.function.cuda() else { return Self::Nothing };
        match function {
            Function::cuCtxCreate_v2 => Self::Create { context: out, device: b },
            Function::cuCtxCreate_v4 => Self::Create { context: out, device: c },
            Function::cuCtxDestroy_v2 => Self::Destroy { context: a },
            Function::cuDevicePrimaryCtxRetain => Self::Retain { device: a, context: out },
            Function::cuDevicePrimaryCtxRelease | Function::cuDevicePrimaryCtxRelease_v2 => {
                Self::Release { device: a }
            }
            Function::cuDevicePrimaryCtxReset | Function::cuDevicePrimaryCtxReset_v2 => {
                Self::Reset { device: a }
            }
            Function::cuCtxPushCurrent_v2 => Self::Push,
            Function::cuCtxPopCurrent_v2 => Self::Pop,
            Function::cuCtxSetCurrent => Self::SetCurrent { context: a },
            _ => Self::Nothing,
        }
    }

    /// Whether it changes what the thread has current.
    pub(crate) fn switches(self) -> bool {
        matches!(
            self,
            Self::Create { .. }
                | Self::Destroy { .. }
                | Self::Push
                | Self::Pop
                | Self::SetCurrent { .. }
        )
    }
}

/// Whether the caller learns that no context is current.
pub(crate) fn finds_no_context(call: &Call) -> bool {
    call.function == Function::cuCtxGetCurrent && call.result == Some(0) && call.out[0] == 0
}

/// The primary contexts as far as the trace shows them.
#[derive(Debug, Default)]
pub(crate) struct PrimaryContexts {
    by_device: HashMap<u64, PrimaryContext>,
}

#[derive(Debug, Default)]
struct PrimaryContext {
    context: u64,
    retains: i64,
}

impl PrimaryContexts {
    /// The context that ends with a call that succeeded.
    pub(crate) fn ended_by(&mut self, call: &Call) -> Option<u64> {
        if call.result != Some(0) {
            return None;
        }
        match ContextEffect::of(call) {
            ContextEffect::Retain { device, context } => {
                let primary = self.by_device.entry(device).or_default();
                primary.context = context;
                primary.retains += 1;
                None
            }
            ContextEffect::Release { device } => {
                let primary = self.by_device.get_mut(&device)?;
                primary.retains -= 1;
                (primary.retains == 0).then_some(primary.context)
            }
            ContextEffect::Reset { device } => Some(self.by_device.get(&device)?.context),
            ContextEffect::Destroy { context } => Some(context),
            _ => None,
        }
    }
}
