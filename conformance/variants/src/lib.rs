//! Native subjects that use what the texts leave open. `variants.yaml` names the freedoms that each
//! one uses. `allocert variants` checks that the suite finds no violation of a MUST in them.
//!
//! [`emm`] holds the plugins of Numba's External Memory Manager interface, [`nep49`] handlers of
//! NumPy's data allocation, [`place`] allocators of memory by place. They share no code with the
//! reference subjects. Variants in Python are in `python/allocert_variants`.

#![expect(unsafe_code, reason = "exports C symbols, and names the context that a host hands over")]

mod emm;
mod nep49;
mod place;
