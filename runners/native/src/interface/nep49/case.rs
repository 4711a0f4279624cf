//! One case in progress, and how each operation is done.

use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::interface::{self, OperationSet, nep49::Operation};
use allocert_suite::observation::{Facts, Outcome, TableCalls};
use serde_json::json;

use crate::churn_and_stress::{Block, Sizes, churn, stress};
use crate::host_bytes;
use crate::interface::nep49::handler::{HandlerCalls, LoadedHandler};
use crate::interface::nep49::leak_rounds::leak_rounds;
use crate::interface::nep49::many_rounds::many_rounds;
use crate::interface::nep49::sparse_block::sparse_block;
use crate::interface::nep49::{
    counted_rounds, guessed_size, handed_rounds, resized_rounds, thread_rounds, zeroed_rounds,
};
use crate::interleave::interleave;
use crate::named_blocks::NamedBlocks;
use crate::protocol::Step;
use crate::recorder::Recorder;
use crate::shared_operations;
use crate::step_result::{NoResult, facts, outcome, unsupported};
use crate::subject::CaseRun;

pub(crate) struct HandlerCase<'a> {
    handler: &'a LoadedHandler,
    calls: HandlerCalls<'a>,
    blocks: NamedBlocks<Block>,
}

impl<'a> HandlerCase<'a> {
    pub(crate) fn new(handler: &'a LoadedHandler, recorder: &'a Recorder) -> Self {
        Self { handler, calls: handler.calls(recorder), blocks: NamedBlocks::default() }
    }
}

impl CaseRun for HandlerCase<'_> {
    fn perform(&mut self, step: &Step) -> Outcome {
        match &step.r#do {
            interface::Operation::Nep49(operation) => outcome(self.operation(operation)),
            other => unsupported(other),
        }
    }

    fn table_calls(&self) -> Option<TableCalls> {
        None
    }
}

impl HandlerCase<'_> {
    fn operation(&mut self, operation: &Operation) -> Result<Facts, NoResult> {
        match operation {
            Operation::Environment(variable) => shared_operations::environment(variable),
            Operation::Describe {} => Ok(self.handler.describe()),
            Operation::Malloc { size, r#as } => {
                let address = self.calls.malloc(*size)?;
                Ok(self.bind(r#as, address, *size))
            }
            Operation::Calloc { nelem, elsize, r#as } => {
                let address = self.calls.calloc(*nelem, *elsize)?;
                Ok(self.bind(r#as, address, nelem.saturating_mul(*elsize)))
            }
            Operation::Realloc { block, size, r#as } => self.realloc(block, *size, r#as),
            Operation::ReallocTooMuch { block, size } => self.realloc(block, *size, block),
            Operation::ReallocNull { size, r#as } => {
                let address = self.calls.realloc(0, *size)?;
                Ok(self.bind(r#as, address, *size))
            }
            Operation::Drop(Drop { name }) => {
                let block = self.blocks.take(name)?;
                self.free(block.address as usize, block.size_bytes)
            }
            Operation::FreeWithSize { block, size } => {
                let block = self.blocks.take(block)?;
                self.free(block.address as usize, *size)
            }
            Operation::FreeNull { size } => self.free(0, *size),
            Operation::Fill(fill) => self.fill(fill),
            Operation::Read(read) => self.read(read),
            Operation::SparseBlock { by, size, r#as } => {
                let block = sparse_block(self.calls, *by, *size)?;
                Ok(self.bind(r#as, block.address as usize, *size))
            }
            Operation::Churn { size, times, hold } => {
                churn(self.calls, Sizes { first_bytes: *size, then_bytes: None }, *times, *hold)
            }
            Operation::Stress { threads, size, times } => {
                stress(self.calls, *threads, *size, *times)
            }
            Operation::FreeGuessed { size, guess, blocks } => {
                guessed_size::free_guessed(self.calls, *size, *guess, *blocks)
            }
            Operation::GuessedRounds { size, guess, times } => {
                guessed_size::guessed_rounds(self.calls, *size, *guess, *times)
            }
            Operation::ResizedRounds { size, new_size, times } => {
                resized_rounds::resized_rounds(self.calls, *size, *new_size, *times)
            }
            Operation::CountedRounds { size, new_size, guess, times } => {
                counted_rounds::counted_rounds(self.calls, *size, *new_size, *guess, *times)
            }
            Operation::ZeroedRounds { size, times } => {
                zeroed_rounds::zeroed_rounds(self.calls, *size, *times)
            }
            Operation::ManyRounds { size, times, hold } => {
                Ok(many_rounds(self.calls, *size, *times, *hold)?)
            }
            Operation::LeakRounds { by, size, hold } => leak_rounds(self.calls, *by, *size, *hold),
            Operation::HandedRounds { size, times } => {
                handed_rounds::handed_rounds(self.calls, *size, *times)
            }
            Operation::ThreadRounds { blocks, size, times } => {
                thread_rounds::thread_rounds(self.calls, *blocks, *size, *times)
            }
            Operation::Interleave { size, instructions } => {
                interleave(self.calls.unrecorded()?, *size, *instructions)
            }
            Operation::NpName {}
            | Operation::NpMake { .. }
            | Operation::NpCompare { .. }
            | Operation::NpResize { .. }
            | Operation::NpRead { .. }
            | Operation::NpRefuse { .. }
            | Operation::NpOutlive {}
            | Operation::NpSort { .. }
            | Operation::NpThreads { .. } => Err(NoResult::unsupported(operation.name())),
        }
    }

    fn bind(&mut self, name: &str, address: usize, size_bytes: u64) -> Facts {
        if address != 0 {
            self.blocks.bind(name, Block { address: address as u64, size_bytes });
        }
        facts([
            ("kind", json!(if address == 0 { "none" } else { "block" })),
            ("pointer", json!(address)),
            ("size_bytes", json!(size_bytes)),
        ])
    }

    /// Where null comes back the old block stays under its name.
    fn realloc(&mut self, block: &str, size: u64, name: &str) -> Result<Facts, NoResult> {
        let address = self.calls.realloc(self.blocks.get(block)?.address as usize, size)?;
        if address != 0 {
            self.blocks.take(block)?;
        }
        Ok(self.bind(name, address, size))
    }

    fn free(&mut self, address: usize, size: u64) -> Result<Facts, NoResult> {
        self.calls.free(address, size)?;
        Ok(Facts::new())
    }

    fn fill(&mut self, fill: &Fill) -> Result<Facts, NoResult> {
        let (address, size_bytes) = self.range(&fill.memory, fill.offset, fill.size)?;
        let filled = host_bytes::fill(address, size_bytes, fill.byte);
        if filled.is_err() {
            // What a later step reads there would be blamed on another function.
            self.blocks.take(&fill.memory)?;
        }
        filled?;
        Ok(Facts::new())
    }

    fn read(&mut self, read: &Read) -> Result<Facts, NoResult> {
        let (address, size_bytes) = self.range(&read.memory, read.offset, read.size)?;
        Ok(host_bytes::read_uniform(size_bytes, |at, target| {
            host_bytes::read_chunk(address.wrapping_add(at), target, size_bytes)
        })?)
    }

    /// The bytes of a block from `offset` on: `size` of them, or all.
    fn range(&self, name: &str, offset: u64, size: Option<u64>) -> Result<(usize, u64), NoResult> {
        let block = self.blocks.get(name)?;
        let rest = block.size_bytes.saturating_sub(offset);
        Ok((block.address.wrapping_add(offset) as usize, size.unwrap_or(rest)))
    }
}
