use allocert_contract::array::Defect;
use allocert_cuda::DriverError;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The exporter's fault: everything that is wrong with its interface.
    #[error("{}", all(.0))]
    Defects(Vec<Defect>),
    /// The caller's fault.
    #[error("{0}")]
    InvalidValue(String),
    /// The caller's fault: the exporter says that the data must not be written.
    #[error("the array is read-only")]
    ReadOnly,
    /// A refusal: valid, but not done here.
    #[error("{0}")]
    NotSupported(&'static str),
    /// The driver failed, or there is none.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

fn all(defects: &[Defect]) -> String {
    let lines: Vec<String> = defects.iter().map(ToString::to_string).collect();
    format!("the interface is not valid: {}", lines.join("; "))
}
