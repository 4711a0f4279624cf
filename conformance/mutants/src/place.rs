//! Mutants of allocators of memory by place (`allocert_place.h`). Each is a table under a symbol.
//! They are a [`Base`](base_allocator::Base), which conforms, with one
//! [`Mutation`](mutation::Mutation). Those of [`torch`] and [`cupy_and_malloc`] are two functions.

mod alloc;
mod base_allocator;
mod chosen_before;
mod crash_hang_output;
mod cupy_and_malloc;
mod driver_calls;
mod driver_fault;
mod free;
mod idle_of_threads;
mod lock_free;
mod lost_lock;
mod mutation;
mod out_of_memory;
mod places;
mod release;
mod system_memory;
mod table;
mod threads;
mod torch;
mod used;
