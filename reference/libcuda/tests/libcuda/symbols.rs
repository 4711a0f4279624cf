//! Names: exported, looked up, described.

use std::ffi::{CStr, c_char};

use rstest::rstest;

use crate::library::Cuda;

#[rstest]
#[case(c"cuMemAlloc", 3020, 0, "cuMemAlloc_v2")]
#[case(c"cuMemAlloc", 2000, 0, "cuMemAlloc")]
#[case(c"cuMemcpyDtoH", 7000, 2, "cuMemcpyDtoH_v2_ptds")]
#[case(c"cuMemcpyDtoH", 7000, 1, "cuMemcpyDtoH_v2")]
#[case(c"cuMemAlloc", 13000, 2, "cuMemAlloc_v2")]
#[case(c"cuStreamGetCaptureInfo", 11030, 0, "cuStreamGetCaptureInfo_v2")]
#[case(c"cuGetProcAddress", 11030, 0, "cuGetProcAddress")]
fn look_up_gives_the_symbol_of_that_version(
    #[case] name: &CStr,
    #[case] version: i32,
    #[case] flags: u64,
    #[case] symbol: &str,
) {
    let cuda = Cuda::load();
    let (mut address, mut status) = (0, 9);
    assert_eq!(
        cuda.cuGetProcAddress_v2(name.as_ptr(), &mut address, version, flags, &mut status),
        0
    );
    assert_eq!((status, address), (0, cuda.address(symbol)));
}

#[test]
fn export_tables_are_not_supported() {
    assert_eq!(Cuda::load().cuGetExportTable(&mut 0, [0; 16].as_ptr()), 801);
}

#[test]
fn errors_have_names_and_descriptions() {
    let cuda = Cuda::load();
    let (mut name, mut text): (*const c_char, *const c_char) = (std::ptr::null(), std::ptr::null());
    assert_eq!((cuda.cuGetErrorName(2, &mut name), cuda.cuGetErrorString(2, &mut text)), (0, 0));
    // SAFETY: the driver's own constant string.
    let its_name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the driver's own constant string.
    let its_text = unsafe { CStr::from_ptr(text) };
    assert_eq!((its_name, its_text), (c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"));
    assert_eq!(cuda.cuGetErrorName(12345, &mut name), 1);
    assert!(name.is_null());
}
