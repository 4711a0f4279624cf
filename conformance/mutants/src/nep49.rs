//! Mutants of NumPy's data-allocation handlers (NEP 49). Each is a `PyDataMem_Handler` under a
//! symbol. Their functions are those of [`plain`], but for the one that is broken.

mod allocation;
mod exit;
mod free;
mod lock_free;
mod mapped;
mod plain;
mod realloc;
mod structure;
mod zeroed;
