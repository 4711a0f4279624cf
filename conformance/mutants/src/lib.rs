//! Native subjects that are built to break requirements. `mutants.yaml` names the requirements of
//! each, and `tests/kill.rs` checks that the suite finds them.
//!
//! [`emm`] holds the mutants of Numba's External Memory Manager interface, [`nep49`] those of
//! NumPy's data-allocation handlers, [`place`] those of allocators of memory by place. Mutants in
//! Python are in `python/allocert_mutants`.

#![expect(
    unsafe_code,
    reason = "exports C symbols, calls the reference through its C table, and misbehaves"
)]

mod emm;
mod nep49;
mod place;
