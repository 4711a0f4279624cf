//! What a call of a NumPy allocation handler does to memory. NEP 49, "Implementation".

use allocert_contract::trace::{Call, handler::Function};

use crate::effect::{Effect, FreeAnswer, MemorySource};

pub(crate) fn memory_effect(function: Function, call: &Call) -> Effect {
    let ([_, a, b, ..], [out, ..]) = (call.args, call.out);
    let source = MemorySource::Heap;
    match function {
        Function::Malloc => Effect::Take { start: out, size_bytes: a, source },
        Function::Calloc => Effect::Take { start: out, size_bytes: a.saturating_mul(b), source },
        Function::Realloc => Effect::Resize { from: a, to: out, size_bytes: b, source },
        Function::Free => Effect::Give { start: a, source },
    }
}

/// `free` returns nothing.
pub(crate) fn free_answer() -> FreeAnswer {
    FreeAnswer::NoAnswer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_the_order_of_the_c_declarations() {
        let source = MemorySource::Heap;
        let effect = |function: Function, args: [u64; 3], out: u64| {
            let [ctx, a, b] = args;
            let call = Call {
                function: allocert_contract::trace::Function::Handler(function),
                args: [ctx, a, b, 0, 0, 0, 0, 0],
                out: [out, 0, 0],
                result: Some(0),
                per_thread: false,
                injected: false,
            };
            Effect::of(&call)
        };
        let taken = |size_bytes| Effect::Take { start: 0x1000, size_bytes, source };
        assert_eq!(effect(Function::Malloc, [7, 64, 0], 0x1000), taken(64));
        assert_eq!(effect(Function::Calloc, [7, 8, 16], 0x1000), taken(128));
        assert_eq!(
            effect(Function::Realloc, [7, 0x1000, 256], 0x2000),
            Effect::Resize { from: 0x1000, to: 0x2000, size_bytes: 256, source }
        );
        assert_eq!(
            effect(Function::Free, [7, 0x1000, 64], 0),
            Effect::Give { start: 0x1000, source }
        );
    }
}
