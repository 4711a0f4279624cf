//! The part of the model that knows what was written, and so what a read must return.

use crate::expected::is;
use crate::model::emm::{Buffer, Demand, Expected, MemoryKind, Model};
use crate::written_bytes::{LONGEST_BYTES, WrittenBytes};

const BUFFER_BYTES: u64 = 64 << 10;

/// A part of the bytes of a name, and the demand that they stay.
struct Location {
    owner: Owner,
    start: u64,
    end: u64,
    demand: Demand,
}

enum Owner {
    Allocation(u32),
    Buffer(usize),
}

impl Model {
    pub(super) fn host_buffer(&mut self, size_bytes: u64, name: &str) -> Option<Expected> {
        let modest = (1..=BUFFER_BYTES).contains(&size_bytes);
        modest.then(|| {
            let name = name.into();
            self.buffers.push(Buffer {
                name,
                size_bytes,
                pins: Vec::new(),
                released_in_scope: None,
                bytes: WrittenBytes::default(),
            });
            Expected::nothing()
        })
    }

    pub(super) fn fill(
        &mut self,
        name: &str,
        byte: u8,
        offset: u64,
        size: Option<u64>,
    ) -> Option<Expected> {
        let location = self.locate(name, offset, size)?;
        // Nothing may be demanded of a write to memory that the reset may have taken.
        if location.demand == Demand::ResetKeepsOthersBytes {
            return None;
        }
        let device = match location.owner {
            Owner::Allocation(id) => self.allocations[&id].kind == MemoryKind::Device,
            Owner::Buffer(_) => false,
        };
        self.bytes(&location).fill(location.start, location.end, byte);
        let own = self.memory(name).is_some();
        Some(if device || !own {
            Expected::nothing()
        } else {
            Expected::nothing().returns(Demand::HostAllocKeepsBytes)
        })
    }

    /// Legal only where the contents are known.
    pub(super) fn read(&mut self, name: &str, offset: u64, size: Option<u64>) -> Option<Expected> {
        let location = self.locate(name, offset, size)?;
        let byte = self.bytes(&location).uniform(location.start, location.end)?;
        Some(Expected::nothing().facts(location.demand, [("uniform", is(byte))]))
    }

    /// Where a part of a name's bytes lies, if the host may touch it now.
    fn locate(&self, name: &str, offset: u64, size: Option<u64>) -> Option<Location> {
        let (owner, base, whole, demand) = match self.memory(name) {
            Some(memory) => {
                let allocation = self.allocation(memory);
                let reachable = allocation.kind != MemoryKind::Device
                    || self.current == Some(self.managers[allocation.manager].device);
                // If the pinning may have been refused, this name may stand for nothing.
                let unbound = Self::is_pin(allocation.kind) && !allocation.surely_served;
                let host_memory_lost =
                    allocation.neighbour_reset && allocation.kind == MemoryKind::Host;
                if allocation.taken_by_reset || host_memory_lost || !reachable || unbound {
                    return None;
                }
                let own = Owner::Allocation(memory.allocation);
                let (owner, demand) = match allocation.kind {
                    MemoryKind::Device if allocation.neighbour_reset => {
                        (own, Demand::ResetKeepsOthersBytes)
                    }
                    MemoryKind::Device if memory.view => (own, Demand::View),
                    MemoryKind::Device => (own, Demand::AllocKeepsBytes),
                    MemoryKind::Host => (own, Demand::HostAllocKeepsBytes),
                    MemoryKind::Pin(buffer) => (Owner::Buffer(buffer), Demand::PinKeepsBytes),
                };
                (owner, memory.offset, memory.size_bytes, demand)
            }
            None => {
                let at = self.buffers.iter().position(|buffer| buffer.name == name)?;
                (Owner::Buffer(at), 0, self.buffers[at].size_bytes, Demand::PinKeepsBytes)
            }
        };
        let size_bytes = size.or_else(|| whole.checked_sub(offset))?;
        let end = offset.checked_add(size_bytes)?;
        let touched = (1..=LONGEST_BYTES).contains(&size_bytes) && end <= whole;
        touched.then_some(Location { owner, start: base + offset, end: base + end, demand })
    }

    fn bytes(&mut self, location: &Location) -> &mut WrittenBytes {
        match location.owner {
            Owner::Allocation(allocation) => {
                &mut self.allocations.get_mut(&allocation).expect("a name has an allocation").bytes
            }
            Owner::Buffer(at) => &mut self.buffers[at].bytes,
        }
    }
}
