//! `fork`: the child gets the pools in order, although the other threads are gone.
//!
//! The thread that forks holds all locks meanwhile, but none that a thread holds while it calls the
//! driver: the driver may hold its own locks already. A child whose parent used the driver never
//! calls it. There the places of CUDA give no memory, and take back what the parent had.

use std::cell::RefCell;
use std::sync::{MutexGuard, Once};

use allocert_pool::{Pool, Stopped};

use super::thread;
use crate::device::Device;
use crate::driver;
use crate::pools::{self, DEVICES};

/// What the thread that forks holds.
struct Held {
    _pools: Vec<Stopped<'static>>,
    _opening_cpu: MutexGuard<'static, ()>,
    /// `None` if a thread made a pool of the driver at that moment.
    opening_cuda: Option<MutexGuard<'static, ()>>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Makes `fork` orderly, from the first call on.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: three functions without arguments, which are there as long as the library. If
        // there is no memory for them, a fork beside other threads may leave the child a lock that
        // nobody gives back.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}

unsafe extern "C" fn prepare() {
    let opening_cpu = pools::stop_opening_cpu();
    let opening_cuda = pools::stop_opening_cuda();
    let mut stopped: Vec<_> = pools::made_cpu().map(|pool| pool.stop(true)).into_iter().collect();
    stopped.extend(pools::made_pinned().map(|pool| pool.stop(false)));
    stopped.extend(made_cuda().map(|(_, pool)| pool.stop(false)));
    let held = Held { _pools: stopped, _opening_cpu: opening_cpu, opening_cuda };
    // A thread that forks while it ends lets go of the locks at once.
    let _ = HELD.try_with(|slot| slot.replace(Some(held)));
}

unsafe extern "C" fn parent() {
    let _ = HELD.try_with(RefCell::take);
}

unsafe extern "C" fn child() {
    let held = HELD.try_with(RefCell::take).ok().flatten();
    let was_opening = held.as_ref().is_some_and(|held| held.opening_cuda.is_none());
    drop(held);
    if was_opening || driver::is_in_use() {
        driver::forked();
    }
    if let Some(pool) = pools::made_cpu() {
        pool.forked(thread::own(thread::CPU));
    }
    if let Some(pool) = pools::made_pinned() {
        pool.forked(thread::own(thread::PINNED));
    }
    for (device, pool) in made_cuda() {
        pool.forked(thread::own(thread::CUDA + device));
    }
}

fn made_cuda() -> impl Iterator<Item = (usize, &'static Pool<Device>)> {
    (0..DEVICES).filter_map(|device| pools::made_cuda(device as i32).map(|pool| (device, pool)))
}
