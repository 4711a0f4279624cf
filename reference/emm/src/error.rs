use allocert_cuda::DriverError;

use crate::Token;

/// Why a manager did not do what it was asked. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Also after giving back what could be given back.
    #[error("out of memory: {0}")]
    OutOfMemory(DriverError),
    /// The caller's fault.
    #[error("{0}")]
    InvalidValue(String),
    /// A refusal: this manager does not do that.
    #[error("{0}")]
    NotSupported(&'static str),
    /// The driver failed, or there is none.
    #[error(transparent)]
    Driver(DriverError),
    /// The caller's fault: not now.
    #[error("{0}")]
    State(&'static str),
}

impl Error {
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory(_))
    }

    pub(crate) fn never_given(token: Token) -> Self {
        Self::InvalidValue(format!("token {:#x} was never given by this manager", token.0))
    }

    pub(crate) fn released_before(token: Token) -> Self {
        Self::InvalidValue(format!("token {:#x} was released before", token.0))
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        match error.is_out_of_memory() {
            true => Self::OutOfMemory(error),
            false => Self::Driver(error),
        }
    }
}
