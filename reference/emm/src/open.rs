use allocert_cuda::Context;

use crate::{Cuda, Deferred, Direct, Error, HostOnly, Manager, Pool, Result};

/// The reference managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Pool,
    Deferred,
    HostOnly,
}

/// Opens a manager for `context` on the device with ordinal `device`, over the loaded CUDA driver.
/// Allocates nothing.
///
/// # Errors
/// `Driver` where there is no driver; `InvalidValue` where it has no such device.
pub fn open(kind: Kind, context: Context, device: i32) -> Result<Box<dyn Manager>> {
    let driver = cuda(context, device)?;
    Ok(match kind {
        Kind::Pool => Box::new(Pool::new(driver)),
        Kind::Deferred => Box::new(Deferred::new(driver)),
        Kind::HostOnly => Box::new(HostOnly::<Direct>::new(driver)),
    })
}

fn cuda(context: Context, device: i32) -> Result<Cuda> {
    let driver = allocert_cuda::Driver::load()?;
    let count = driver.device_get_count()?;
    if !(0..count).contains(&device) {
        return Err(Error::InvalidValue(format!(
            "there is no device {device}, the driver has {count}"
        )));
    }
    Ok(Cuda::new(driver, context, device))
}
