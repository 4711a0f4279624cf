//! The part of the model with the memory of the subject: allocations, views and releases.

use allocert_suite::nouns::ErrorKind;

use crate::expected::{differs_from, is, multiple_of, not, one_of, same_as};
use crate::model::emm::freeing_calls::{DEVICE_FREES, FREES_AFTER_RESET, HOST_FREES};
use crate::model::emm::{Allocation, Demand, Expected, Memory, MemoryKind, Model, RequestClass};
use crate::written_bytes::WrittenBytes;

/// The largest request for host memory that must be served.
const HOST_BYTES: u64 = 1 << 20;
/// The errors of a request for nothing. On a full device it may be out of memory too.
const ZERO_BYTES_ERRORS: &[ErrorKind] = &[
    ErrorKind::InvalidValue,
    ErrorKind::NotSupported,
    ErrorKind::DriverError,
    ErrorKind::OutOfMemory,
];
const ALREADY_PINNED: &[ErrorKind] =
    &[ErrorKind::DriverError, ErrorKind::InvalidValue, ErrorKind::State, ErrorKind::NotSupported];

impl Model {
    pub(super) fn memalloc(&mut self, on: &str, size: i128, name: &str) -> Option<Expected> {
        let (index, size_bytes) = (self.ready(on)?, u64::try_from(size).ok()?);
        let class = self.classify(index, size_bytes);
        let expect = match class {
            RequestClass::ZeroBytes => Expected::nothing()
                .facts(Demand::AllocZeroBytes, [("size_bytes", is(0)), ("kind", is("device"))])
                .raises(Demand::AllocZeroBytes, ZERO_BYTES_ERRORS),
            RequestClass::MoreThanAnyDevice => Expected::nothing()
                .raises(Demand::AllocHugeSize, &[ErrorKind::OutOfMemory, ErrorKind::InvalidValue]),
            RequestClass::MoreThanIsFree => Expected::nothing()
                .raises(Demand::ShortageRaises, &[ErrorKind::Any])
                .raises(Demand::ShortageIsTyped, &[ErrorKind::OutOfMemory]),
            RequestClass::MayFail => {
                let served = self.served_demand(index).unwrap_or(Demand::AllocServed);
                Expected::nothing()
                    .returns(served)
                    .raises(served, &[ErrorKind::OutOfMemory])
                    .facts(Demand::AllocSize, [("size_bytes", is(size_bytes))])
                    .raises(Demand::AllocSize, &[ErrorKind::Any])
            }
            RequestClass::MustBeServed => self.served_facts(index, size_bytes),
        };
        let manager = &mut self.managers[index];
        (manager.may_hold_memory, manager.just_reset, manager.asked_since_reset) =
            (true, false, true);
        match class {
            RequestClass::MoreThanIsFree => manager.short_since_served = true,
            RequestClass::MustBeServed => {
                (manager.short_since_served, manager.reset_since_served) = (false, false)
            }
            RequestClass::ZeroBytes | RequestClass::MayFail | RequestClass::MoreThanAnyDevice => {}
        }
        let may_be_served =
            !matches!(class, RequestClass::MoreThanIsFree | RequestClass::MoreThanAnyDevice);
        if may_be_served {
            let surely_served = class == RequestClass::MustBeServed;
            self.bind(name, index, MemoryKind::Device, size_bytes, surely_served);
        }
        Some(expect)
    }

    /// The facts of memory that must be served, and the circumstances in which it is.
    fn served_facts(&self, index: usize, size_bytes: u64) -> Expected {
        let expect = Expected::nothing()
            .returns(Demand::AllocServed)
            .facts(Demand::AllocKind, [("kind", is("device"))])
            .facts(Demand::AllocSize, [("size_bytes", is(size_bytes))])
            .facts(Demand::AllocAddress, [("pointer", not(0))])
            .facts(Demand::AllocAlignment, [("pointer", multiple_of(256))]);
        match self.served_demand(index) {
            Some(demand) => expect.returns(demand),
            None => expect,
        }
    }

    /// What demands that a request is served in the circumstances of a manager.
    fn served_demand(&self, index: usize) -> Option<Demand> {
        let manager = &self.managers[index];
        if manager.reset_since_served {
            Some(Demand::AllocAfterReset)
        } else if !manager.scopes.is_empty() {
            Some(Demand::AllocInScope)
        } else if manager.short_since_served {
            Some(Demand::AllocAfterShortage)
        } else {
            None
        }
    }

    pub(super) fn memhostalloc(
        &mut self,
        on: &str,
        size_bytes: u64,
        mapped: bool,
        flags: bool,
        name: &str,
    ) -> Option<Expected> {
        let index = self.ready(on)?;
        if size_bytes > HOST_BYTES {
            return None;
        }
        let manager = &mut self.managers[index];
        (manager.may_hold_memory, manager.just_reset) = (true, false);
        self.bind(name, index, MemoryKind::Host, size_bytes, size_bytes > 0);
        if size_bytes == 0 {
            return Some(
                Expected::nothing()
                    .facts(Demand::HostAllocZeroBytes, [("size_bytes", is(0))])
                    .raises(Demand::HostAllocZeroBytes, ZERO_BYTES_ERRORS),
            );
        }
        let expect = Expected::nothing()
            .returns(Demand::HostAllocServed)
            .facts(Demand::HostAllocSize, [("size_bytes", is(size_bytes))])
            .facts(Demand::HostAllocAddress, [("host_pointer", not(0))]);
        let expect = match mapped {
            true => expect
                .facts(Demand::HostAllocMapped, [("kind", is("mapped"))])
                .facts(Demand::HostAllocDeviceAddress, [("pointer", not(0))]),
            false => expect.facts(Demand::HostAllocPinned, [("kind", is("pinned"))]),
        };
        Some(if flags { expect.returns(Demand::HostAllocWithFlags) } else { expect })
    }

    pub(super) fn mempin(
        &mut self,
        on: &str,
        buffer: &str,
        mapped: bool,
        name: &str,
    ) -> Option<Expected> {
        let index = self.ready(on)?;
        let at = self.buffers.iter().position(|known| known.name == buffer)?;
        let Self { buffers, allocations, .. } = self;
        let pinned = &buffers[at];
        // If a reset ended an earlier pinning of the region, its release would unpin the newer one.
        if pinned.pins.len() > 1
            || pinned.pins.iter().any(|allocation| !allocations[allocation].outlived_resets())
        {
            return None;
        }
        let (first, size_bytes, again) =
            (pinned.pins.is_empty(), pinned.size_bytes, pinned.released_in_scope);
        let same_place = [("host_pointer", same_as(buffer, "host_pointer"))];
        let manager = &mut self.managers[index];
        (manager.may_hold_memory, manager.just_reset) = (true, false);
        self.bind(name, index, MemoryKind::Pin(at), size_bytes, first);
        if !first {
            let expect = Expected::nothing()
                .facts(Demand::PinTwice, same_place)
                .raises(Demand::PinTwice, ALREADY_PINNED);
            return Some(expect.calls_none(Demand::PinTwiceKeepsFirst, &["cuMemHostUnregister"]));
        }
        let expect = Expected::nothing()
            .returns(Demand::PinServed)
            .facts(Demand::PinRegion, same_place)
            .facts(Demand::PinRegion, [("size_bytes", is(size_bytes))]);
        let expect = match mapped {
            true => expect.facts(Demand::PinMapped, [("kind", is("mapped")), ("pointer", not(0))]),
            false => expect.facts(Demand::PinPinned, [("kind", is("pinned"))]),
        };
        Some(match again {
            Some(true) => expect.returns(Demand::PinAfterReleaseInScope),
            Some(false) => expect.returns(Demand::PinAfterRelease),
            None => expect,
        })
    }

    fn bind(
        &mut self,
        name: &str,
        manager: usize,
        kind: MemoryKind,
        size_bytes: u64,
        surely_served: bool,
    ) {
        let allocation = self.next_allocation;
        self.next_allocation += 1;
        if let MemoryKind::Pin(buffer) = kind {
            self.buffers[buffer].pins.push(allocation);
        }
        let memory = Memory {
            name: name.into(),
            allocation,
            offset: 0,
            size_bytes,
            view: false,
            handle: None,
        };
        self.memories.push(memory);
        let new = Allocation {
            manager,
            kind,
            size_bytes,
            surely_served,
            taken_by_reset: false,
            neighbour_reset: false,
            live_names: 1,
            live_handles: 0,
            release_deferred: false,
            bytes: WrittenBytes::default(),
        };
        self.allocations.insert(allocation, new);
    }

    /// A view is asked of the manager of the memory, which in Python belongs to its context.
    pub(super) fn view(
        &mut self,
        on: &str,
        of: &str,
        offset: u64,
        size_bytes: u64,
        name: &str,
    ) -> Option<Expected> {
        let whole = self.memory(of)?.clone();
        let allocation = self.allocation(&whole);
        let inside = size_bytes > 0
            && offset.checked_add(size_bytes).is_some_and(|end| end <= whole.size_bytes);
        if self.manager(on) != Some(allocation.manager) {
            return None;
        }
        if !inside
            || allocation.kind != MemoryKind::Device
            || !allocation.surely_served
            || !allocation.outlived_resets()
        {
            return None;
        }
        self.allocations.get_mut(&whole.allocation)?.live_names += 1;
        let offset_in_allocation = whole.offset + offset;
        let view = Memory {
            name: name.into(),
            offset: offset_in_allocation,
            size_bytes,
            view: true,
            handle: None,
            ..whole
        };
        self.memories.push(view);
        let pointer =
            if offset == 0 { same_as(of, "pointer") } else { differs_from(of, "pointer") };
        Some(
            Expected::nothing()
                .facts(Demand::View, [("size_bytes", is(size_bytes)), ("pointer", pointer)]),
        )
    }

    pub(super) fn drop(&mut self, name: &str, fresh: bool) -> Option<Expected> {
        if let Some(at) = self.handles.iter().position(|handle| handle.name == name) {
            let allocation = self.handles.remove(at).allocation;
            self.release(allocation, |allocation| allocation.live_handles -= 1);
            return Some(Expected::nothing());
        }
        let at = self.memories.iter().position(|memory| memory.name == name)?;
        let memory = self.memories.remove(at);
        let expect = self.release_expectations(self.allocation(&memory), fresh);
        self.release(memory.allocation, |allocation| allocation.live_names -= 1);
        Some(expect)
    }

    /// What must come of dropping a name.
    fn release_expectations(&self, allocation: &Allocation, fresh: bool) -> Expected {
        let expect = Expected::nothing();
        let device = allocation.kind == MemoryKind::Device;
        if allocation.taken_by_reset {
            let frees_nothing = device && !self.managers[allocation.manager].released_since_reset;
            return if frees_nothing {
                expect.calls_none(Demand::ReleaseAfterReset, FREES_AFTER_RESET)
            } else {
                expect
            };
        }
        if allocation.live_names > 1 {
            let expect = expect.facts(Demand::ReleaseWithView, [("finalized", is(false))]);
            return expect.calls_none(Demand::ReleaseWithView, &["cuMemFree", "cuMemFreeAsync"]);
        }
        if !allocation.surely_served || allocation.live_handles > 0 || Self::is_pin(allocation.kind)
        {
            return expect;
        }
        let inside = !self.managers[allocation.manager].scopes.is_empty();
        let mut expect = expect.facts(
            if device { Demand::ReleaseFinalizes } else { Demand::HostAllocFinalized },
            [("finalized", is(true))],
        );
        if inside && device {
            expect = expect.calls_none(Demand::ScopeDefersFrees, DEVICE_FREES);
        } else if inside {
            expect = expect
                .calls_none(Demand::ScopeDefersHostFrees, HOST_FREES)
                .calls_none(Demand::ScopeDefersOwnHostFrees, HOST_FREES);
        }
        if fresh {
            expect = expect.facts(Demand::ReleaseOnFreshThread, [("finalized", is(true))]);
        } else if self.current.is_none() {
            expect = expect.facts(Demand::ReleaseWithoutContext, [("finalized", is(true))]);
            expect = expect.calls_none(
                Demand::ReleaseMakesNoContext,
                &["cuInit", "cuCtxCreate", "cuDevicePrimaryCtxRetain"],
            );
        }
        expect
    }

    /// Removes one name or handle of an allocation. With the last one the memory is released, or
    /// its release is deferred to the end of the scope.
    fn release(&mut self, id: u32, remove: impl FnOnce(&mut Allocation)) {
        let Some(allocation) = self.allocations.get_mut(&id) else { return };
        remove(allocation);
        if allocation.live_names > 0 || allocation.live_handles > 0 {
            return;
        }
        let manager = &mut self.managers[allocation.manager];
        let inside = !manager.scopes.is_empty();
        manager.may_hold_memory |= allocation.kind != MemoryKind::Device;
        if !allocation.taken_by_reset {
            (manager.just_reset, manager.released_since_reset) = (false, true);
        }
        if let MemoryKind::Pin(at) = allocation.kind {
            let buffer = &mut self.buffers[at];
            buffer.pins.retain(|pin| *pin != id);
            buffer.released_in_scope = Some(inside);
        }
        if inside && !allocation.taken_by_reset && allocation.kind == MemoryKind::Device {
            allocation.release_deferred = true;
        } else {
            self.allocations.remove(&id);
        }
    }

    /// Many requests and releases in a row. Not inside a scope, where released memory stays taken.
    pub(super) fn churn(
        &mut self,
        on: &str,
        size_bytes: u64,
        times: u64,
        hold: u64,
    ) -> Option<Expected> {
        let index = self.ready(on)?;
        let pieces = size_bytes.max(64 << 10).checked_mul(hold)?;
        let class = self.classify(index, pieces);
        let manager = &mut self.managers[index];
        let modest = hold > 0 && times <= 64 && manager.scopes.is_empty();
        if !modest || class != RequestClass::MustBeServed || (size_bytes == 0 && times != hold) {
            return None;
        }
        (
            manager.may_hold_memory,
            manager.just_reset,
            manager.asked_since_reset,
            manager.released_since_reset,
        ) = (true, false, true, true);
        let apart = [("overlaps", is(0))];
        if size_bytes == 0 {
            let alike = [("failed", one_of(vec![0, times]))];
            return Some(
                Expected::nothing()
                    .facts(Demand::AllocZeroBytesAlike, alike)
                    .facts(Demand::AllocZeroBytesAlike, apart),
            );
        }
        let expect = Expected::nothing()
            .facts(Demand::AllocDisjoint, apart)
            .facts(Demand::AllocAlignment, [("misaligned", is(0))])
            .facts(Demand::AllocAndReleaseInTurn, [("failed", is(0))]);
        (manager.short_since_served, manager.reset_since_served) = (false, false);
        Some(expect)
    }
}
