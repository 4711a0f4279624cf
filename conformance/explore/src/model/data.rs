//! What was written, and what must be read back.

use crate::bytes::Bytes;
use crate::expect::{Expect, is};
use crate::model::{Buffer, Kind, Model};

/// More is not written or read in one step: a sequence is to be long, not slow.
pub(crate) const LONGEST_BYTES: u64 = 64 << 10;
const BUFFER_BYTES: u64 = 64 << 10;

/// Where the bytes of a name are kept, and the requirement that keeps them.
struct Place {
    store: Store,
    start: u64,
    end: u64,
    kept_by: &'static str,
}

enum Store {
    Root(u32),
    Buffer(usize),
}

impl Model {
    pub(super) fn host_buffer(&mut self, size_bytes: u64, name: &str) -> Option<Expect> {
        let modest = (1..=BUFFER_BYTES).contains(&size_bytes);
        modest.then(|| {
            let name = name.into();
            self.buffers.push(Buffer {
                name,
                size_bytes,
                pins: Vec::new(),
                before: None,
                bytes: Bytes::default(),
            });
            Expect::nothing()
        })
    }

    pub(super) fn fill(
        &mut self,
        name: &str,
        byte: u8,
        offset: u64,
        size: Option<u64>,
    ) -> Option<Expect> {
        let place = self.place(name, offset, size)?;
        let device =
            matches!(place.store, Store::Root(root) if self.roots[&root].kind == Kind::Device);
        self.bytes(&place).fill(place.start, place.end, byte);
        let own = self.memory(name).is_some();
        Some(if device || !own {
            Expect::nothing()
        } else {
            Expect::nothing().returns("EMM-HOST-10")
        })
    }

    /// Only what is known can be expected.
    pub(super) fn read(&mut self, name: &str, offset: u64, size: Option<u64>) -> Option<Expect> {
        let place = self.place(name, offset, size)?;
        let byte = self.bytes(&place).uniform(place.start, place.end)?;
        Some(Expect::nothing().facts(place.kept_by, [("uniform", is(byte))]))
    }

    /// Where a part of a name's bytes lies, if the host may touch it now.
    fn place(&self, name: &str, offset: u64, size: Option<u64>) -> Option<Place> {
        let (store, base, whole, kept_by) = match self.memory(name) {
            Some(memory) => {
                let root = self.root(memory);
                let here = root.kind != Kind::Device
                    || self.current == Some(self.managers[root.manager].device);
                // A region whose pinning may have been refused has no other name to say what is in
                // it.
                let nowhere = Self::is_pin(root.kind) && !root.sure;
                if root.stale || !here || nowhere {
                    return None;
                }
                let (store, kept_by) = match root.kind {
                    Kind::Device if root.exposed => (Store::Root(memory.root), "EMM-RESET-12"),
                    Kind::Device if memory.view => (Store::Root(memory.root), "EMM-ALLOC-17"),
                    Kind::Device => (Store::Root(memory.root), "EMM-ALLOC-13"),
                    Kind::Host => (Store::Root(memory.root), "EMM-HOST-10"),
                    Kind::Pin(buffer) => (Store::Buffer(buffer), "EMM-PIN-13"),
                };
                (store, memory.offset, memory.size_bytes, kept_by)
            }
            None => {
                let at = self.buffers.iter().position(|buffer| buffer.name == name)?;
                (Store::Buffer(at), 0, self.buffers[at].size_bytes, "EMM-PIN-13")
            }
        };
        let size_bytes = size.or_else(|| whole.checked_sub(offset))?;
        let end = offset.checked_add(size_bytes)?;
        let touched = (1..=LONGEST_BYTES).contains(&size_bytes) && end <= whole;
        touched.then_some(Place { store, start: base + offset, end: base + end, kept_by })
    }

    fn bytes(&mut self, place: &Place) -> &mut Bytes {
        match place.store {
            Store::Root(root) => &mut self.roots.get_mut(&root).expect("a name has a root").bytes,
            Store::Buffer(at) => &mut self.buffers[at].bytes,
        }
    }
}
