//! What roles start from.

use allocert_cai::{Array, Driver, Importer, MemoryOrder, Options};

/// The software driver, with a current context.
pub(crate) fn driver() -> Driver {
    let driver = Driver::load().expect("the role is played with the software driver");
    driver.init().expect("it has devices");
    let context = driver.primary_ctx_retain(0).expect("device 0");
    driver.ctx_set_current(Some(context)).expect("it is alive");
    driver
}

/// Marks in the trace where the part begins that a test looks at.
pub(crate) fn begin(driver: Driver) {
    driver.get_version().expect("it has one");
}

/// Bytes 0, 1, 2 and so on.
pub(crate) fn counted(driver: Driver, shape: &[u64], typestr: &str) -> Array {
    let typestr = typestr.parse().expect("a type");
    let array = Array::new(driver, shape, typestr, MemoryOrder::C).expect("room for it");
    let bytes = array.read().expect("readable").len();
    array
        .write(&(0..bytes).map(|byte| byte as u8).collect::<Vec<_>>())
        .expect("as many bytes as it has");
    array
}

pub(crate) fn importer(driver: Driver) -> Importer {
    Importer::new(driver, Options::default())
}
