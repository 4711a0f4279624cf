//! The expected answers of a manager about its memory.

use allocert_suite::nouns::ErrorKind;

use crate::expected::{at_most, between, is, same_as};
use crate::model::emm::{Demand, Expected, Handle, MemoryKind, Model};

/// Driver calls that `get_memory_info` must not make (emm/info/free-of-charge).
const CHANGES: &[&str] = &[
    "cuMemAlloc",
    "cuMemAllocAsync",
    "cuMemHostAlloc",
    "cuMemFree",
    "cuMemFreeHost",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
];

impl Model {
    pub(super) fn get_memory_info(&mut self, on: &str) -> Option<Expected> {
        let index = self.ready(on)?;
        let memory_bytes = self.machine.memory_bytes;
        let held_bytes = self.held_bytes(self.managers[index].device).min(memory_bytes);
        self.managers[index].just_reset = false;
        let expect = Expected::nothing()
            .returns(Demand::InfoServed)
            .facts(Demand::InfoPlausible, [("free_bytes", at_most(memory_bytes - held_bytes))])
            .facts(Demand::InfoPlausible, [("total_bytes", between(held_bytes, memory_bytes))]);
        Some(expect.calls_none(Demand::InfoChangesNothing, CHANGES))
    }

    /// A handle is asked of the manager that the memory is from.
    pub(super) fn get_ipc_handle(
        &mut self,
        on: &str,
        name: &str,
        handle: &str,
    ) -> Option<Expected> {
        let index = self.ready(on)?;
        let at = self.memories.iter().position(|memory| memory.name == name)?;
        let memory = &mut self.memories[at];
        let allocation = self.allocations.get_mut(&memory.allocation)?;
        if allocation.manager != index
            || !allocation.outlived_resets()
            || !allocation.surely_served
            || Self::is_pin(allocation.kind)
        {
            return None;
        }
        self.managers[index].just_reset = false;
        if allocation.kind == MemoryKind::Host {
            return Some(Expected::nothing().raises(Demand::HandleOfHostMemory, &[ErrorKind::Any]));
        }
        let mut expect = Expected::nothing()
            .returns(Demand::HandleServed)
            .facts(Demand::HandleBytes, [("handle_bytes", is(64))]);
        expect = match memory.view {
            true => expect.returns(Demand::HandleOfView),
            false => expect.facts(Demand::HandleSize, [("size_bytes", is(allocation.size_bytes))]),
        };
        match &memory.handle {
            Some(first) => {
                let same = [
                    ("handle", same_as(first, "handle")),
                    ("offset_bytes", same_as(first, "offset_bytes")),
                ];
                expect = expect.facts(Demand::HandleRepeated, same);
            }
            None => memory.handle = Some(handle.into()),
        }
        allocation.live_handles += 1;
        self.handles.push(Handle { name: handle.into(), allocation: memory.allocation });
        Some(expect)
    }
}
