//! The part of the model with the managers, their scopes and the current context.

use crate::expected::is;
use crate::model::emm::freeing_calls::DEVICE_FREES;
use crate::model::emm::{Demand, Expected, Manager, MemoryKind, Model};

/// Calls that a further `initialize` does not make (emm/initialize/cheap).
const COSTLY: &[&str] = &[
    "cuMemAlloc",
    "cuMemAllocAsync",
    "cuMemHostAlloc",
    "cuMemFree",
    "cuMemFreeHost",
    "cuMemPoolCreate",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuStreamCreate",
    "cuDevicePrimaryCtxRetain",
];
/// The most managers that are alive at a time.
const MANAGERS: usize = 3;

impl Manager {
    pub(super) fn new(name: &str, device: u32) -> Self {
        Self {
            name: name.into(),
            device,
            initialized: false,
            destroyed: false,
            scopes: Vec::new(),
            had_scope: false,
            may_hold_memory: false,
            just_reset: false,
            reset_since_served: false,
            short_since_served: false,
            asked_since_reset: false,
            released_since_reset: false,
            reset_in_scope: false,
        }
    }

    /// It can be called, and its context is current.
    pub(crate) fn is_ready(&self, current: Option<u32>) -> bool {
        !self.destroyed && self.initialized && current == Some(self.device)
    }
}

impl Model {
    pub(super) fn attach(&mut self, device: u32) -> Option<Expected> {
        let other = device < self.machine.devices && self.current != Some(device);
        other.then(|| self.current = Some(device))?;
        Some(Expected::nothing())
    }

    pub(super) fn detach(&mut self) -> Option<Expected> {
        self.current.take()?;
        Some(Expected::nothing())
    }

    pub(super) fn create(&mut self, name: &str, device: u32) -> Option<Expected> {
        let alive = self.managers.iter().filter(|manager| !manager.destroyed).count();
        let new = self.managers.iter().all(|manager| manager.name != name);
        if !new || alive >= MANAGERS || device >= self.machine.devices || self.current.is_none() {
            return None;
        }
        self.managers.push(Manager::new(name, device));
        Some(Expected::nothing())
    }

    /// A host drops a manager only when it holds nothing of it. Host memory of Numba's own code
    /// that is released after the last reset stays allocated.
    pub(super) fn destroy(&mut self, on: &str) -> Option<Expected> {
        let index = self.manager(on)?;
        let manager = &self.managers[index];
        let holds =
            self.allocations.values().filter(|allocation| allocation.manager == index).any(
                |allocation| !allocation.taken_by_reset || allocation.kind != MemoryKind::Device,
            );
        if !manager.scopes.is_empty() || holds || manager.may_hold_memory {
            return None;
        }
        self.managers[index].destroyed = true;
        let expect = Expected::nothing().returns(Demand::DestroyServed);
        Some(if self.current.is_none() {
            expect.returns(Demand::DestroyWithoutContext)
        } else {
            expect
        })
    }

    pub(super) fn initialize(&mut self, on: &str) -> Option<Expected> {
        let index = self.manager(on)?;
        let current = self.current;
        let manager = &mut self.managers[index];
        if current != Some(manager.device) {
            return None;
        }
        let mut expect = Expected::nothing()
            .returns(Demand::InitializeServed)
            .facts(Demand::InitializeReturnsNone, [("none", is(true))]);
        if manager.initialized && !manager.reset_since_served {
            expect = expect.calls_none(Demand::InitializeAgain, COSTLY);
        }
        if manager.reset_since_served {
            expect = expect.returns(Demand::InitializeAfterReset);
        }
        manager.initialized = true;
        manager.reset_since_served = false;
        manager.just_reset = false;
        Some(expect)
    }

    pub(super) fn reset(&mut self, on: &str, fresh: bool) -> Option<Expected> {
        let index = self.manager(on)?;
        let device = self.managers[index].device;
        if !fresh && self.current.is_some_and(|current| current != device) {
            return None;
        }
        let alone = self.is_alone(index);
        let manager = &mut self.managers[index];
        let mut expect = Expected::nothing()
            .returns(Demand::ResetServed)
            .facts(Demand::ResetReturnsNone, [("none", is(true))]);
        if !manager.initialized {
            expect = expect.returns(Demand::ResetBeforeInitialize);
        } else if fresh || self.current.is_none() {
            expect = expect.returns(Demand::ResetWithoutContext);
        } else if manager.just_reset && alone {
            expect = expect
                .returns(Demand::ResetTwice)
                .calls_none(Demand::ResetTwice, &["cuMemFree", "cuMemFreeHost"]);
        }
        (manager.may_hold_memory, manager.just_reset, manager.reset_since_served) =
            (false, true, manager.initialized);
        (manager.short_since_served, manager.asked_since_reset) = (false, false);
        manager.reset_in_scope = !manager.scopes.is_empty();
        manager.released_since_reset = manager.reset_in_scope;
        self.mark_taken_by_reset(index);
        Some(expect)
    }

    /// Whether no other manager of its context is alive, whose memory a reset may clear up too.
    fn is_alone(&self, index: usize) -> bool {
        let device = self.managers[index].device;
        let others = self.managers.iter().enumerate().filter(|(other, _)| *other != index);
        others.into_iter().all(|(_, other)| other.destroyed || other.device != device)
    }

    /// After a reset the host has nothing of this manager. The memory of others in the context may
    /// be gone too.
    fn mark_taken_by_reset(&mut self, index: usize) {
        let device = self.managers[index].device;
        let managers = &self.managers;
        self.allocations.retain(|_, allocation| {
            if allocation.manager == index {
                allocation.taken_by_reset = true;
                allocation.release_deferred = false;
            } else if managers[allocation.manager].device == device {
                allocation.neighbour_reset = true;
            }
            allocation.live_names > 0 || allocation.live_handles > 0 || allocation.release_deferred
        });
    }

    pub(super) fn defer_enter(&mut self, on: &str, name: &str) -> Option<Expected> {
        let index = self.ready(on)?;
        let manager = &mut self.managers[index];
        let expect = Expected::nothing().returns(Demand::ScopeEntered);
        let expect = match (manager.scopes.is_empty(), manager.had_scope) {
            (false, _) => expect.returns(Demand::ScopeNested),
            (true, true) => expect.returns(Demand::ScopeAfterScope),
            (true, false) => expect,
        };
        manager.scopes.push(name.into());
        (manager.had_scope, manager.just_reset) = (true, false);
        Some(expect)
    }

    /// Scopes of one manager are left in the order of `with` statements.
    pub(super) fn defer_exit(&mut self, on: &str, scope: &str) -> Option<Expected> {
        let index = self.ready(on)?;
        let manager = &mut self.managers[index];
        if manager.scopes.last().is_none_or(|innermost| innermost != scope) {
            return None;
        }
        manager.scopes.pop();
        manager.just_reset = false;
        let expect = Expected::nothing().returns(Demand::ScopeLeft);
        if !manager.scopes.is_empty() {
            return Some(
                expect
                    .returns(Demand::ScopeNested)
                    .calls_none(Demand::ScopeDefersFrees, DEVICE_FREES),
            );
        }
        manager.reset_in_scope = false;
        self.allocations.retain(|_, allocation| {
            allocation.release_deferred &= allocation.manager != index;
            allocation.live_names > 0 || allocation.live_handles > 0 || allocation.release_deferred
        });
        for buffer in &mut self.buffers {
            buffer.released_in_scope = buffer.released_in_scope.map(|_| false);
        }
        Some(expect)
    }

    pub(crate) fn is_pin(kind: MemoryKind) -> bool {
        matches!(kind, MemoryKind::Pin(_))
    }
}
