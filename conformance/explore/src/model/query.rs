//! What a manager tells about its memory.

use allocert_suite::nouns::ErrorKind;

use crate::expect::{Expect, at_most, between, is, same_as};
use crate::model::{Handle, Kind, Model};

/// What a question about memory calls none of (emm/info/free-of-charge).
const CHARGES: &[&str] = &[
    "cuMemAlloc",
    "cuMemAllocAsync",
    "cuMemHostAlloc",
    "cuMemFree",
    "cuMemFreeHost",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
];

impl Model {
    pub(super) fn get_memory_info(&mut self, on: &str) -> Option<Expect> {
        let index = self.ready(on)?;
        let memory_bytes = self.machine.memory_bytes;
        let held_bytes = self.held_bytes(self.managers[index].device).min(memory_bytes);
        self.managers[index].blank = false;
        let expect = Expect::nothing()
            .returns("EMM-INFO-01")
            .facts("EMM-INFO-03", [("free_bytes", at_most(memory_bytes - held_bytes))])
            .facts("EMM-INFO-03", [("total_bytes", between(held_bytes, memory_bytes))]);
        Some(expect.calls_none("EMM-INFO-08", CHARGES))
    }

    /// A handle is asked of the manager that the memory is from.
    pub(super) fn get_ipc_handle(&mut self, on: &str, name: &str, handle: &str) -> Option<Expect> {
        let index = self.ready(on)?;
        let at = self.memories.iter().position(|memory| memory.name == name)?;
        let memory = &mut self.memories[at];
        let root = self.roots.get_mut(&memory.root)?;
        if root.manager != index || root.stale || !root.sure || Self::is_pin(root.kind) {
            return None;
        }
        self.managers[index].blank = false;
        if root.kind == Kind::Host {
            return Some(Expect::nothing().raises("EMM-IPC-14", &[ErrorKind::Any]));
        }
        let mut expect =
            Expect::nothing().returns("EMM-IPC-01").facts("EMM-IPC-03", [("handle_bytes", is(64))]);
        expect = match memory.view {
            true => expect.returns("EMM-IPC-10"),
            false => expect.facts("EMM-IPC-04", [("size_bytes", is(root.size_bytes))]),
        };
        match &memory.handle {
            Some(first) => {
                let same = [
                    ("handle", same_as(first, "handle")),
                    ("offset_bytes", same_as(first, "offset_bytes")),
                ];
                expect = expect.facts("EMM-IPC-13", same);
            }
            None => memory.handle = Some(handle.into()),
        }
        root.handles += 1;
        self.handles.push(Handle { name: handle.into(), root: memory.root });
        Some(expect)
    }
}
