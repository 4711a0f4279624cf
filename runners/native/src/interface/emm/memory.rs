//! Memory of the subject in the hands of the host: allocated, shared, written, read, let go.

use std::sync::Arc;

use allocert_abi::emm::{KIND_DEVICE, KIND_MAPPED, KIND_PINNED};
use allocert_cuda::DriverError;
use allocert_suite::interface::shared;
use allocert_suite::observation::Facts;
use serde_json::{Value, json};

use crate::device_bytes::fill_device;
use crate::host_buffer::HostBuffer;
use crate::host_bytes;
use crate::interface::emm::bindings::{Bound, CaseManager, NamedMemory, Token};
use crate::interface::emm::case::EmmCase;
use crate::interface::emm::churn_and_stress::FailedRequests;
use crate::interface::emm::subject::{HostFlags, Memory};
use crate::step_result::{NoResult, driver_error, error_of_worker, facts};

/// Bytes that can be written and read back.
#[derive(Clone, Copy)]
enum Location {
    Device(u64),
    Host(usize),
}

impl EmmCase<'_> {
    pub(crate) fn host_buffer(&mut self, wanted: &shared::HostBuffer) -> Result<Facts, NoResult> {
        let size_bytes = wanted.size;
        let buffer = HostBuffer::new(size_bytes, wanted.offset).map_err(|error| {
            error_of_worker(
                "MemoryError",
                format!("host_buffer of {size_bytes} bytes: {error}"),
                None,
            )
        })?;
        let facts =
            facts([("host_pointer", json!(buffer.address())), ("size_bytes", json!(size_bytes))]);
        self.bindings.bind(&wanted.r#as, Bound::Buffer(Arc::new(buffer)));
        Ok(facts)
    }

    pub(crate) fn memalloc(&mut self, on: &str, size: i128, name: &str) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let Ok(size_bytes) = u64::try_from(size) else {
            let message = format!(
                "the contract's sizes are 64-bit and unsigned, so {size} cannot be asked for"
            );
            return Err(error_of_worker("OverflowError", message, None).into());
        };
        let memory = owner.manager.memalloc(size_bytes)?;
        Ok(self.bind_memory(name, owner, memory, size_bytes, None))
    }

    /// `times` allocations under one name.
    pub(crate) fn memalloc_many(
        &mut self,
        on: &str,
        size_bytes: u64,
        times: u64,
        name: &str,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let (mut tokens, mut failed) = (Vec::new(), FailedRequests::default());
        for _ in 0..times {
            match owner.manager.memalloc(size_bytes) {
                Ok(memory) => {
                    tokens.push(Token { owner: Arc::clone(&owner), memory, _buffer: None });
                }
                Err(raised) => failed.note(&raised),
            }
        }
        self.bindings.bind(name, Bound::Memories(tokens));
        Ok(failed.facts())
    }

    pub(crate) fn memhostalloc(
        &mut self,
        on: &str,
        size_bytes: u64,
        flags: HostFlags,
        name: &str,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let memory = owner.manager.memhostalloc(size_bytes, flags)?;
        let driver = self.driver()?;
        let flags = self
            .recorder
            .as_harness(|| driver.mem_host_get_flags(memory.host_pointer as usize))
            .ok();
        let mut found = self.bind_memory(name, owner, memory, size_bytes, None);
        found.extend(facts([
            ("portable", json!(flags.map(|flags| flags.portable))),
            ("write_combined", json!(flags.map(|flags| flags.write_combined))),
        ]));
        Ok(found)
    }

    pub(crate) fn mempin(
        &mut self,
        on: &str,
        buffer: &str,
        mapped: bool,
        name: &str,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let buffer = self.bindings.buffer(buffer)?;
        let memory = owner.manager.mempin(buffer.address(), buffer.size_bytes, mapped)?;
        let size_bytes = buffer.size_bytes;
        Ok(self.bind_memory(name, owner, memory, size_bytes, Some(buffer)))
    }

    /// Binds what came back, if anything did.
    fn bind_memory(
        &mut self,
        name: &str,
        owner: Arc<CaseManager>,
        memory: Memory,
        size_bytes: u64,
        buffer: Option<Arc<HostBuffer>>,
    ) -> Facts {
        if !is_nothing(&memory) {
            let token = Arc::new(Token { owner, memory, _buffer: buffer });
            self.bindings
                .bind(name, Bound::Memory(NamedMemory { token, offset_bytes: 0, size_bytes }));
        }
        memory_facts(&memory)
    }

    pub(crate) fn view(
        &mut self,
        of: &str,
        offset: u64,
        size_bytes: u64,
        name: &str,
    ) -> Result<Facts, NoResult> {
        let whole = self.bindings.memory(of)?;
        let token = Arc::clone(&whole.token);
        let offset_bytes = whole.offset_bytes.wrapping_add(offset);
        let shifted =
            |pointer: u64| if pointer == 0 { 0 } else { pointer.wrapping_add(offset_bytes) };
        let memory = Memory {
            pointer: shifted(token.memory.pointer),
            host_pointer: shifted(token.memory.host_pointer),
            size_bytes,
            ..token.memory
        };
        self.bindings.bind(name, Bound::Memory(NamedMemory { token, offset_bytes, size_bytes }));
        Ok(memory_facts(&memory))
    }

    /// The host's last reference goes. What is not memory of a subject has no finalizer.
    pub(crate) fn drop_name(&mut self, name: &str) -> Result<Facts, NoResult> {
        let holding = match self.bindings.take(name)? {
            Bound::Memory(holding) => holding,
            Bound::Memories(tokens) => {
                let finalized = tokens.into_iter().map(let_go).collect::<Result<Vec<_>, _>>()?;
                let all = finalized.into_iter().all(|one| one);
                return Ok(facts([("finalized", json!(all))]));
            }
            _ => return Ok(Facts::new()),
        };
        self.bindings.bind(name, Bound::Dropped(holding.token.memory.token));
        let finalized = Arc::into_inner(holding.token).map_or(Ok(false), let_go)?;
        Ok(facts([("finalized", json!(finalized))]))
    }

    pub(crate) fn fill(
        &mut self,
        memory: &str,
        byte: u8,
        offset: u64,
        size: Option<u64>,
    ) -> Result<Facts, NoResult> {
        let (place, size_bytes) = self.place(memory, offset, size, false)?;
        match place {
            Location::Device(pointer) => {
                let driver = self.driver()?;
                let fill = || fill_device(driver, pointer, byte, size_bytes);
                self.recorder.as_harness(fill).map_err(driver_error)?;
            }
            Location::Host(address) => {
                host_bytes::fill(address, size_bytes, byte)?;
            }
        }
        Ok(Facts::new())
    }

    /// `device`: by way of the device address, also where there is one of the host.
    pub(crate) fn read(
        &mut self,
        memory: &str,
        offset: u64,
        size: Option<u64>,
        device: bool,
    ) -> Result<Facts, NoResult> {
        let (place, size_bytes) = self.place(memory, offset, size, device)?;
        let driver = self.driver;
        let recorder = self.recorder;
        host_bytes::read_uniform(size_bytes, |at, target| match place {
            Location::Device(pointer) => {
                let driver = driver.ok_or_else(|| driver_error(DriverError::Missing))?;
                // SAFETY: as in fill_device.
                let copy =
                    || unsafe { driver.memcpy_dtoh(target, pointer.wrapping_add(at as u64)) };
                Ok(recorder.as_harness(copy).map_err(driver_error)?)
            }
            Location::Host(address) => {
                Ok(host_bytes::read_chunk(address.wrapping_add(at), target, size_bytes)?)
            }
        })
    }

    /// Where the bytes of a name lie, from `offset` on, and how many are meant.
    fn place(
        &self,
        name: &str,
        offset: u64,
        size: Option<u64>,
        device: bool,
    ) -> Result<(Location, u64), NoResult> {
        let (place, whole) = match self.bindings.get(name) {
            Some(Bound::Buffer(buffer)) => (Location::Host(buffer.address()), buffer.size_bytes),
            _ => {
                let holding = self.bindings.memory(name)?;
                let memory = &holding.token.memory;
                let place = match memory.host_pointer {
                    host if host == 0 || device => {
                        Location::Device(memory.pointer.wrapping_add(holding.offset_bytes))
                    }
                    host => Location::Host(host.wrapping_add(holding.offset_bytes) as usize),
                };
                (place, holding.size_bytes)
            }
        };
        let place = match place {
            Location::Device(pointer) => Location::Device(pointer.wrapping_add(offset)),
            Location::Host(address) => Location::Host(address.wrapping_add(offset as usize)),
        };
        Ok((place, size.unwrap_or_else(|| whole.saturating_sub(offset))))
    }
}

/// Releases the memory, unless its manager is gone. Says whether it did.
fn let_go(token: Token) -> Result<bool, NoResult> {
    if token.owner.is_gone() {
        return Ok(false);
    }
    token.owner.manager.release(token.memory.token)?;
    Ok(true)
}

/// Nothing came back: an untouched `out` structure.
fn is_nothing(memory: &Memory) -> bool {
    memory.token == 0 && memory.pointer == 0 && memory.host_pointer == 0
}

fn memory_facts(memory: &Memory) -> Facts {
    let kind: Value = match memory.kind {
        _ if is_nothing(memory) => "none".into(),
        KIND_DEVICE => "device".into(),
        KIND_PINNED => "pinned".into(),
        KIND_MAPPED => "mapped".into(),
        other => format!("unknown({other})").into(),
    };
    facts([
        ("kind", kind),
        ("type", json!("allocert_emm_memory")),
        ("pointer", json!(memory.pointer)),
        ("host_pointer", json!(memory.host_pointer)),
        ("size_bytes", json!(memory.size_bytes)),
        ("token", json!(memory.token)),
    ])
}
