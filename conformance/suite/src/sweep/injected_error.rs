//! The errors that are injected, and where one of them would mean nothing.

use crate::effect::cuda::may_run_out_of_memory;
use crate::reason::Unswept;
use crate::sweep::fault_site::FaultSite;

/// A `CUresult` that calls are made to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectedError {
    pub code: i32,
    pub name: &'static str,
    /// How a manager may treat this error differently from all others.
    pub why: &'static str,
}

const OUT_OF_MEMORY: i32 = 2;

/// One error for each way in which managers treat errors. An error that makes the context unusable,
/// such as 700, is not among them: no subject can work after it.
pub const ERRORS: [InjectedError; 4] = [
    InjectedError {
        code: OUT_OF_MEMORY,
        name: "CUDA_ERROR_OUT_OF_MEMORY",
        why: "managers give back what they cache and try again",
    },
    InjectedError {
        code: 1,
        name: "CUDA_ERROR_INVALID_VALUE",
        why: "the plain failure: it is reported",
    },
    InjectedError {
        code: 201,
        name: "CUDA_ERROR_INVALID_CONTEXT",
        why: "managers make their context current and try again",
    },
    InjectedError {
        code: 3,
        name: "CUDA_ERROR_NOT_INITIALIZED",
        why: "managers take the driver for one that is shutting down and keep silent",
    },
];

/// Why this call is not made to answer this error.
pub(crate) fn meaningless(site: &FaultSite, error: &InjectedError) -> Option<Unswept> {
    let function = site.function.name().to_owned();
    if site.restores {
        return Some(Unswept::Restores { function });
    }
    (error.code == OUT_OF_MEMORY && !may_run_out_of_memory(site.function))
        .then(|| Unswept::NeverAnswers { function, error: error.name.to_owned() })
}
