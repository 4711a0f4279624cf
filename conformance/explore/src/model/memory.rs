//! Memory of the subject: asked for, shared, let go.

use allocert_suite::nouns::ErrorKind;

use crate::bytes::Bytes;
use crate::expect::{
    DEVICE_FREES, Expect, STALE_FREES, differs_from, is, multiple_of, not, one_of, same_as,
};
use crate::model::{Kind, Memory, Model, Outlook, Root};

/// Host memory up to here must be served.
const HOST_BYTES: u64 = 1 << 20;
/// Where the device is full, nothing is too much as well.
const TYPED: &[ErrorKind] = &[
    ErrorKind::InvalidValue,
    ErrorKind::NotSupported,
    ErrorKind::DriverError,
    ErrorKind::OutOfMemory,
];
const ALREADY_PINNED: &[ErrorKind] =
    &[ErrorKind::DriverError, ErrorKind::InvalidValue, ErrorKind::State, ErrorKind::NotSupported];

impl Model {
    pub(super) fn memalloc(&mut self, on: &str, size: i128, name: &str) -> Option<Expect> {
        let (index, size_bytes) = (self.ready(on)?, u64::try_from(size).ok()?);
        let outlook = self.outlook(index, size_bytes);
        let expect = match outlook {
            Outlook::Zero => Expect::nothing()
                .facts("EMM-ZERO-01", [("size_bytes", is(0)), ("kind", is("device"))])
                .raises("EMM-ZERO-01", TYPED),
            Outlook::Huge => Expect::nothing()
                .raises("EMM-ALLOC-23", &[ErrorKind::OutOfMemory, ErrorKind::InvalidValue]),
            Outlook::Short => Expect::nothing()
                .raises("EMM-OOM-01", &[ErrorKind::Any])
                .raises("EMM-OOM-02", &[ErrorKind::OutOfMemory]),
            Outlook::Either => Expect::nothing()
                .facts("EMM-ALLOC-03", [("size_bytes", is(size_bytes))])
                .raises("EMM-ALLOC-03", &[ErrorKind::OutOfMemory]),
            Outlook::Served => self.served(index, size_bytes),
        };
        let manager = &mut self.managers[index];
        (manager.used, manager.blank, manager.took) = (true, false, true);
        match outlook {
            Outlook::Short => manager.was_short = true,
            Outlook::Served => (manager.was_short, manager.was_reset) = (false, false),
            Outlook::Zero | Outlook::Either | Outlook::Huge => {}
        }
        if matches!(outlook, Outlook::Zero | Outlook::Either | Outlook::Served) {
            self.bind(name, index, Kind::Device, size_bytes, outlook == Outlook::Served);
        }
        Some(expect)
    }

    /// The facts of memory that must be there, and what it shows that it is.
    fn served(&self, index: usize, size_bytes: u64) -> Expect {
        let manager = &self.managers[index];
        let expect = Expect::nothing()
            .returns("EMM-ALLOC-01")
            .facts("EMM-ALLOC-02", [("kind", is("device"))])
            .facts("EMM-ALLOC-03", [("size_bytes", is(size_bytes))])
            .facts("EMM-ALLOC-04", [("pointer", not(0))])
            .facts("EMM-ALLOC-11", [("pointer", multiple_of(256))]);
        if !manager.scopes.is_empty() {
            expect.returns("EMM-DEFER-09")
        } else if manager.was_short {
            expect.returns("EMM-OOM-04")
        } else if manager.was_reset {
            expect.returns("EMM-RESET-10")
        } else {
            expect
        }
    }

    pub(super) fn memhostalloc(
        &mut self,
        on: &str,
        size_bytes: u64,
        mapped: bool,
        flags: bool,
        name: &str,
    ) -> Option<Expect> {
        let index = self.ready(on)?;
        if size_bytes > HOST_BYTES {
            return None;
        }
        let manager = &mut self.managers[index];
        (manager.used, manager.blank) = (true, false);
        self.bind(name, index, Kind::Host, size_bytes, size_bytes > 0);
        if size_bytes == 0 {
            return Some(
                Expect::nothing()
                    .facts("EMM-ZERO-04", [("size_bytes", is(0))])
                    .raises("EMM-ZERO-04", TYPED),
            );
        }
        let expect = Expect::nothing()
            .returns("EMM-HOST-01")
            .facts("EMM-HOST-04", [("size_bytes", is(size_bytes))])
            .facts("EMM-HOST-05", [("host_pointer", not(0))]);
        let expect = match mapped {
            true => expect
                .facts("EMM-HOST-03", [("kind", is("mapped"))])
                .facts("EMM-HOST-06", [("pointer", not(0))]),
            false => expect.facts("EMM-HOST-02", [("kind", is("pinned"))]),
        };
        Some(if flags { expect.returns("EMM-HOST-08") } else { expect })
    }

    pub(super) fn mempin(
        &mut self,
        on: &str,
        buffer: &str,
        mapped: bool,
        name: &str,
    ) -> Option<Expect> {
        let index = self.ready(on)?;
        let at = self.buffers.iter().position(|known| known.name == buffer)?;
        let Self { buffers, roots, .. } = self;
        let pinned = &buffers[at];
        // A release of a region whose pinning a reset ended must not meet a newer pinning by the
        // same address.
        if pinned.pins.len() > 1 || pinned.pins.iter().any(|root| roots[root].stale) {
            return None;
        }
        let (first, size_bytes, again) = (pinned.pins.is_empty(), pinned.size_bytes, pinned.before);
        let same_place = [("host_pointer", same_as(buffer, "host_pointer"))];
        let manager = &mut self.managers[index];
        (manager.used, manager.blank) = (true, false);
        self.bind(name, index, Kind::Pin(at), size_bytes, first);
        if !first {
            let expect = Expect::nothing()
                .facts("EMM-PIN-07", same_place)
                .raises("EMM-PIN-07", ALREADY_PINNED);
            return Some(expect.calls_none("EMM-PIN-08", &["cuMemHostUnregister"]));
        }
        let expect = Expect::nothing()
            .returns("EMM-PIN-01")
            .facts("EMM-PIN-04", same_place)
            .facts("EMM-PIN-04", [("size_bytes", is(size_bytes))]);
        let expect = match mapped {
            true => expect.facts("EMM-PIN-03", [("kind", is("mapped")), ("pointer", not(0))]),
            false => expect.facts("EMM-PIN-02", [("kind", is("pinned"))]),
        };
        Some(match again {
            Some(true) => expect.returns("EMM-PIN-06"),
            Some(false) => expect.returns("EMM-PIN-05"),
            None => expect,
        })
    }

    fn bind(&mut self, name: &str, manager: usize, kind: Kind, size_bytes: u64, sure: bool) {
        let root = self.next_root;
        self.next_root += 1;
        if let Kind::Pin(buffer) = kind {
            self.buffers[buffer].pins.push(root);
        }
        let memory =
            Memory { name: name.into(), root, offset: 0, size_bytes, view: false, handle: None };
        self.memories.push(memory);
        let root_of_it = Root {
            manager,
            kind,
            size_bytes,
            sure,
            stale: false,
            exposed: false,
            names: 1,
            handles: 0,
            pending: false,
            bytes: Bytes::default(),
        };
        self.roots.insert(root, root_of_it);
    }

    /// A view is taken of the manager that the memory is from: in Python it has its context.
    pub(super) fn view(
        &mut self,
        on: &str,
        of: &str,
        offset: u64,
        size_bytes: u64,
        name: &str,
    ) -> Option<Expect> {
        let whole = self.memory(of)?.clone();
        let root = self.root(&whole);
        let inside = size_bytes > 0
            && offset.checked_add(size_bytes).is_some_and(|end| end <= whole.size_bytes);
        if self.manager(on) != Some(root.manager) {
            return None;
        }
        if !inside || root.kind != Kind::Device || !root.sure || root.stale {
            return None;
        }
        self.roots.get_mut(&whole.root)?.names += 1;
        let offset_in_root = whole.offset + offset;
        let view = Memory {
            name: name.into(),
            offset: offset_in_root,
            size_bytes,
            view: true,
            handle: None,
            ..whole
        };
        self.memories.push(view);
        let pointer =
            if offset == 0 { same_as(of, "pointer") } else { differs_from(of, "pointer") };
        Some(
            Expect::nothing()
                .facts("EMM-ALLOC-17", [("size_bytes", is(size_bytes)), ("pointer", pointer)]),
        )
    }

    pub(super) fn drop(&mut self, name: &str, fresh: bool) -> Option<Expect> {
        if let Some(at) = self.handles.iter().position(|handle| handle.name == name) {
            let root = self.handles.remove(at).root;
            self.release(root, |root| root.handles -= 1);
            return Some(Expect::nothing());
        }
        let at = self.memories.iter().position(|memory| memory.name == name)?;
        let memory = self.memories.remove(at);
        let expect = self.letting_go(self.root(&memory), fresh);
        self.release(memory.root, |root| root.names -= 1);
        Some(expect)
    }

    /// What must come of a name being dropped.
    fn letting_go(&self, root: &Root, fresh: bool) -> Expect {
        let expect = Expect::nothing();
        let device = root.kind == Kind::Device;
        if root.stale {
            let quiet = device && !self.managers[root.manager].released;
            return if quiet { expect.calls_none("EMM-FINAL-08", STALE_FREES) } else { expect };
        }
        if root.names > 1 {
            let expect = expect.facts("EMM-FINAL-03", [("finalized", is(false))]);
            return expect.calls_none("EMM-FINAL-03", &["cuMemFree", "cuMemFreeAsync"]);
        }
        if !root.sure || root.handles > 0 || Self::is_pin(root.kind) {
            return expect;
        }
        let inside = !self.managers[root.manager].scopes.is_empty();
        let mut expect = expect
            .facts(if device { "EMM-FINAL-02" } else { "EMM-HOST-11" }, [("finalized", is(true))]);
        if inside && device {
            expect = expect.calls_none("EMM-DEFER-04", DEVICE_FREES);
        } else if inside {
            expect = expect.calls_none("EMM-DEFER-05", &["cuMemFreeHost"]);
        }
        if fresh {
            expect = expect.facts("EMM-FINAL-10", [("finalized", is(true))]);
        } else if self.current.is_none() {
            expect = expect.facts("EMM-FINAL-11", [("finalized", is(true))]);
            expect = expect
                .calls_none("EMM-FINAL-12", &["cuInit", "cuCtxCreate", "cuDevicePrimaryCtxRetain"]);
        }
        expect
    }

    /// One holder of a root is gone; with the last one the memory goes, or waits for the end of a
    /// scope.
    fn release(&mut self, id: u32, leave: impl FnOnce(&mut Root)) {
        let Some(root) = self.roots.get_mut(&id) else { return };
        leave(root);
        if root.names > 0 || root.handles > 0 {
            return;
        }
        let manager = &mut self.managers[root.manager];
        let inside = !manager.scopes.is_empty();
        if !root.stale {
            (manager.blank, manager.released) = (false, true);
        }
        if let Kind::Pin(at) = root.kind {
            let buffer = &mut self.buffers[at];
            buffer.pins.retain(|pin| *pin != id);
            buffer.before = Some(inside);
        }
        if inside && !root.stale && root.kind == Kind::Device {
            root.pending = true;
        } else {
            self.roots.remove(&id);
        }
    }

    /// Many requests in a row; none of them inside a scope, where what was released still takes
    /// room.
    pub(super) fn churn(
        &mut self,
        on: &str,
        size_bytes: u64,
        times: u64,
        hold: u64,
    ) -> Option<Expect> {
        let index = self.ready(on)?;
        let pieces = size_bytes.max(64 << 10).checked_mul(hold)?;
        let outlook = self.outlook(index, pieces);
        let manager = &mut self.managers[index];
        let modest = hold > 0 && times <= 64 && manager.scopes.is_empty();
        if !modest || outlook != Outlook::Served || (size_bytes == 0 && times != hold) {
            return None;
        }
        (manager.used, manager.blank, manager.took, manager.released) = (true, false, true, true);
        let apart = [("overlaps", is(0))];
        if size_bytes == 0 {
            let alike = [("failed", one_of(vec![0, times]))];
            return Some(Expect::nothing().facts("EMM-ZERO-02", alike).facts("EMM-ZERO-02", apart));
        }
        let expect = Expect::nothing()
            .facts("EMM-ALLOC-10", apart)
            .facts("EMM-ALLOC-11", [("misaligned", is(0))])
            .facts("EMM-ALLOC-15", [("failed", is(0))]);
        (manager.was_short, manager.was_reset) = (false, false);
        Some(expect)
    }
}
