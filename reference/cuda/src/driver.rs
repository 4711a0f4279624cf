use cudarc::driver::sys;

use crate::error::{DriverError, check};

/// Proof that a CUDA driver library is loaded. It stays loaded until the process ends, so the proof
/// may be copied and sent anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Driver(());

impl Driver {
    /// Finds the driver library. Makes no driver call.
    ///
    /// # Errors
    /// [`DriverError::Missing`] where the dynamic loader finds none.
    pub fn load() -> Result<Self, DriverError> {
        // SAFETY: opening the library runs its initialisers, which the system (or the test harness)
        // vouches for by having put it on the loader's path.
        match unsafe { sys::is_culib_present() } {
            true => Ok(Self(())),
            false => Err(DriverError::Missing),
        }
    }

    /// `cuInit(0)`. May be repeated.
    ///
    /// # Errors
    /// Whatever the driver answers.
    pub fn init(self) -> Result<(), DriverError> {
        // SAFETY: the library is loaded (self); the call takes no pointer.
        check("cuInit", unsafe { sys::cuInit(0) })
    }

    /// The CUDA version that the driver supports: 13000 for 13.0.
    ///
    /// # Errors
    /// Whatever the driver answers.
    pub fn get_version(self) -> Result<i32, DriverError> {
        let mut version = 0;
        // SAFETY: the library is loaded (self); the answer goes to a live variable.
        check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&mut version) })?;
        Ok(version)
    }
}
