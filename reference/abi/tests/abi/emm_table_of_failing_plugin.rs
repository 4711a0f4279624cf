//! The table that `EmmPlugin` makes of a plugin which refuses or panics.

use std::ffi::{CStr, c_void};
use std::ptr;

use allocert_abi::emm::{self, Manager, Memory, Plugin, Status};
use allocert_abi::plugin::{CudaContext, EmmPlugin, Failure};
use rstest::rstest;

/// Refuses or panics wherever it is asked to.
struct Hostile;

impl EmmPlugin for Hostile {
    const NAME: &'static CStr = c"hostile";
    const VERSION: &'static CStr = c"0";
    const CAPABILITIES: u32 = emm::CAP_MEMORY_INFO;

    fn create(_: CudaContext, device: i32) -> Result<Self, Failure> {
        match device {
            0 => Ok(Self),
            _ => Err(Failure::new(Status::INVALID_VALUE, format!("create: no device {device}"))),
        }
    }
    fn initialize(&self) -> Result<(), Failure> {
        panic!("initialize gave up")
    }
    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Failure> {
        Ok(Memory { size_bytes, token: 7, ..Memory::empty() })
    }
    fn release(&self, token: u64) -> Result<(), Failure> {
        Err(Failure::new(Status::INVALID_VALUE, format!("nul \0 in text, token {token}")))
    }
    fn reset(&self) -> Result<(), Failure> {
        Ok(())
    }
    fn defer_begin(&self) -> Result<(), Failure> {
        Ok(())
    }
    fn defer_end(&self) -> Result<(), Failure> {
        Err(Failure::new(Status::STATE, "defer_end without defer_begin"))
    }
}

static TABLE: Plugin = allocert_abi::table::<Hostile>();

fn create(device: i32) -> (Status, *mut Manager) {
    let mut manager = ptr::null_mut();
    let context = ptr::dangling_mut::<c_void>();
    // SAFETY: Hostile never uses its context; `manager` is writable.
    let status = unsafe { TABLE.create.expect("set")(context, device, &raw mut manager) };
    (status, manager)
}

fn initialize(manager: *mut Manager) -> Status {
    // SAFETY: NULL or a live manager of this table, as in all functions here.
    unsafe { TABLE.initialize.expect("set")(manager) }
}

fn memalloc(manager: *mut Manager, out: *mut Memory) -> Status {
    // SAFETY: `out` is NULL or has the room that its size claims.
    unsafe { TABLE.memalloc.expect("set")(manager, 5, out) }
}

fn release(manager: *mut Manager, token: u64) -> Status {
    // SAFETY: see initialize.
    unsafe { TABLE.release.expect("set")(manager, token) }
}

fn destroy(manager: *mut Manager) {
    // SAFETY: the last use of this manager in its test.
    unsafe { TABLE.destroy.expect("set")(manager) }
}

fn last_error() -> String {
    // SAFETY: last_error takes NULL.
    let text = unsafe { TABLE.last_error.expect("set")(ptr::null_mut()) };
    // SAFETY: it answers with text that lives until the next call on this thread.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[test]
fn members_of_clear_capabilities_are_null() {
    assert!(
        TABLE.memhostalloc.is_none() && TABLE.mempin.is_none() && TABLE.get_ipc_handle.is_none()
    );
    assert!(TABLE.get_memory_info.is_some());
}

#[test]
fn a_failed_create_leaves_out_alone_and_explains_without_a_manager() {
    let (status, manager) = create(3);
    assert_eq!((status, manager), (Status::INVALID_VALUE, ptr::null_mut()));
    assert_eq!(last_error(), "create: no device 3");
}

#[test]
fn a_panic_becomes_internal_with_its_text() {
    let (status, manager) = create(0);
    assert_eq!(status, Status::OK);
    assert_eq!(initialize(manager), Status::INTERNAL);
    assert_eq!(last_error(), "initialize panicked: initialize gave up");
    destroy(manager);
}

#[rstest]
#[case::smaller(size_of::<Memory>() - 8, Status::INVALID_VALUE, 0)]
#[case::equal(size_of::<Memory>(), Status::OK, 7)]
#[case::from_a_newer_header(size_of::<Memory>() + 8, Status::OK, 7)]
fn a_structure_is_written_only_where_it_is_large_enough(
    #[case] size: usize,
    #[case] expected: Status,
    #[case] token: u64,
) {
    let (_, manager) = create(0);
    // Room behind the structure, as a host of a newer header has.
    let mut out = [Memory { size, ..Memory::empty() }, Memory { kind: 99, ..Memory::empty() }];
    let status = memalloc(manager, out.as_mut_ptr());
    assert_eq!((status, out[0].token, out[0].size, out[1].kind), (expected, token, size, 99));
    destroy(manager);
}

#[test]
fn null_pointers_are_the_callers_fault() {
    let (_, manager) = create(0);
    assert_eq!(release(ptr::null_mut(), 1), Status::INVALID_VALUE);
    assert_eq!(last_error(), "release: manager is NULL");
    assert_eq!(memalloc(manager, ptr::null_mut()), Status::INVALID_VALUE);
    assert_eq!(last_error(), "memalloc: out is NULL");
    destroy(ptr::null_mut());
    destroy(manager);
}

#[test]
fn the_last_error_belongs_to_its_thread() {
    let (_, manager) = create(0);
    assert_eq!(release(manager, 4), Status::INVALID_VALUE);
    assert_eq!(std::thread::spawn(last_error).join().expect("no panic"), "");
    assert_eq!(last_error(), "nul ? in text, token 4");
    destroy(manager);
}
