//! The blocks that the steps of a case have named.

use std::collections::HashMap;

use allocert_suite::nouns::Name;

use crate::step_result::NoResult;

/// Blocks by name. A name that a step asks for and that is not here is one that an earlier step
/// failed to bind: the plan refuses all others.
#[derive(Debug)]
pub(crate) struct NamedBlocks<B>(HashMap<Name, B>);

impl<B> Default for NamedBlocks<B> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<B: Copy> NamedBlocks<B> {
    pub(crate) fn bind(&mut self, name: &str, block: B) {
        self.0.insert(name.into(), block);
    }

    pub(crate) fn get(&self, name: &str) -> Result<B, NoResult> {
        self.0.get(name).copied().ok_or_else(|| missing(name))
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<B, NoResult> {
        self.0.remove(name).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> NoResult {
    NoResult::Skipped { because: name.to_owned() }
}
