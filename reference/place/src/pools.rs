//! The pools of this process: one for each place, made at its first use. They stay until the
//! process ends, and nobody frees them then: the driver may have ended before.

mod fork;
pub(crate) mod thread;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use allocert_pool::{Pool, Settings};

use crate::device::{Device, Pinned};
use crate::driver::{self, Primary};
use crate::guarded::Guarded;
use crate::host::Host;
use crate::{Error, Place, settings};

/// Devices with a larger ordinal have no place.
pub(crate) const DEVICES: usize = 64;

static CPU: OnceLock<Pool<Guarded<Host>>> = OnceLock::new();
static PINNED: OnceLock<Pool<Guarded<Pinned>>> = OnceLock::new();
static CUDA: [OnceLock<Box<Pool<Device>>>; DEVICES] = [const { OnceLock::new() }; DEVICES];

/// Held while the pool of a place is made.
static OPENING_CPU: Mutex<()> = Mutex::new(());
static OPENING_CUDA: Mutex<()> = Mutex::new(());

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The settings of all pools that are made later. `false` if they were given before, or if a pool
/// was made: then nothing changes.
pub(crate) fn configure(settings: Settings) -> bool {
    SETTINGS.set(settings).is_ok()
}

#[inline]
pub(crate) fn cpu() -> &'static Pool<Guarded<Host>> {
    CPU.get().unwrap_or_else(|| open_cpu())
}

#[inline]
pub(crate) fn pinned() -> Result<&'static Pool<Guarded<Pinned>>, Error> {
    PINNED.get().map_or_else(open_pinned, Ok)
}

#[inline]
pub(crate) fn cuda(device: i32) -> Result<&'static Pool<Device>, Error> {
    made_cuda(device).map_or_else(|| open_cuda(device), Ok)
}

/// The pool, if it was made. An error if there is no such place.
pub(crate) fn pinned_if_made() -> Result<Option<&'static Pool<Guarded<Pinned>>>, Error> {
    match PINNED.get() {
        Some(pool) => Ok(Some(pool)),
        None => exists(0, Place::CudaPinned).map(|()| None),
    }
}

/// As [`pinned_if_made`].
#[inline]
pub(crate) fn cuda_if_made(device: i32) -> Result<Option<&'static Pool<Device>>, Error> {
    match made_cuda(device) {
        Some(pool) => Ok(Some(pool)),
        None => exists(device, Place::Cuda(device)).map(|()| None),
    }
}

/// What was made so far; makes nothing.
pub(crate) fn made_cpu() -> Option<&'static Pool<Guarded<Host>>> {
    CPU.get()
}

/// As [`made_cpu`].
pub(crate) fn made_pinned() -> Option<&'static Pool<Guarded<Pinned>>> {
    PINNED.get()
}

/// As [`made_cpu`].
#[inline]
pub(crate) fn made_cuda(device: i32) -> Option<&'static Pool<Device>> {
    let pool = CUDA.get(usize::try_from(device).ok()?)?.get()?;
    Some(&**pool)
}

/// What `fork` must not find in the making.
pub(crate) fn stop_opening_cpu() -> MutexGuard<'static, ()> {
    lock(&OPENING_CPU)
}

/// Nothing if somebody makes a pool of the driver at the moment.
pub(crate) fn stop_opening_cuda() -> Option<MutexGuard<'static, ()>> {
    OPENING_CUDA.try_lock().ok()
}

#[cold]
fn open_cpu() -> &'static Pool<Guarded<Host>> {
    fork::register();
    let _opening = lock(&OPENING_CPU);
    CPU.get_or_init(|| Pool::new(Guarded(Host), chosen()))
}

#[cold]
fn open_pinned() -> Result<&'static Pool<Guarded<Pinned>>, Error> {
    let (primary, _opening) = primary(0, Place::CudaPinned)?;
    Ok(PINNED.get_or_init(|| Pool::new(Guarded(Pinned(primary)), chosen())))
}

#[cold]
fn open_cuda(device: i32) -> Result<&'static Pool<Device>, Error> {
    let (primary, _opening) = primary(device, Place::Cuda(device))?;
    let slot = usize::try_from(device).ok().and_then(|device| CUDA.get(device));
    let slot = slot.ok_or(Error::NoPlace(Place::Cuda(device)))?;
    Ok(slot.get_or_init(|| Box::new(Pool::new(Device(primary), chosen()))))
}

/// The primary context for a pool that is about to be made, and the lock for making it. If another
/// thread has made it meanwhile, the context is retained once more, which does no harm.
fn primary(device: i32, place: Place) -> Result<(Primary, MutexGuard<'static, ()>), Error> {
    fork::register();
    driver::may_be_used()?;
    let opening = lock(&OPENING_CUDA);
    let (driver, devices) = driver::open()?;
    if !has(devices, device) {
        return Err(Error::NoPlace(place));
    }
    Ok((Primary::retain(driver, device)?, opening))
}

/// Without a driver there is no place of it.
#[cold]
fn exists(device: i32, place: Place) -> Result<(), Error> {
    fork::register();
    driver::may_be_used().map_err(|_| Error::NoPlace(place))?;
    let _opening = lock(&OPENING_CUDA);
    match driver::open() {
        Ok((_, devices)) if has(devices, device) => Ok(()),
        _ => Err(Error::NoPlace(place)),
    }
}

fn has(devices: i32, device: i32) -> bool {
    (0..devices.min(DEVICES as i32)).contains(&device)
}

fn chosen() -> Settings {
    *SETTINGS.get_or_init(settings::from_environment)
}

fn lock(mutex: &'static Mutex<()>) -> MutexGuard<'static, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
