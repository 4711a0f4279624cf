use std::ffi::c_void;
use std::ptr::{self, NonNull};

use cudarc::driver::sys;

use crate::Driver;
use crate::error::{DriverError, check};

/// A `CUcontext` that somebody else owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context(NonNull<c_void>);

// SAFETY: a CUcontext is a name that the driver accepts from every thread; nothing is read through
// it.
unsafe impl Send for Context {}
// SAFETY: as for Send.
unsafe impl Sync for Context {}

impl Context {
    /// Names the context `raw`.
    ///
    /// # Safety
    /// `raw` came from the driver as a `CUcontext`. The context may have been destroyed since: the
    /// driver detects that for primary contexts, the only ones that this crate makes.
    #[must_use]
    pub const unsafe fn from_raw(raw: NonNull<c_void>) -> Self {
        Self(raw)
    }

    #[must_use]
    pub const fn as_ptr(self) -> *mut c_void {
        self.0.as_ptr()
    }

    fn raw(self) -> sys::CUcontext {
        self.0.as_ptr().cast()
    }

    fn from_driver(raw: sys::CUcontext) -> Option<Self> {
        NonNull::new(raw.cast()).map(Self)
    }
}

/// Contexts. Errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuCtxGetCurrent`: the calling thread's context, if any.
    pub fn ctx_get_current(self) -> Result<Option<Context>, DriverError> {
        let mut raw = ptr::null_mut();
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&raw mut raw) })?;
        Ok(Context::from_driver(raw))
    }

    /// `cuCtxSetCurrent`; `None` leaves the thread without a context.
    pub fn ctx_set_current(self, context: Option<Context>) -> Result<(), DriverError> {
        let raw = context.map_or(ptr::null_mut(), Context::raw);
        // SAFETY: null or a name from the driver (Context::from_raw).
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(raw) })
    }

    /// `cuCtxPushCurrent`.
    pub fn ctx_push_current(self, context: Context) -> Result<(), DriverError> {
        // SAFETY: a name from the driver (Context::from_raw).
        check("cuCtxPushCurrent", unsafe { sys::cuCtxPushCurrent_v2(context.raw()) })
    }

    /// `cuCtxPopCurrent`.
    pub fn ctx_pop_current(self) -> Result<(), DriverError> {
        let mut raw = ptr::null_mut();
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuCtxPopCurrent", unsafe { sys::cuCtxPopCurrent_v2(&raw mut raw) })
    }

    /// `cuCtxCreate`: a new context of a device, which becomes current. It lives until
    /// somebody destroys it or the process ends.
    pub fn ctx_create(self, ordinal: i32) -> Result<Context, DriverError> {
        let device = self.device_get(ordinal)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the out pointer is valid for a write during the call; null stands for no further
        // parameters.
        let result = unsafe { sys::cuCtxCreate_v4(&raw mut raw, ptr::null_mut(), 0, device) };
        check("cuCtxCreate", result)?;
        Context::from_driver(raw)
            .ok_or(DriverError::Call { call: "cuCtxCreate", code: DriverError::INVALID_CONTEXT })
    }

    /// `cuCtxSynchronize`: waits for all work of the current context.
    pub fn ctx_synchronize(self) -> Result<(), DriverError> {
        // SAFETY: the library is loaded (self); the call takes no pointer.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
    }

    /// Makes `call`, and again with the context pushed if the driver wants one. Calls that release
    /// mostly work without; pushing first would cost two calls every time, and fail for a context
    /// that is going away.
    pub fn in_context(
        self,
        context: Context,
        call: impl Fn() -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        match call() {
            Err(error) if error.code() == Some(DriverError::INVALID_CONTEXT) => {
                self.ctx_push_current(context)?;
                let result = call();
                self.ctx_pop_current()?;
                result
            }
            result => result,
        }
    }

    /// `CU_POINTER_ATTRIBUTE_CONTEXT` of `cuPointerGetAttribute`: where the memory at `pointer`
    /// belongs. Memory of a pool belongs to no context.
    pub fn pointer_get_context(self, pointer: u64) -> Result<Option<Context>, DriverError> {
        let mut raw: sys::CUcontext = ptr::null_mut();
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
        // SAFETY: the out pointer is valid for a write of a CUcontext, which is what this attribute
        // is.
        let result =
            unsafe { sys::cuPointerGetAttribute((&raw mut raw).cast(), attribute, pointer) };
        check("cuPointerGetAttribute", result)?;
        Ok(Context::from_driver(raw))
    }

    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE` and `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL` of
    /// `cuPointerGetAttribute`: the device on which the memory at `pointer` lies, or nothing for
    /// memory of the host.
    pub fn pointer_get_device(self, pointer: u64) -> Result<Option<i32>, DriverError> {
        let mut kind: u32 = 0;
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        // SAFETY: the out pointer is valid for a write of four bytes, which is what this attribute
        // is.
        let result =
            unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, pointer) };
        check("cuPointerGetAttribute", result)?;
        if kind != sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32 {
            return Ok(None);
        }
        let mut ordinal: i32 = 0;
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: as above.
        let result =
            unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, pointer) };
        check("cuPointerGetAttribute", result)?;
        Ok(Some(ordinal))
    }

    /// `cuDevicePrimaryCtxRetain` for the device with this ordinal.
    pub fn primary_ctx_retain(self, ordinal: i32) -> Result<Context, DriverError> {
        let device = self.device_get(ordinal)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut raw, device)
        })?;
        Context::from_driver(raw).ok_or(DriverError::Call {
            call: "cuDevicePrimaryCtxRetain",
            code: DriverError::INVALID_CONTEXT,
        })
    }

    /// `cuDevicePrimaryCtxRelease`.
    pub fn primary_ctx_release(self, ordinal: i32) -> Result<(), DriverError> {
        let device = self.device_get(ordinal)?;
        // SAFETY: the library is loaded (self); the call takes no pointer.
        check("cuDevicePrimaryCtxRelease", unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) })
    }
}
