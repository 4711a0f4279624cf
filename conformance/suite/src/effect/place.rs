//! What a call of a place's allocator does to memory. Paddle, "Region-based Heterogeneous Memory
//! Management".

use allocert_contract::trace::{
    Call,
    place::{Function, PlaceKind},
};

use crate::effect::{Effect, FreeAnswer, MemorySource};

pub(crate) fn memory_effect(function: Function, call: &Call) -> Effect {
    let ([kind, _, a, ..], [out, ..]) = (call.args, call.out);
    let source =
        if kind == PlaceKind::Cuda as u64 { MemorySource::Device } else { MemorySource::Heap };
    match function {
        Function::Alloc => Effect::Take { start: out, size_bytes: a, source },
        Function::Free => Effect::Give { start: a, source },
        Function::Used => Effect::Nothing,
    }
}

/// `Free` returns nothing; it may raise an error about the address.
pub(crate) fn free_answer(call: &Call) -> FreeAnswer {
    match call.result {
        Some(0) => FreeAnswer::NoAnswer,
        Some(_) | None => FreeAnswer::UnknownAddress,
    }
}
