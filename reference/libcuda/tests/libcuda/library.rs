//! The built library, and typed ways to call it.

use std::{
    ffi::{CStr, c_char},
    path::PathBuf,
};

use libloading::Library;

/// Where cargo puts it for tests: beside this test's program.
pub(crate) fn path() -> PathBuf {
    allocert_test_support::library("liballocert_libcuda.so")
}

pub(crate) struct Cuda(Library);

macro_rules! functions {
    ($($name:ident($($param:ident: $kind:ty),*);)*) => {
        #[expect(
            non_snake_case,
            clippy::too_many_arguments,
            reason = "CUDA's own names and prototypes"
        )]
        impl Cuda {
            $(pub(crate) fn $name(&self, $($param: $kind),*) -> i32 {
                // SAFETY: the library exports this name with this prototype.
                let function = unsafe {
                    self.0.get::<unsafe extern "C" fn($($kind),*) -> i32>(
                        concat!(stringify!($name), "\0").as_bytes(),
                    )
                };
                let function = function.expect(concat!("the library exports ", stringify!($name)));
                // SAFETY: tests pass pointers to live variables, or numbers that the function must
                // refuse.
                unsafe { function($($param),*) }
            })*
        }
    };
}

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct IpcHandle(pub(crate) [u8; 64]);

/// `CUlaunchConfig`, without attributes.
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) stream: u64,
    pub(crate) attributes: u64,
    pub(crate) attribute_count: u32,
}

functions! {
    cuInit(flags: u32);
    cuDeviceGetCount(count: &mut i32);
    cuDriverGetVersion(version: &mut i32);
    cuDevicePrimaryCtxRetain(ctx: &mut u64, device: i32);
    cuCtxSetCurrent(ctx: u64);
    cuCtxGetCurrent(ctx: &mut u64);
    cuCtxSynchronize();
    cuMemAlloc_v2(dptr: &mut u64, bytes: usize);
    cuMemFree_v2(dptr: u64);
    cuMemHostAlloc(host: &mut u64, bytes: usize, flags: u32);
    cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize);
    cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize);
    cuMemcpyDtoHAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: u64);
    cuMemsetD8Async_ptsz(to: u64, value: u8, count: usize, stream: u64);
    cuStreamSynchronize(stream: u64);
    cuStreamSynchronize_ptsz(stream: u64);
    cuLaunchHostFunc(
        stream: u64, function: extern "C" fn(*mut std::ffi::c_void), data: *mut std::ffi::c_void
    );
    cuIpcGetMemHandle(handle: &mut IpcHandle, dptr: u64);
    cuIpcOpenMemHandle_v2(dptr: &mut u64, handle: IpcHandle, flags: u32);
    cuIpcCloseMemHandle(dptr: u64);
    cuGetProcAddress_v2(
        symbol: *const std::ffi::c_char, function: &mut u64, version: i32, flags: u64, status: &mut
        u32
    );
    cuGetErrorName(error: u32, name: &mut *const std::ffi::c_char);
    cuGetErrorString(error: u32, text: &mut *const std::ffi::c_char);
    cuGetExportTable(table: &mut u64, id: *const u8);
    cuGraphCreate(graph: &mut u64, flags: u32);
    cuStreamQuery(stream: u64);
    cuStreamCreate(stream: &mut u64, flags: u32);
    cuModuleLoadData(module: &mut u64, image: *const u8);
    cuModuleGetFunction(function: &mut u64, module: u64, name: *const std::ffi::c_char);
    cuFuncGetParamInfo(function: u64, index: usize, offset: &mut usize, size: &mut usize);
    cuKernelGetParamInfo(kernel: u64, index: usize, offset: &mut usize, size: &mut usize);
    cuFuncSetBlockShape(function: u64, x: i32, y: i32, z: i32);
    cuFuncGetParamCount(function: u64, count: &mut usize);
    cuMemAllocManaged(dptr: &mut u64, bytes: usize, flags: u32);
    cuMemHostRegister_v2(host: u64, bytes: usize, flags: u32);
    cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z:
        u32, shared: u32, stream: u64, params: *const u64, extra: *const u64
    );
    cuLaunchCooperativeKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z:
        u32, shared: u32, stream: u64, params: *const u64
    );
    cuLaunchKernelEx(config: &LaunchConfig, function: u64, params: *const u64, extra: *const u64);
    allocert_trace_marker(kind: u32, step: u64);
    allocert_fault_add(function: *const std::ffi::c_char, nth: u64, count: u64, result: i32);
    allocert_fault_clear();
    allocert_driver_restart();
    allocert_control_version();
}

impl Cuda {
    pub(crate) fn load() -> Self {
        // SAFETY: the library has no initializers of its own.
        Self(unsafe { Library::new(path()) }.expect("cargo built the library before this test"))
    }

    /// Writes down the begin of a call that the driver does not see.
    pub(crate) fn begin_call(&self, name: &CStr, inputs: &[u64]) -> u64 {
        let find: unsafe extern "C" fn(*const c_char) -> u32 =
            self.function("allocert_trace_function");
        let begin: unsafe extern "C" fn(u32, *const u64, usize) -> u64 =
            self.function("allocert_trace_call_begin");
        // SAFETY: NUL-terminated.
        let code = unsafe { find(name.as_ptr()) };
        // SAFETY: a slice and its length.
        unsafe { begin(code, inputs.as_ptr(), inputs.len()) }
    }

    /// Writes down what it came to.
    pub(crate) fn end_call(&self, call: u64, result: i32, outputs: &[u64]) {
        let end: unsafe extern "C" fn(u64, i32, *const u64, usize) =
            self.function("allocert_trace_call_end");
        // SAFETY: a slice and its length.
        unsafe { end(call, result, outputs.as_ptr(), outputs.len()) };
    }

    /// Loaded, initialized, with device 0's primary context current.
    pub(crate) fn up() -> Self {
        let cuda = Self::load();
        cuda.retain();
        cuda
    }

    pub(crate) fn retain(&self) -> u64 {
        let mut context = 0;
        assert_eq!(self.cuInit(0), 0);
        assert_eq!(self.cuDevicePrimaryCtxRetain(&mut context, 0), 0);
        assert_eq!(self.cuCtxSetCurrent(context), 0);
        context
    }

    pub(crate) fn alloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        assert_eq!(self.cuMemAlloc_v2(&mut address, bytes), 0);
        address
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        assert_eq!(self.cuMemcpyDtoH_v2(found.as_mut_ptr(), address, bytes), 0);
        found
    }
}

impl Cuda {
    /// An exported symbol as a function of type `T`.
    pub(crate) fn function<T: Copy>(&self, symbol: &str) -> T {
        // SAFETY: the caller says which type the symbol has.
        let found = unsafe { self.0.get::<T>(symbol.as_bytes()) };
        *found.expect("exported")
    }

    /// Where an exported symbol lies.
    pub(crate) fn address(&self, symbol: &str) -> u64 {
        // SAFETY: only the address is used.
        let found = unsafe { self.0.get::<unsafe extern "C" fn()>(symbol.as_bytes()) };
        *found.expect("exported") as *const () as u64
    }
}
