//! Managers, their scopes, and the context that is current.

use crate::expect::{DEVICE_FREES, Expect, is};
use crate::model::{Kind, Manager, Model};

/// What a further `initialize` calls none of (emm/initialize/cheap).
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
/// More managers at a time show nothing more.
const MANAGERS: usize = 3;

impl Manager {
    pub(super) fn new(name: &str, device: u32) -> Self {
        Self {
            name: name.into(),
            device,
            initialized: false,
            gone: false,
            scopes: Vec::new(),
            scoped: false,
            used: false,
            blank: false,
            was_reset: false,
            was_short: false,
            took: false,
            released: false,
            reset_inside: false,
        }
    }

    /// It can be called, and its context is current.
    pub(crate) fn is_ready(&self, current: Option<u32>) -> bool {
        !self.gone && self.initialized && current == Some(self.device)
    }
}

impl Model {
    pub(super) fn attach(&mut self, device: u32) -> Option<Expect> {
        let other = device < self.machine.devices && self.current != Some(device);
        other.then(|| self.current = Some(device))?;
        Some(Expect::nothing())
    }

    pub(super) fn detach(&mut self) -> Option<Expect> {
        self.current.take()?;
        Some(Expect::nothing())
    }

    pub(super) fn create(&mut self, name: &str, device: u32) -> Option<Expect> {
        let alive = self.managers.iter().filter(|manager| !manager.gone).count();
        let new = self.managers.iter().all(|manager| manager.name != name);
        if !new || alive >= MANAGERS || device >= self.machine.devices || self.current.is_none() {
            return None;
        }
        self.managers.push(Manager::new(name, device));
        Some(Expect::nothing())
    }

    /// A host lets a manager go when nothing of it is left.
    pub(super) fn destroy(&mut self, on: &str) -> Option<Expect> {
        let index = self.manager(on)?;
        let manager = &self.managers[index];
        let holds = self.roots.values().any(|root| root.manager == index && !root.stale);
        if !manager.scopes.is_empty() || holds || manager.used {
            return None;
        }
        self.managers[index].gone = true;
        let expect = Expect::nothing().returns("EMM-CLOSE-01");
        Some(if self.current.is_none() { expect.returns("EMM-CLOSE-03") } else { expect })
    }

    pub(super) fn initialize(&mut self, on: &str) -> Option<Expect> {
        let index = self.manager(on)?;
        let current = self.current;
        let manager = &mut self.managers[index];
        if current != Some(manager.device) {
            return None;
        }
        let mut expect =
            Expect::nothing().returns("EMM-INIT-01").facts("EMM-INIT-02", [("none", is(true))]);
        if manager.initialized && !manager.was_reset {
            expect = expect.calls_none("EMM-INIT-05", COSTLY);
        }
        if manager.was_reset {
            expect = expect.returns("EMM-RESET-15");
        }
        manager.initialized = true;
        manager.was_reset = false;
        manager.blank = false;
        Some(expect)
    }

    pub(super) fn reset(&mut self, on: &str, fresh: bool) -> Option<Expect> {
        let index = self.manager(on)?;
        let device = self.managers[index].device;
        if !fresh && self.current.is_some_and(|current| current != device) {
            return None;
        }
        let manager = &mut self.managers[index];
        let mut expect =
            Expect::nothing().returns("EMM-RESET-01").facts("EMM-RESET-02", [("none", is(true))]);
        if !manager.initialized {
            expect = expect.returns("EMM-RESET-03");
        } else if fresh || self.current.is_none() {
            expect = expect.returns("EMM-RESET-08");
        } else if manager.blank {
            expect = expect
                .returns("EMM-RESET-09")
                .calls_none("EMM-RESET-09", &["cuMemFree", "cuMemFreeHost"]);
        }
        (manager.used, manager.blank, manager.was_reset) = (false, true, manager.initialized);
        (manager.was_short, manager.took) = (false, false);
        manager.reset_inside = !manager.scopes.is_empty();
        manager.released = manager.reset_inside;
        self.forget(index);
        Some(expect)
    }

    /// What a manager gave is not the host's any more, and what shares its context has to stay.
    fn forget(&mut self, index: usize) {
        let device = self.managers[index].device;
        let managers = &self.managers;
        self.roots.retain(|_, root| {
            if root.manager == index {
                root.stale = true;
                root.pending = false;
            } else if managers[root.manager].device == device {
                root.exposed = true;
            }
            root.names > 0 || root.handles > 0 || root.pending
        });
    }

    pub(super) fn defer_enter(&mut self, on: &str, name: &str) -> Option<Expect> {
        let index = self.ready(on)?;
        let manager = &mut self.managers[index];
        let expect = Expect::nothing().returns("EMM-DEFER-01");
        let expect = match (manager.scopes.is_empty(), manager.scoped) {
            (false, _) => expect.returns("EMM-DEFER-03"),
            (true, true) => expect.returns("EMM-DEFER-11"),
            (true, false) => expect,
        };
        manager.scopes.push(name.into());
        (manager.scoped, manager.blank) = (true, false);
        Some(expect)
    }

    /// Scopes of one manager are left in the order of a `with` statement.
    pub(super) fn defer_exit(&mut self, on: &str, scope: &str) -> Option<Expect> {
        let index = self.ready(on)?;
        let manager = &mut self.managers[index];
        if manager.scopes.last().is_none_or(|innermost| innermost != scope) {
            return None;
        }
        manager.scopes.pop();
        manager.blank = false;
        let expect = Expect::nothing().returns("EMM-DEFER-02");
        if !manager.scopes.is_empty() {
            return Some(expect.returns("EMM-DEFER-03").calls_none("EMM-DEFER-04", DEVICE_FREES));
        }
        manager.reset_inside = false;
        self.roots.retain(|_, root| {
            root.pending &= root.manager != index;
            root.names > 0 || root.handles > 0 || root.pending
        });
        for buffer in &mut self.buffers {
            buffer.before = buffer.before.map(|_| false);
        }
        Some(expect)
    }

    pub(crate) fn is_pin(kind: Kind) -> bool {
        matches!(kind, Kind::Pin(_))
    }
}
