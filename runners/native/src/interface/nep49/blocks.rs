//! The blocks that the steps of a case have named.

use std::collections::HashMap;

use allocert_suite::nouns::Name;

use crate::step_result::NoResult;

/// A block that the handler gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) address: usize,
    /// As asked for.
    pub(crate) size_bytes: u64,
}

/// The table of names. A name that a step asks for and that is not here is one that an earlier step
/// failed to bind: the plan refuses all others.
#[derive(Debug, Default)]
pub(crate) struct Blocks(HashMap<Name, Block>);

impl Blocks {
    /// Binds the name, unless the block is null.
    pub(crate) fn bind(&mut self, name: &str, block: Block) {
        if block.address != 0 {
            self.0.insert(name.into(), block);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Result<Block, NoResult> {
        self.0.get(name).copied().ok_or_else(|| missing(name))
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Block, NoResult> {
        self.0.remove(name).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> NoResult {
    NoResult::Skipped { because: name.to_owned() }
}
