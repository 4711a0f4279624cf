use std::fmt;

/// Memory of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuPlace;

/// Memory of the device with this ordinal, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CudaPlace(pub i32);

/// Page-locked memory of the host, which all devices reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CudaPinnedPlace;

/// Any of the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Cpu,
    Cuda(i32),
    CudaPinned,
}

impl From<CpuPlace> for Place {
    fn from(_: CpuPlace) -> Self {
        Self::Cpu
    }
}

impl From<CudaPlace> for Place {
    fn from(CudaPlace(device): CudaPlace) -> Self {
        Self::Cuda(device)
    }
}

impl From<CudaPinnedPlace> for Place {
    fn from(_: CudaPinnedPlace) -> Self {
        Self::CudaPinned
    }
}

/// As the text of Paddle names them.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("CPUPlace"),
            Self::Cuda(device) => write!(f, "CUDAPlace({device})"),
            Self::CudaPinned => f.write_str("CUDAPinnedPlace"),
        }
    }
}
