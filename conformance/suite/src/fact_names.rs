//! The names of all facts, so that a misspelt one in a fixture is found when the fixture is read.
//!
//! `docs/fixtures` says what they are and which operation has them; a test compares the two.

/// Of steps, and of calls that `with` looks at. Those of `launch` are names of arrays instead.
#[rustfmt::skip]
pub const FACT_NAMES: &[&str] = &[
    "abstract", "accepted", "aligned", "alive", "attribute_reads", "base", "base_is_memory",
    "bases", "beside", "blocks", "buffer_bytes", "bytes", "bytes_read", "capsule_name", "changed",
    "closed_contexts", "constructible", "context", "context_is_none", "context_matches", "damaged",
    "description", "device", "dirty", "edited", "effective_strides", "elsize", "ended", "equal",
    "error", "failed", "failed_calloc", "failed_guessed", "failed_realloc", "failed_without",
    "fields", "finalized", "first_failure", "free_bytes", "got", "growing_bytes",
    "growing_more_bytes", "grown", "grown_bytes", "handle", "handle_bytes", "handler", "has",
    "has_finalizer", "has_release", "holds_context", "host_pointer", "imported", "initialized",
    "initialized_driver", "inside", "instantiable", "interface_version", "interface_version_type",
    "items", "keeps_owner", "kept", "kept_bytes", "keys", "kind", "leaked", "leaked_bytes",
    "least_stride", "leaves_current", "live", "lost_fields", "lost_realloc", "made_by", "made_with",
    "main_thread", "manager", "manager_is_plugin", "manager_is_subject", "manager_type", "mapped",
    "memory", "method", "misaligned", "miscounted", "moments", "name", "name_ends", "named",
    "nelem", "new_size", "none", "null_functions", "null_members", "number", "offset_bytes",
    "opened", "out_of_memory", "outside", "overlaps", "own_context_current", "owner",
    "owner_begins_there", "owner_is_none", "pointer", "pointer_type", "portable", "previous", "ptr",
    "public", "raised", "read_only", "references", "registration", "reserved", "resize_error",
    "right", "same_handle", "same_manager", "same_offset", "same_size", "same_table", "shape",
    "size", "size_bytes", "source_matches", "stated_bytes", "stops", "stream", "stream_context",
    "stream_flags", "strides", "swallowed", "text", "times", "total_bytes", "truths", "type",
    "typestr", "unchanged", "uniform", "valid", "values", "version", "warned", "wc", "writable",
    "write_combined",
];
