//! Symbols: exported, looked up, per thread; and the names of errors.

use std::ffi::{CStr, c_char};

use rstest::rstest;

use crate::{fork::in_child, library::Cuda};

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
fn stream_0_of_a_per_thread_symbol_is_the_threads_own() {
    in_child(|| {
        let cuda = Cuda::up();
        let data = cuda.alloc(1);
        let mut seen = 0;
        assert_eq!(cuda.cuMemHostAlloc(&mut seen, 1, 0), 0);
        assert_eq!(cuda.cuMemsetD8Async_ptsz(data, 5, 1, 0), 0);
        assert_eq!(cuda.cuStreamQuery(2), 600, "CU_STREAM_PER_THREAD has the work");
        assert_eq!(cuda.cuMemcpyDtoHAsync_v2_ptsz(seen, data, 1, 0), 0);
        assert_eq!(cuda.cuStreamSynchronize_ptsz(0), 0);
        // SAFETY: a live page-locked byte.
        assert_eq!(unsafe { *std::ptr::with_exposed_provenance::<u8>(seen as usize) }, 5);
    });
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
