use allocert_contract::curesult;
use cudarc::driver::sys::CUresult;

/// Why a driver call did not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// No CUDA driver library can be loaded in this process.
    #[error(
        "no CUDA driver: libcuda.so.1 cannot be loaded; install one or put its directory on \
         LD_LIBRARY_PATH"
    )]
    Missing,
    /// The driver answered with an error code.
    #[error("{call} returned {code} ({})", name(*.code))]
    Call { call: &'static str, code: u32 },
}

impl DriverError {
    /// `CUDA_ERROR_INVALID_VALUE`.
    pub const INVALID_VALUE: u32 = CUresult::CUDA_ERROR_INVALID_VALUE as u32;
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: u32 = CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32;
    /// `CUDA_ERROR_NOT_INITIALIZED`.
    pub const NOT_INITIALIZED: u32 = CUresult::CUDA_ERROR_NOT_INITIALIZED as u32;
    /// `CUDA_ERROR_INVALID_CONTEXT`: also what a call answers that needs a current context and has
    /// none.
    pub const INVALID_CONTEXT: u32 = CUresult::CUDA_ERROR_INVALID_CONTEXT as u32;

    /// The `CUresult`, if a call was made at all.
    #[must_use]
    pub fn code(&self) -> Option<u32> {
        match *self {
            Self::Missing => None,
            Self::Call { code, .. } => Some(code),
        }
    }

    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.code() == Some(Self::OUT_OF_MEMORY)
    }
}

/// Turns the answer of `call` into a result.
pub(crate) fn check(call: &'static str, result: CUresult) -> Result<(), DriverError> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(DriverError::Call { call, code: code as u32 }),
    }
}

/// The name of a code, or where to look it up.
fn name(code: u32) -> &'static str {
    i32::try_from(code).ok().and_then(curesult::name).unwrap_or("see cuda.h, CUresult")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_call_and_the_code() {
        let error =
            check("cuMemAlloc", CUresult::CUDA_ERROR_OUT_OF_MEMORY).expect_err("2 is an error");
        assert!(error.is_out_of_memory());
        assert_eq!(error.to_string(), "cuMemAlloc returned 2 (CUDA_ERROR_OUT_OF_MEMORY)");
        assert!(!DriverError::Missing.is_out_of_memory());
    }
}
