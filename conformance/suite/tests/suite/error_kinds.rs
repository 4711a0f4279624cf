//! The kinds of errors: Python classes, CUresults and native status names give the same kinds.

use allocert_suite::judge::kinds;
use allocert_suite::nouns::ErrorKind::{
    self, DriverError, InvalidValue, NotSupported, OutOfMemory, State, VersionMismatch,
};
use allocert_suite::observation::Raised;
use rstest::rstest;

#[rstest]
#[case::memory_error(&["MemoryError"], None, None, "", &[OutOfMemory])]
#[case::subclass(&["Mine", "MemoryError", "Exception"], None, None, "", &[OutOfMemory])]
#[case::code_2(&["CudaAPIError", "CudaDriverError"], Some(2), None, "", &[OutOfMemory])]
#[case::native_oom(&[], None, Some("OUT_OF_MEMORY"), "", &[OutOfMemory])]
#[case::not_implemented_is_no_state(
    &["NotImplementedError", "RuntimeError"], None, None, "", &[NotSupported],
)]
#[case::code_801(&["CudaAPIError"], Some(801), None, "", &[NotSupported])]
#[case::value_error(&["ValueError"], None, None, "", &[InvalidValue])]
#[case::overflow(&["OverflowError", "ArithmeticError"], None, None, "", &[InvalidValue])]
#[case::code_1(&["CudaAPIError"], Some(1), None, "", &[InvalidValue])]
#[case::other_code(&["CudaAPIError"], Some(201), None, "", &[DriverError])]
#[case::native_driver(&[], Some(999), Some("DRIVER_ERROR"), "", &[DriverError])]
#[case::runtime_error(&["RuntimeError"], None, None, "bad order", &[State])]
#[case::version(
    &["RuntimeError"], None, None, "EMM Plugin interface has Version 2", &[State, VersionMismatch],
)]
#[case::internal(&[], None, Some("INTERNAL"), "", &[])]
#[case::qualified(&["cuda.core.OutOfMemoryError"], None, None, "", &[])]
fn an_error_has_its_kinds(
    #[case] bases: &[&str],
    #[case] code: Option<i32>,
    #[case] status: Option<&str>,
    #[case] message: &str,
    #[case] expected: &[ErrorKind],
) {
    let raised = Raised {
        r#type: bases.first().copied().unwrap_or_default().to_owned(),
        bases: bases.iter().map(|&base| base.to_owned()).collect(),
        message: message.to_owned(),
        code,
        status: status.map(Box::from),
        ..Raised::default()
    };
    assert_eq!(kinds(&raised), expected);
}
