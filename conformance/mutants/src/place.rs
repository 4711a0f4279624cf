//! Mutants of allocators of memory by place (`allocert_place.h`). Each is a table under a symbol.
//! They are a [`Base`](base::Base), which conforms, with one [`Mutation`](mutation::Mutation).
//! Those of [`torch`] and [`functions`] are two functions.

mod allocation;
mod base;
mod crash_hang_output;
mod driver_calls;
mod driver_failures;
mod free;
mod functions;
mod mutation;
mod out_of_memory;
mod places;
mod release;
mod system;
mod table;
mod threads;
mod torch;
mod used;
