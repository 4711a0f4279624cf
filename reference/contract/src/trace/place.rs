//! The functions of memory that is bound to a place. Paddle, "Region-based Heterogeneous Memory
//! Management".

use strum::FromRepr;

/// What the input `kind` of a call stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, FromRepr)]
#[repr(u64)]
pub enum PlaceKind {
    /// `CPUPlace`; its device is 0.
    Cpu = 0,
    /// `CUDAPlace(device)`.
    Cuda = 1,
    /// `CUDAPinnedPlace`, page-locked memory of the host; its device is 0.
    CudaPinned = 2,
}

super::define_functions::functions! {
    /// A function of the allocator of a place. The place is its [`PlaceKind`] and the number of its
    /// device, two numbers of 32 bits with a sign. The result of a call that returned is 0, of one
    /// that failed 1.
    pub enum Function {
        /// Takes memory.
        Alloc(kind, device, size_bytes) -> (pointer);
        /// Gives memory back.
        Free(kind, device, pointer) -> ();
        /// How much memory of the place is in use.
        Used(kind, device) -> (size_bytes);
        /// Gives memory in which no block lies back to the system.
        Release(kind, device) -> (size_bytes);
    }
}
