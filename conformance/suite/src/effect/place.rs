//! What a call of a place's allocator does to memory. Paddle, "Region-based Heterogeneous Memory
//! Management".

use allocert_contract::trace::{
    Call,
    place::{Function, PlaceKind},
};

use crate::effect::{Effect, FreeAnswer, MemorySource};

pub(crate) fn memory_effect(function: Function, call: &Call) -> Effect {
    let ([kind, _, a, ..], [out, ..]) = (call.args, call.out);
    let source = match PlaceKind::from_repr(kind) {
        Some(PlaceKind::Cuda) => MemorySource::Device,
        Some(PlaceKind::CudaPinned) => MemorySource::PageLocked,
        Some(PlaceKind::Cpu) | None => MemorySource::Heap,
    };
    match function {
        Function::Alloc => Effect::Take { start: out, size_bytes: a, source },
        Function::Free => Effect::Give { start: a, source },
        Function::Used | Function::Release => Effect::Nothing,
    }
}

/// `Free` returns nothing; it may raise an error about the address.
pub(crate) fn free_answer(call: &Call) -> FreeAnswer {
    match call.result {
        Some(0) => FreeAnswer::NoAnswer,
        Some(_) | None => FreeAnswer::UnknownAddress,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_from_where_the_place_lies() {
        let effect = |function: Function, args: [u64; 3], out: u64| {
            let [kind, device, a] = args;
            let call = Call {
                function: allocert_contract::trace::Function::Place(function),
                args: [kind, device, a, 0, 0, 0, 0, 0],
                out: [out, 0, 0],
                result: Some(0),
                per_thread: false,
                injected: false,
            };
            Effect::of(&call)
        };
        for (kind, source) in [
            (PlaceKind::Cpu, MemorySource::Heap),
            (PlaceKind::Cuda, MemorySource::Device),
            (PlaceKind::CudaPinned, MemorySource::PageLocked),
        ] {
            assert_eq!(
                effect(Function::Alloc, [kind as u64, 0, 64], 0x1000),
                Effect::Take { start: 0x1000, size_bytes: 64, source }
            );
            assert_eq!(
                effect(Function::Free, [kind as u64, 0, 0x1000], 0),
                Effect::Give { start: 0x1000, source }
            );
        }
        assert_eq!(effect(Function::Release, [0, 0, 0], 4096), Effect::Nothing);
    }
}
