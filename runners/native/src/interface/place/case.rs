//! One case in progress, and how each operation is done.

use std::collections::{BTreeSet, HashMap};

use allocert_abi::place::{CUDA, Place};
use allocert_cuda::{Driver, Stream};
use allocert_suite::interface::shared::{Attach, Drop, Fill, HostBuffer as WantedBuffer, Read};
use allocert_suite::interface::{self, place, place::Operation};
use allocert_suite::nouns::Name;
use allocert_suite::observation::{Facts, Outcome, TableCalls};
use serde_json::json;

use crate::checked_memory;
use crate::churn_and_stress::{Block, Sizes, churn, stress};
use crate::host_buffer::HostBuffer;
use crate::interface::place::block_source::{DEFAULT_STREAM, PlaceBlocks};
use crate::interface::place::calls::PlaceCalls;
use crate::interface::place::exported::Exported;
use crate::interface::place::unrecorded::interleaved;

use crate::named_blocks::NamedBlocks;
use crate::protocol::Step;
use crate::recorder::Recorder;
use crate::shared_operations;
use crate::step_result::{NoResult, error_of_worker, facts, outcome, unsupported};
use crate::subject::CaseRun;

pub(crate) struct PlaceCase<'a> {
    exported: &'a Exported,
    recorder: &'a Recorder,
    calls: PlaceCalls<'a>,
    blocks: NamedBlocks<PlacedBlock>,
    /// Blocks that were freed, for a case that frees them again.
    freed: HashMap<Name, PlacedBlock>,
    buffers: HashMap<Name, HostBuffer>,
    streams: HashMap<Name, Stream>,
    /// Memory of devices that the worker took, by device and address.
    occupied: HashMap<Name, (u32, u64)>,
    amounts: HashMap<Name, u64>,
    /// Where a step took memory.
    places: BTreeSet<(i32, i32)>,
}

#[derive(Debug, Clone, Copy)]
struct PlacedBlock {
    place: Place,
    block: Block,
    /// The stream that it was taken for.
    stream: u64,
}

impl<'a> PlaceCase<'a> {
    pub(crate) fn new(
        exported: &'a Exported,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Self {
        Self {
            exported,
            recorder,
            calls: PlaceCalls::new(exported, recorder, driver),
            blocks: NamedBlocks::default(),
            freed: HashMap::new(),
            buffers: HashMap::new(),
            streams: HashMap::new(),
            occupied: HashMap::new(),
            amounts: HashMap::new(),
            places: BTreeSet::new(),
        }
    }
}

impl CaseRun for PlaceCase<'_> {
    fn perform(&mut self, step: &Step) -> Outcome {
        match &step.r#do {
            interface::Operation::Place(operation) => outcome(self.operation(operation)),
            other => unsupported(other),
        }
    }

    fn table_calls(&self) -> Option<TableCalls> {
        self.calls.taken_notes()
    }
}

impl PlaceCase<'_> {
    fn operation(&mut self, operation: &Operation) -> Result<Facts, NoResult> {
        match operation {
            Operation::Fault(fault) => shared_operations::fault(self.recorder, fault),
            Operation::ClearFaults {} => shared_operations::clear_faults(self.recorder),
            Operation::Environment(variable) => shared_operations::environment(variable),
            Operation::Attach(Attach { device }) => self.attach(Some(*device)),
            Operation::Detach {} => self.attach(None),
            Operation::HostBuffer(wanted) => self.host_buffer(wanted),
            Operation::Occupy { device, size, r#as } => {
                let address = self.calls.memory().occupy(*device, *size)?;
                self.occupied.insert(r#as.clone(), (*device, address));
                Ok(facts([("size_bytes", json!(size))]))
            }
            Operation::Describe {} => self.describe(),
            Operation::Stream { device, r#as } => {
                let stream = self.calls.memory().new_stream(*device)?;
                self.streams.insert(r#as.clone(), stream);
                Ok(Facts::new())
            }
            Operation::QueueFill { memory, byte, stream } => {
                let placed = self.blocks.get(memory)?;
                let stream = self.stream(stream)?;
                self.calls.memory().queue_fill(placed.place, placed.block, *byte, stream)?;
                Ok(Facts::new())
            }
            Operation::Synchronize { stream } => {
                self.calls.memory().synchronize(self.stream(stream)?)?;
                Ok(Facts::new())
            }
            Operation::Alloc { place, size, r#as, stream } => {
                let stream = match stream {
                    Some(stream) => self.stream(stream)?.handle().0,
                    None => DEFAULT_STREAM,
                };
                self.alloc(c_place(*place), *size, r#as, stream)
            }
            Operation::Drop(Drop { name }) => self.drop_name(name),
            Operation::FreeNull { place } => {
                self.calls.free_null(c_place(*place))?;
                Ok(Facts::new())
            }
            Operation::FreeAddress { place, memory, offset } => {
                let address = self.address(memory)?;
                self.free_address(c_place(*place), address.wrapping_add(*offset))
            }
            Operation::Used { place, since, r#as } => {
                self.used(c_place(*place), since.as_deref(), r#as.as_deref())
            }
            Operation::Release { place } => {
                let bytes = self.calls.release(c_place(*place))?;
                Ok(facts([("bytes", json!(bytes))]))
            }
            Operation::ReleaseAll {} => self.release_all(),
            Operation::ContextOf { memory } => {
                let PlacedBlock { place, block, .. } = self.blocks.get(memory)?;
                let context = self.calls.memory().context_of(place, block.address)?;
                Ok(facts([("context", json!(context))]))
            }
            Operation::LastError {} => self.last_error(),
            Operation::Fill(fill) => self.fill(fill),
            Operation::Read(read) => self.read(read),
            Operation::Churn { place, size, times, hold, then } => {
                let sizes = Sizes { first_bytes: *size, then_bytes: *then };
                churn(self.blocks_at(*place), sizes, *times, *hold)
            }
            Operation::Stress { place, threads, size, times } => {
                stress(self.blocks_at(*place), *threads, *size, *times)
            }
            Operation::Interleave { place, size, instructions } => {
                let blocks = self.blocks_at(*place);
                blocks.calls.ask_for(blocks.place)?;
                interleaved(blocks, *size, *instructions)
            }
        }
    }

    fn describe(&self) -> Result<Facts, NoResult> {
        match self.exported {
            Exported::Table(table) => Ok(table.describe()),
            Exported::Functions(_) => {
                Err(NoResult::Declined { because: "the library has no table".to_owned() })
            }
        }
    }

    fn attach(&self, device: Option<u32>) -> Result<Facts, NoResult> {
        self.calls.memory().set_current(device)?;
        Ok(Facts::new())
    }

    fn host_buffer(&mut self, wanted: &WantedBuffer) -> Result<Facts, NoResult> {
        let size_bytes = wanted.size;
        let buffer = HostBuffer::new(size_bytes, wanted.offset).map_err(|error| {
            let message = format!("host_buffer of {size_bytes} bytes: {error}");
            error_of_worker("MemoryError", message, None)
        })?;
        let found =
            facts([("host_pointer", json!(buffer.address())), ("size_bytes", json!(size_bytes))]);
        self.buffers.insert(wanted.r#as.clone(), buffer);
        Ok(found)
    }

    fn stream(&self, name: &Name) -> Result<&Stream, NoResult> {
        self.streams.get(name).ok_or_else(|| NoResult::Skipped { because: name.to_string() })
    }

    fn alloc(
        &mut self,
        place: Place,
        size_bytes: u64,
        name: &str,
        stream: u64,
    ) -> Result<Facts, NoResult> {
        self.places.insert((place.kind, place.device));
        let (address, is_kept) = self.calls.alloc(place, size_bytes, stream)?;
        let block = Block { address, size_bytes };
        if address != 0 {
            self.blocks.bind(name, PlacedBlock { place, block, stream });
        }
        Ok(facts([
            ("kind", json!(if address == 0 { "none" } else { "block" })),
            ("pointer", json!(address)),
            ("host_pointer", json!(if place.kind == CUDA { 0 } else { address })),
            ("size_bytes", json!(size_bytes)),
            ("device", json!(self.calls.memory().device_of(place, address))),
            ("leaves_current", json!(is_kept)),
            ("stated_bytes", json!(null)),
        ]))
    }

    /// A buffer of the worker stays until the case ends.
    fn drop_name(&mut self, name: &str) -> Result<Facts, NoResult> {
        if self.buffers.contains_key(name) {
            return Ok(Facts::new());
        }
        if let Some((device, address)) = self.occupied.remove(name) {
            self.calls.memory().vacate(device, address)?;
            return Ok(Facts::new());
        }
        if let Some(stream) = self.streams.remove(name) {
            self.calls.memory().end_stream(stream);
            return Ok(Facts::new());
        }
        let placed = self.blocks.take(name)?;
        self.freed.insert(name.into(), placed);
        let is_kept = self.calls.free(placed.place, placed.block, placed.stream)?;
        Ok(facts([("leaves_current", json!(is_kept))]))
    }

    fn free_address(&self, place: Place, address: u64) -> Result<Facts, NoResult> {
        self.calls.free_address(place, address)?;
        Ok(Facts::new())
    }

    /// Where a block or a buffer begins, or began.
    fn address(&self, name: &str) -> Result<u64, NoResult> {
        if let Some(buffer) = self.buffers.get(name) {
            return Ok(buffer.address() as u64);
        }
        let freed = self.freed.get(name).copied();
        Ok(freed.map_or_else(|| self.blocks.get(name), Ok)?.block.address)
    }

    fn used(
        &mut self,
        place: Place,
        since: Option<&str>,
        name: Option<&str>,
    ) -> Result<Facts, NoResult> {
        let earlier = match since {
            Some(since) => Some(
                self.amounts
                    .get(since)
                    .copied()
                    .ok_or_else(|| NoResult::Skipped { because: since.to_owned() })?,
            ),
            None => None,
        };
        let bytes = self.calls.used(place)?;
        if let Some(name) = name {
            self.amounts.insert(name.into(), bytes);
        }
        let mut found = facts([("bytes", json!(bytes))]);
        if let Some(earlier) = earlier {
            let grown = i128::from(bytes) - i128::from(earlier);
            let limited =
                i64::try_from(grown).unwrap_or(if grown < 0 { i64::MIN } else { i64::MAX });
            found.extend(facts([("grown", json!(limited))]));
        }
        Ok(found)
    }

    /// What fails here leaves memory, which the judge finds.
    fn release_all(&self) -> Result<Facts, NoResult> {
        let Exported::Table(table) = self.exported else { return Ok(Facts::new()) };
        let has_release = table.allocator().release.is_some();
        if has_release {
            for (kind, device) in &self.places {
                let _ = self.calls.release(Place { kind: *kind, device: *device });
            }
        }
        Ok(facts([("has_release", json!(has_release))]))
    }

    fn last_error(&self) -> Result<Facts, NoResult> {
        let because = || "the library has no last_error".to_owned();
        let address =
            self.calls.last_error().ok_or_else(|| NoResult::Declined { because: because() })?;
        Ok(facts([("text", json!(checked_memory::utf8(address)))]))
    }

    fn fill(&self, fill: &Fill) -> Result<Facts, NoResult> {
        let placed = self.range(&fill.memory, fill.offset, fill.size)?;
        self.calls.memory().fill(placed.place, placed.block, fill.byte)?;
        Ok(Facts::new())
    }

    fn read(&self, read: &Read) -> Result<Facts, NoResult> {
        let placed = self.range(&read.memory, read.offset, read.size)?;
        Ok(self.calls.memory().read(placed.place, placed.block)?)
    }

    /// The bytes of a block from `offset` on: `size` of them, or all. A buffer is memory of the
    /// host.
    fn range(&self, name: &str, offset: u64, size: Option<u64>) -> Result<PlacedBlock, NoResult> {
        let whole = match self.buffers.get(name) {
            Some(buffer) => {
                let (address, size_bytes) = (buffer.address() as u64, buffer.size_bytes);
                let block = Block { address, size_bytes };
                PlacedBlock { place: Place::CPU, block, stream: DEFAULT_STREAM }
            }
            None => self.blocks.get(name)?,
        };
        let Block { address, size_bytes } = whole.block;
        let size_bytes = size.unwrap_or_else(|| size_bytes.saturating_sub(offset));
        let block = Block { address: address.wrapping_add(offset), size_bytes };
        Ok(PlacedBlock { block, ..whole })
    }

    /// The blocks of a place. No function is called, so that the first call of a churn or a stress
    /// can be the first one of the process.
    fn blocks_at(&mut self, place: place::Place) -> PlaceBlocks<'_> {
        let place = c_place(place);
        self.places.insert((place.kind, place.device));
        PlaceBlocks { calls: &self.calls, memory: self.calls.memory(), place }
    }
}

fn c_place(place: place::Place) -> Place {
    Place { kind: place.kind.number(), device: place.device }
}
