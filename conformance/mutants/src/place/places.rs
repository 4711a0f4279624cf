//! Mutations of which memory belongs to a place, and of contexts.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{CPU, CUDA, CUDA_PINNED, Place, Status};
use allocert_cuda::Context;

use super::base_allocator::{Base, rounded};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer, fail, no_place};

export_place_mutants! {
    mutant_place_unknown_is_cpu => Redirected<UnknownIsCpu>,
    mutant_place_host_has_devices => Redirected<HostHasDevices>,
    mutant_place_always_device_0 => AlwaysDevice0,
    mutant_place_pinned_is_pageable => Redirected<PinnedIsPageable>,
    mutant_place_device_0_only => Device0Only,
    mutant_place_idle_of_all_devices => IdleOfAllDevices,
    mutant_place_leaves_context => LeavesContext,
    mutant_place_needs_context => NeedsContext,
    mutant_place_uses_current_context => UsesCurrentContext,
    mutant_place_own_context => OwnContext,
}

/// Which place a mutant uses where the caller names `place`.
trait Redirection {
    fn actual(place: Place) -> Place;
}

/// Makes each call at the place that `R` chooses.
struct Redirected<R>(PhantomData<R>);

impl<R: Redirection> Mutation for Redirected<R> {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(R::actual(place), size_bytes)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(R::actual(place), address)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        base.used(R::actual(place))
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        base.release(R::actual(place))
    }
}

/// Takes a kind that it does not know for memory of the host, and any device for device 0.
struct UnknownIsCpu;

impl Redirection for UnknownIsCpu {
    fn actual(place: Place) -> Place {
        match system_memory::check(place) {
            Ok(()) => place,
            Err(_) if place.kind == CUDA => Place::cuda(0),
            Err(_) => Place::CPU,
        }
    }
}

/// Takes memory of the host, whatever device it names.
struct HostHasDevices;

impl Redirection for HostHasDevices {
    fn actual(place: Place) -> Place {
        if place.kind == CUDA { place } else { Place { device: 0, ..place } }
    }
}

/// Takes memory on device 0 for every device.
pub(crate) struct AlwaysDevice0;

impl Mutation for AlwaysDevice0 {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || place.device == 0 || size_bytes == 0 {
            return base.alloc(place, size_bytes);
        }
        system_memory::check(place)?;
        let address = base.alloc(Place::cuda(0), size_bytes)?;
        let first = Place::cuda(0);
        let size = base.with(first, |region| region.live.remove(&address)).unwrap_or_default();
        base.with(first, |region| region.used_bytes -= size);
        base.with(place, |region| region.give_out(address, size));
        Ok(address)
    }
}

/// Takes page-locked memory from the heap.
struct PinnedIsPageable;

impl Redirection for PinnedIsPageable {
    /// What the host calls the place, and what it is.
    fn actual(place: Place) -> Place {
        if place.kind == CUDA_PINNED { Place { kind: CPU, device: 0 } } else { place }
    }
}

/// Knows one device.
struct Device0Only;

impl Mutation for Device0Only {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind == CUDA && place.device > 0 {
            return Err(no_place());
        }
        base.alloc(place, size_bytes)
    }
}

/// Takes a freed block of the other device where the device has none of the size.
pub(crate) struct IdleOfAllDevices;

impl Mutation for IdleOfAllDevices {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        system_memory::check(place)?;
        let size_bytes = rounded(size_bytes)?;
        let find = |idle: &[(usize, usize)]| idle.iter().position(|(_, idle)| *idle == size_bytes);
        if place.kind == CUDA && base.with(place, |region| find(&region.idle)).is_none() {
            let other = Place::cuda(i32::from(place.device == 0));
            let kept = base.with(other, |region| {
                find(&region.idle).map(|index| region.idle.swap_remove(index))
            });
            base.with(place, |region| region.idle.extend(kept));
        }
        base.alloc(place, size_bytes)
    }
}

/// Leaves the context of the device current.
struct LeavesContext;

impl Mutation for LeavesContext {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        if place.kind == CUDA {
            let driver = system_memory::driver()?;
            let context = system_memory::context(driver, place.device)?;
            driver
                .ctx_set_current(Some(context))
                .map_err(|error| system_memory::driver_failure(&error))?;
        }
        Ok(address)
    }
}

/// Asks the caller for a current context.
struct NeedsContext;

impl Mutation for NeedsContext {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind == CUDA && matches!(system_memory::driver()?.ctx_get_current(), Ok(None)) {
            return Err(fail(Status::DRIVER_ERROR, "alloc: no context is current\0"));
        }
        base.alloc(place, size_bytes)
    }
}

/// Takes memory of the device whose context is current, if there is one.
struct UsesCurrentContext;

impl Mutation for UsesCurrentContext {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || size_bytes == 0 {
            return base.alloc(place, size_bytes);
        }
        let current = system_memory::driver()?.ctx_get_current();
        if current.map_err(|error| system_memory::driver_failure(&error))?.is_none() {
            return base.alloc(place, size_bytes);
        }
        system_memory::check(place)?;
        take_in_current(base, place, size_bytes)
    }
}

/// Takes memory of the device whose context is current.
fn take_in_current(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
    let size = rounded(size_bytes)?;
    let address = system_memory::driver()?
        .mem_alloc(size as u64)
        .map_err(|error| system_memory::driver_failure(&error))? as usize;
    base.with(place, |region| region.give_out(address, size));
    Ok(address)
}

/// Takes memory of a device in a context that it makes for itself.
struct OwnContext;

/// The contexts that it made, by device.
static OWN_CONTEXTS: Mutex<BTreeMap<i32, Context>> = Mutex::new(BTreeMap::new());

impl Mutation for OwnContext {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || size_bytes == 0 {
            return base.alloc(place, size_bytes);
        }
        // Memory that was freed goes back first.
        base.release(place)?;
        let driver = system_memory::driver()?;
        let failed = |error| system_memory::driver_failure(&error);
        let mut contexts = OWN_CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        match contexts.get(&place.device) {
            Some(context) => driver.ctx_push_current(*context),
            None => driver.ctx_create(place.device).map(|context| {
                contexts.insert(place.device, context);
            }),
        }
        .map_err(failed)?;
        let address = take_in_current(base, place, size_bytes);
        driver.ctx_pop_current().map_err(failed)?;
        address
    }
}
