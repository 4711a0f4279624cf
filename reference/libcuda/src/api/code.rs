//! Modules, libraries and their kernels.

use std::{borrow::Cow, ffi::CStr, ptr};

use allocert_driver::{CudaError, Kernels, Parameter, Result};

use super::text::{read, text};
use crate::{
    c_api::{Call, Out},
    program_memory,
};

/// As measured, these functions say that a null handle is none even before `cuInit`.
fn required(handle: u64) -> Result {
    if handle == 0 { Err(CudaError::INVALID_HANDLE) } else { Ok(()) }
}

pub(crate) fn cuModuleGetLoadingMode(call: &mut Call, mode: Out<u32>) -> Result {
    const LAZY: u32 = 2;
    call.driver.initialized()?;
    mode.required()?.put(LAZY);
    Ok(())
}

pub(crate) fn cuModuleLoadData(call: &mut Call, module: Out<u64>, image: u64) -> Result {
    call.driver.check_context(&call.caller)?;
    let module = module.required()?;
    if image == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: cuModuleLoadData's caller promises an image.
    unsafe { check(image, call.driver.settings().driver_version)? };
    // SAFETY: cuModuleLoadData's caller promises an image.
    let kernels = unsafe { kernels(image)? };
    module.put(call.driver.module_load(&call.caller, kernels)?);
    Ok(())
}

pub(crate) fn cuModuleLoadDataEx(
    call: &mut Call,
    module: Out<u64>,
    image: u64,
    option_count: u32,
    options: u64,
    option_values: u64,
) -> Result {
    if option_count != 0 && (options == 0 || option_values == 0) {
        call.driver.check_context(&call.caller)?;
        return Err(CudaError::INVALID_VALUE);
    }
    cuModuleLoadData(call, module, image)
}

pub(crate) fn cuModuleUnload(call: &mut Call, module: u64) -> Result {
    call.driver.module_unload(module)
}

pub(crate) fn cuModuleGetFunction(
    call: &mut Call,
    function: Out<u64>,
    module: u64,
    name: u64,
) -> Result {
    call.driver.module_exists(module)?;
    // SAFETY: cuModuleGetFunction's caller promises a string.
    let name = unsafe { text(name)? };
    let function = function.required()?;
    if name.is_empty() {
        return Err(CudaError::INVALID_VALUE);
    }
    function.put_or_zero(call.driver.module_function(module, &name))
}

pub(crate) fn cuModuleGetGlobal_v2(
    call: &mut Call,
    dptr: Out<u64>,
    bytes: Out<usize>,
    module: u64,
    name: u64,
) -> Result {
    let known = call.driver.module_exists(module);
    // SAFETY: cuModuleGetGlobal's caller promises a string.
    let found = known.and_then(|()| unsafe { text(name) }).and_then(|name| {
        if dptr.required().is_err() {
            bytes.required()?;
        }
        call.driver.module_variable(module, &name)
    });
    dptr.put_or_zero(found.map(|(address, _)| address.0)).ok();
    bytes.put_or_zero(found.map(|(_, size)| size as usize))
}

pub(crate) fn cuFuncGetAttribute(
    call: &mut Call,
    value: Out<i32>,
    attribute: u32,
    function: u64,
) -> Result {
    let value = value.required()?;
    required(function)?;
    value.put(call.driver.function_attribute(function, attribute)?);
    Ok(())
}

pub(crate) fn cuFuncGetParamInfo(
    call: &mut Call,
    function: u64,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result {
    if function == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let parameter = call.driver.function_parameter(function, index as u64)?;
    put(parameter, offset, size)
}

fn put(parameter: Parameter, offset: Out<usize>, size: Out<usize>) -> Result {
    offset.required()?.put(parameter.offset as usize);
    size.put(parameter.size as usize);
    Ok(())
}

pub(crate) fn cuFuncGetParamCount(call: &mut Call, function: u64, count: Out<usize>) -> Result {
    let layout = call.driver.function_layout(function)?.ok_or(CudaError::NOT_SUPPORTED)?;
    count.required()?.put(layout.len());
    Ok(())
}

pub(crate) fn cuFuncSetAttribute(
    call: &mut Call,
    function: u64,
    attribute: u32,
    value: i32,
) -> Result {
    call.driver.function_set_attribute(function, attribute, value)
}

/// For the launches of CUDA 3, which are not part of the software driver; those of CUDA 4 name
/// their block themselves. PyCUDA calls it before each of these.
pub(crate) fn cuFuncSetBlockShape(
    call: &mut Call,
    function: u64,
    x: i32,
    y: i32,
    z: i32,
) -> Result {
    call.driver.function_exists(function)?;
    if x > 0 && y > 0 && z > 0 { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

#[expect(clippy::too_many_arguments, reason = "CUDA's own prototype")]
pub(crate) fn cuLibraryLoadData(
    call: &mut Call,
    library: Out<u64>,
    code: u64,
    _: u64,
    _: u64,
    _: u32,
    _: u64,
    _: u64,
    _: u32,
) -> Result {
    // SAFETY: cuLibraryLoadData's caller promises an image.
    let kernels = unsafe { kernels(code)? };
    // SAFETY: cuLibraryLoadData's caller promises an image.
    let refused = unsafe { check(code, call.driver.settings().driver_version) }.err();
    library.required()?.put(call.driver.library_load(kernels, refused)?);
    Ok(())
}

pub(crate) fn cuLibraryUnload(call: &mut Call, library: u64) -> Result {
    required(library)?;
    call.driver.library_unload(library)
}

pub(crate) fn cuLibraryGetModule(call: &mut Call, module: Out<u64>, library: u64) -> Result {
    let module = module.required()?;
    required(library)?;
    module.put(call.driver.library_module(&call.caller, library)?);
    Ok(())
}

pub(crate) fn cuLibraryGetKernel(
    call: &mut Call,
    kernel: Out<u64>,
    library: u64,
    name: u64,
) -> Result {
    // SAFETY: the caller promises a string.
    let name = unsafe { text(name)? };
    let kernel = kernel.required()?;
    required(library)?;
    kernel.put(call.driver.image_function(library, &name)?);
    Ok(())
}

pub(crate) fn cuKernelGetFunction(call: &mut Call, function: Out<u64>, kernel: u64) -> Result {
    let function = function.required()?;
    required(kernel)?;
    function.put(call.driver.kernel_function(&call.caller, kernel)?);
    Ok(())
}

pub(crate) fn cuKernelGetAttribute(
    call: &mut Call,
    value: Out<i32>,
    attribute: u32,
    kernel: u64,
    device: i32,
) -> Result {
    required(kernel)?;
    call.driver.function_exists(kernel)?;
    let value = value.required()?;
    call.driver.device_get(device)?;
    cuFuncGetAttribute(call, value, attribute, kernel)
}

pub(crate) fn cuKernelGetParamInfo(
    call: &mut Call,
    kernel: u64,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result {
    if kernel == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    offset.required()?;
    call.driver.check_context(&call.caller)?;
    let parameter = call.driver.kernel_parameter(&call.caller, kernel, index as u64)?;
    put(parameter, offset, size)
}

pub(crate) fn cuKernelGetParamCount(call: &mut Call, kernel: u64, count: Out<usize>) -> Result {
    cuFuncGetParamCount(call, kernel, count)
}

pub(crate) fn cuKernelSetAttribute(
    call: &mut Call,
    attribute: u32,
    value: i32,
    kernel: u64,
    device: i32,
) -> Result {
    required(kernel)?;
    call.driver.function_exists(kernel)?;
    call.driver.kernel_set_attribute(kernel, attribute, value, device)
}

pub(crate) fn cuProfilerStart(call: &mut Call) -> Result {
    call.driver.check_context(&call.caller)
}

pub(crate) fn cuProfilerStop(call: &mut Call) -> Result {
    call.driver.check_context(&call.caller)
}

/// What is wrong with an image for `cuModuleLoadData`, as an H200 answers. A library with such an
/// image is loaded, and its use fails. What is not understood passes.
///
/// # Safety
/// `image` is an image as `cuModuleLoadData` takes it: PTX ends with NUL.
unsafe fn check(image: u64, driver_version: i32) -> Result {
    const ELF: [u8; 4] = *b"\x7fELF";
    const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
    let mut header = [0; 64];
    let is_whole = program_memory::read(image, &mut header);
    let is_zero = |bytes: std::ops::Range<usize>| header[bytes].iter().all(|byte| *byte == 0);
    if is_whole && header.starts_with(&ELF) {
        // Neither `e_phnum` nor `e_shnum`.
        let is_empty = is_zero(56..58) && is_zero(60..62);
        return if is_empty { Err(CudaError::UNKNOWN) } else { Ok(()) };
    }
    if is_whole && header.starts_with(&FATBIN) {
        // The bytes behind the header.
        return if is_zero(8..16) { Err(CudaError::NO_BINARY_FOR_GPU) } else { Ok(()) };
    }
    // SAFETY: any image has at least one byte.
    let first: u8 = unsafe { read(image)? };
    if !matches!(first, 0 | b'\t'..=b'\r' | b' '..=b'~') {
        return Ok(());
    }
    // SAFETY: it is text, or nothing that the driver takes, so it ends with NUL.
    Kernels::check_ptx(&unsafe { ptx(image) }, driver_version)
}

/// The text of an image. Bytes that are no UTF-8 are replaced.
///
/// # Safety
/// `image` is the address of a text that ends with NUL and stays as it is while the result lives.
unsafe fn ptx<'image>(image: u64) -> Cow<'image, str> {
    // SAFETY: the caller promises a text that ends with NUL.
    let text = unsafe { CStr::from_ptr(ptr::with_exposed_provenance(image as usize)) };
    text.to_string_lossy()
}

/// The kernels of an image; `None` if it is opaque.
///
/// # Safety
/// `image` is 0 or an image as `cuModuleLoadData` takes it: PTX ends with NUL.
unsafe fn kernels(image: u64) -> Result<Option<Kernels>> {
    // SAFETY: any image has at least one byte.
    let first: u8 = unsafe { read(image)? };
    // PTX begins with a comment, a directive or white space; cubins and fat binaries begin with
    // other bytes.
    if !matches!(first, b'/' | b'.' | b' ' | b'\t' | b'\r' | b'\n') {
        let mut at = |offset, into: &mut [u8]| {
            image.checked_add(offset).is_some_and(|from| program_memory::read(from, into))
        };
        return Ok(Kernels::of_cubin(&mut at));
    }
    // SAFETY: it is text, so it ends with NUL.
    Ok(Some(Kernels::of_ptx(&unsafe { ptx(image) })))
}
