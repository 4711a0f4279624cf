//! Mutants of NumPy's data-allocation handlers (NEP 49). Each is a `PyDataMem_Handler` under a
//! symbol. Their functions are those of [`conforming`], but for the one that is broken.

mod cache_of_thread;
mod calloc;
mod conforming;
mod counted;
mod crash_hang_output;
mod cut_blocks;
mod foreign_free;
mod free;
mod full_list;
mod full_table;
mod large_mapped;
mod later;
mod leaks;
mod lock_free;
mod malloc;
mod mapped;
mod realloc;
mod shared_scratch;
mod shrinks;
mod sizes_of_32_bits;
mod slots;
mod stale_size;
mod structure;
mod thread_of_block;
mod used_up;
