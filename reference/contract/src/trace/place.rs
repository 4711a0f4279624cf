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

/// The result of a call that failed without a status: it returned NULL, or ended with an exception.
pub const NO_STATUS: i32 = i32::MIN;

/// The name that `allocert_place.h` has for a status, without its prefix.
#[must_use]
pub fn status_name(status: i32) -> Option<&'static str> {
    let names = [
        "OK",
        "OUT_OF_MEMORY",
        "INVALID_VALUE",
        "NO_PLACE",
        "DRIVER_ERROR",
        "CORRUPTED",
        "INTERNAL",
    ];
    names.get(usize::try_from(status).ok()?).copied()
}

super::define_functions::functions! {
    /// A function of the allocator of a place. The place is its [`PlaceKind`] and the number of its
    /// device, two numbers of 32 bits with a sign. The result is 0 for a call that returned, else
    /// the status of `allocert_place.h` that a function of a table answered, or [`NO_STATUS`].
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
