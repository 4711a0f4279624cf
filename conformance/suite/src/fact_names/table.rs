//! The facts of each operation and of each call into a plugin.
//!
//! A test writes this file from the doc comments of the operations and from
//! `docs/fixtures/facts.md`: `ALLOCERT_BLESS=1 cargo test -p allocert-tidy operation_pages`.

use allocert_requirements::Side;

use super::OperationFacts;

#[rustfmt::skip]
pub(super) const OPERATIONS: &[(Side, &[OperationFacts])] = &[
    (Side::CaiConsumer, &[
        OperationFacts::of_step("access", &[
            "bytes_read", "fields", "truths", "typestr", "uniform", "values",
        ]),
        OperationFacts::of_step("alive", &["alive"]),
        OperationFacts::of_step("attach", &[]),
        OperationFacts::of_step("clear_faults", &[]),
        OperationFacts::of_step("collect", &[]),
        OperationFacts::of_step("consume", &[
            "bytes_read", "truths", "typestr", "uniform", "values",
        ]),
        OperationFacts::of_step("detach", &[]),
        OperationFacts::of_step("drop", &["finalized"]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("fault", &[]),
        OperationFacts::of_step("import", &[
            "attribute_reads", "keeps_owner", "pointer", "read_only", "shape", "stream", "strides",
            "type", "typestr", "unchanged", "valid",
        ]),
        OperationFacts::of_step("inspect", &[
            "beside", "bytes_read", "truths", "typestr", "uniform", "values",
        ]),
        OperationFacts::of_step("instantiate", &[]),
        OperationFacts::of_each_name("launch", &[
            "attribute_reads", "pointer", "read_only", "shape", "stream", "strides", "typestr",
            "unchanged", "valid",
        ]),
        OperationFacts::of_step("order", &[]),
        OperationFacts::of_step("pend", &[]),
        OperationFacts::of_step("pend_behind", &[]),
        OperationFacts::of_step("pend_in_front", &[]),
        OperationFacts::of_step("produce", &["base", "keys", "pointer", "size_bytes"]),
        OperationFacts::of_step("reexport", &[
            "description", "edited", "effective_strides", "fields", "keys", "least_stride",
            "memory", "pointer", "read_only", "shape", "stream", "stream_context", "stream_flags",
            "strides", "typestr", "version",
        ]),
        OperationFacts::of_step("release", &[]),
        OperationFacts::of_step("reuse", &[]),
        OperationFacts::of_step("stream", &["handle"]),
        OperationFacts::of_step("subject_stream", &[]),
        OperationFacts::of_step("synchronize", &[]),
        OperationFacts::of_step("use_stream", &[]),
    ]),
    (Side::CaiProducer, &[
        OperationFacts::of_step("alive", &["alive"]),
        OperationFacts::of_step("array", &["read_only"]),
        OperationFacts::of_step("attach", &[]),
        OperationFacts::of_step("clear_faults", &[]),
        OperationFacts::of_step("collect", &[]),
        OperationFacts::of_step("consume", &[
            "bytes_read", "truths", "typestr", "uniform", "values",
        ]),
        OperationFacts::of_step("derive", &[]),
        OperationFacts::of_step("detach", &[]),
        OperationFacts::of_step("drop", &["finalized"]),
        OperationFacts::of_step("edit_export", &[]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("export", &[
            "description", "edited", "effective_strides", "fields", "keys", "least_stride",
            "memory", "pointer", "read_only", "shape", "stream", "stream_context", "stream_flags",
            "strides", "typestr", "version",
        ]),
        OperationFacts::of_step("fault", &[]),
        OperationFacts::of_step("has_interface", &["has"]),
        OperationFacts::of_step("instantiate", &[]),
        OperationFacts::of_step("plain_object", &[]),
        OperationFacts::of_step("read_work", &[]),
        OperationFacts::of_step("stream", &["handle"]),
        OperationFacts::of_step("subject_stream", &[]),
        OperationFacts::of_step("synchronize", &[]),
        OperationFacts::of_step("work", &[]),
    ]),
    (Side::Emm, &[
        OperationFacts::of_step("attach", &[]),
        OperationFacts::of_step("call", &["text"]),
        OperationFacts::of_step("churn", &[
            "changed", "failed", "first_failure", "misaligned", "out_of_memory", "overlaps",
        ]),
        OperationFacts::of_step("clear_faults", &[]),
        OperationFacts::of_step("collect", &[]),
        OperationFacts::of_step("create", &["bases", "holds_context", "type"]),
        OperationFacts::of_step("defer_enter", &["type"]),
        OperationFacts::of_step("defer_exit", &["swallowed", "type"]),
        OperationFacts::of_step("describe", &[
            "abstract", "bases", "error", "instantiable", "interface_version",
            "interface_version_type", "name", "same_table", "version",
        ]),
        OperationFacts::of_step("destroy", &[]),
        OperationFacts::of_step("detach", &[]),
        OperationFacts::of_step("drop", &["finalized"]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("fault", &[]),
        OperationFacts::of_step("fill", &[]),
        OperationFacts::of_step("free", &[]),
        OperationFacts::of_step("get_ipc_handle", &[
            "base_is_memory", "bases", "handle", "handle_bytes", "offset_bytes", "size_bytes",
            "source_matches", "type",
        ]),
        OperationFacts::of_step("get_memory_info", &["free_bytes", "named", "total_bytes", "type"]),
        OperationFacts::of_step("host_buffer", &["host_pointer", "size_bytes"]),
        OperationFacts::of_step("initialize", &["none"]),
        OperationFacts::of_step("memalloc", &[
            "bases", "buffer_bytes", "context_matches", "has_finalizer", "host_pointer", "kind",
            "owner_is_none", "pointer", "pointer_type", "references", "size_bytes", "token", "type",
            "writable",
        ]),
        OperationFacts::of_step("memalloc_many", &["failed", "first_failure", "out_of_memory"]),
        OperationFacts::of_step("memhostalloc", &[
            "bases", "buffer_bytes", "context_matches", "has_finalizer", "host_pointer", "kind",
            "owner_is_none", "pointer", "pointer_type", "portable", "references", "size_bytes",
            "token", "type", "writable", "write_combined",
        ]),
        OperationFacts::of_step("mempin", &[
            "bases", "buffer_bytes", "context_matches", "has_finalizer", "host_pointer", "kind",
            "owner_is_none", "pointer", "pointer_type", "references", "size_bytes", "token", "type",
            "writable",
        ]),
        OperationFacts::of_step("peer_read", &["uniform"]),
        OperationFacts::of_step("pickle", &["same_handle", "same_offset", "same_size"]),
        OperationFacts::of_step("read", &["bytes_read", "uniform"]),
        OperationFacts::of_step("reenter", &["failed", "first_failure", "moments", "overlaps"]),
        OperationFacts::of_step("reset", &["none"]),
        OperationFacts::of_step("stress", &[
            "failed", "first_failure", "out_of_memory", "overlaps",
        ]),
        OperationFacts::of_step("view", &[
            "bases", "buffer_bytes", "context_matches", "has_finalizer", "host_pointer", "kind",
            "owner_is_none", "pointer", "pointer_type", "references", "size_bytes", "token", "type",
            "writable",
        ]),
    ]),
    (Side::EmmHost, &[
        OperationFacts::of_step("clear_faults", &[]),
        OperationFacts::of_step("close", &[]),
        OperationFacts::of_step("close_handle", &[]),
        OperationFacts::of_step("collect", &[]),
        OperationFacts::of_step("copy_to_host", &["bytes_read", "uniform"]),
        OperationFacts::of_step("describe", &[
            "abstract", "bases", "error", "instantiable", "interface_version",
            "interface_version_type", "name", "same_table", "version",
        ]),
        OperationFacts::of_step("describe_host", &[
            "abstract", "bases", "constructible", "initialized_driver", "public",
        ]),
        OperationFacts::of_step("device_array", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("drop", &["finalized"]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("fault", &[]),
        OperationFacts::of_step("fill", &[]),
        OperationFacts::of_step("foreign_handle", &["handle", "offset_bytes", "size_bytes"]),
        OperationFacts::of_step("handle_block", &["bytes_read", "uniform"]),
        OperationFacts::of_step("host_buffer", &["host_pointer", "size_bytes"]),
        OperationFacts::of_step("host_defer_enter", &["type"]),
        OperationFacts::of_step("host_defer_exit", &["swallowed", "type"]),
        OperationFacts::of_step("host_ipc_handle", &[
            "base_is_memory", "bases", "handle", "handle_bytes", "offset_bytes", "size_bytes",
            "source_matches", "type",
        ]),
        OperationFacts::of_step("host_memory", &[
            "bases", "buffer_bytes", "context_matches", "has_finalizer", "host_pointer", "kind",
            "owner_is_none", "pointer", "pointer_type", "references", "size_bytes", "token", "type",
            "writable",
        ]),
        OperationFacts::of_step("host_memory_info", &[
            "free_bytes", "named", "total_bytes", "type",
        ]),
        OperationFacts::of_step("host_object", &[]),
        OperationFacts::of_step("host_reset", &[]),
        OperationFacts::of_step("host_synchronize", &[]),
        OperationFacts::of_step("managed_array", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("mapped_array", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("open_context", &[
            "closed_contexts", "manager_is_plugin", "manager_is_subject", "manager_type",
            "registration", "same_manager",
        ]),
        OperationFacts::of_step("open_handle", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("peer_read", &["uniform"]),
        OperationFacts::of_step("pickle", &["same_handle", "same_offset", "same_size"]),
        OperationFacts::of_step("pin_block", &[]),
        OperationFacts::of_step("pinned_array", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("plugin_fails", &[]),
        OperationFacts::of_step("read", &["bytes_read", "uniform"]),
        OperationFacts::of_step("register", &["warned"]),
        OperationFacts::of_step("register_by_environment", &[]),
        OperationFacts::of_step("select_device", &[]),
        OperationFacts::of_step("slice", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
        OperationFacts::of_step("to_device", &[
            "has_finalizer", "host_pointer", "pointer", "size_bytes", "type",
        ]),
    ]),
    (Side::Nep49, &[
        OperationFacts::of_step("calloc", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("churn", &[
            "changed", "dirty", "failed", "failed_calloc", "failed_realloc", "grown_bytes",
            "lost_realloc", "misaligned", "overlaps",
        ]),
        OperationFacts::of_step("counted_rounds", &["failed", "failed_guessed", "failed_without"]),
        OperationFacts::of_step("describe", &[
            "capsule_name", "lost_fields", "name", "name_ends", "null_functions", "version",
        ]),
        OperationFacts::of_step("drop", &[]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("fill", &[]),
        OperationFacts::of_step("free_guessed", &["changed", "failed", "overlaps"]),
        OperationFacts::of_step("free_null", &[]),
        OperationFacts::of_step("free_with_size", &[]),
        OperationFacts::of_step("guessed_rounds", &[
            "failed", "growing_bytes", "grown_bytes", "kept_bytes",
        ]),
        OperationFacts::of_step("handed_rounds", &["failed", "growing_bytes", "kept_bytes"]),
        OperationFacts::of_step("interleave", &[
            "changed", "failed", "first_damage", "overlaps", "stops",
        ]),
        OperationFacts::of_step("leak_rounds", &["failed", "leaked_bytes"]),
        OperationFacts::of_step("malloc", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("many_rounds", &["failed", "growing_bytes", "opened"]),
        OperationFacts::of_step("np_compare", &["equal"]),
        OperationFacts::of_step("np_make", &["equal", "pointer"]),
        OperationFacts::of_step("np_name", &["name", "version"]),
        OperationFacts::of_step("np_outlive", &["equal", "kept"]),
        OperationFacts::of_step("np_read", &["equal"]),
        OperationFacts::of_step("np_refuse", &["equal", "raised"]),
        OperationFacts::of_step("np_resize", &["equal"]),
        OperationFacts::of_step("np_sort", &["equal"]),
        OperationFacts::of_step("np_threads", &["changed"]),
        OperationFacts::of_step("read", &["bytes_read", "uniform"]),
        OperationFacts::of_step("realloc", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("realloc_null", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("realloc_too_much", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("resized_rounds", &[
            "failed", "failed_without", "growing_more_bytes",
        ]),
        OperationFacts::of_step("sparse_block", &["kind", "pointer", "size_bytes"]),
        OperationFacts::of_step("stress", &[
            "changed", "dirty", "failed", "failed_calloc", "failed_realloc", "lost_realloc",
            "misaligned",
        ]),
        OperationFacts::of_step("thread_rounds", &["failed", "growing_more_bytes"]),
        OperationFacts::of_step("zeroed_rounds", &[
            "failed", "failed_without", "growing_more_bytes",
        ]),
    ]),
    (Side::Nep49Host, &[
        OperationFacts::of_step("clear_handler_faults", &[]),
        OperationFacts::of_step("collect", &[]),
        OperationFacts::of_step("compute", &["right"]),
        OperationFacts::of_step("derive", &[
            "aligned", "handler", "owner", "pointer", "shape", "size_bytes", "strides", "version",
        ]),
        OperationFacts::of_step("describe", &[
            "aligned", "handler", "items", "owner", "pointer", "shape", "size_bytes", "strides",
            "version",
        ]),
        OperationFacts::of_step("drop", &["finalized"]),
        OperationFacts::of_step("elsewhere", &["inside", "made_with", "outside"]),
        OperationFacts::of_step("fail_handler", &[]),
        OperationFacts::of_step("guards", &["blocks", "bytes", "damaged"]),
        OperationFacts::of_step("handler", &["got", "leaked", "name", "version"]),
        OperationFacts::of_step("handler_ended", &["ended"]),
        OperationFacts::of_step("handler_of_number", &[]),
        OperationFacts::of_step("install", &["previous"]),
        OperationFacts::of_step("install_previous", &["previous"]),
        OperationFacts::of_step("install_wrong", &["accepted", "error", "handler", "leaked"]),
        OperationFacts::of_step("lent_ended", &["ended"]),
        OperationFacts::of_step("make", &[
            "aligned", "handler", "owner", "pointer", "shape", "size_bytes", "strides", "version",
        ]),
        OperationFacts::of_step("own_foreign", &["handler", "resize_error", "warned"]),
        OperationFacts::of_step("resize", &[
            "aligned", "handler", "items", "owner", "pointer", "shape", "size_bytes", "strides",
            "version",
        ]),
        OperationFacts::of_step("restore", &["previous"]),
        OperationFacts::of_step("subinterpreter", &["imported"]),
        OperationFacts::of_step("trace_memory", &[]),
        OperationFacts::of_step("traced_memory", &["blocks", "bytes"]),
    ]),
    (Side::Place, &[
        OperationFacts::of_step("alloc", &[
            "device", "host_pointer", "kind", "leaves_current", "pointer", "size_bytes",
            "stated_bytes",
        ]),
        OperationFacts::of_step("attach", &[]),
        OperationFacts::of_step("churn", &[
            "changed", "failed", "grown_bytes", "misaligned", "overlaps",
        ]),
        OperationFacts::of_step("clear_faults", &[]),
        OperationFacts::of_step("context_of", &["context"]),
        OperationFacts::of_step("describe", &[
            "interface_version", "name", "null_members", "reserved", "same_table", "size_bytes",
            "version",
        ]),
        OperationFacts::of_step("detach", &[]),
        OperationFacts::of_step("drop", &["leaves_current"]),
        OperationFacts::of_step("environment", &[]),
        OperationFacts::of_step("fault", &[]),
        OperationFacts::of_step("fill", &[]),
        OperationFacts::of_step("free_address", &[]),
        OperationFacts::of_step("free_null", &[]),
        OperationFacts::of_step("host_buffer", &["host_pointer", "size_bytes"]),
        OperationFacts::of_step("interleave", &[
            "changed", "failed", "first_damage", "miscounted", "overlaps", "stops",
        ]),
        OperationFacts::of_step("last_error", &["text"]),
        OperationFacts::of_step("occupy", &["size_bytes"]),
        OperationFacts::of_step("queue_fill", &[]),
        OperationFacts::of_step("read", &["bytes_read", "uniform"]),
        OperationFacts::of_step("release", &["bytes"]),
        OperationFacts::of_step("release_all", &["has_release"]),
        OperationFacts::of_step("stream", &[]),
        OperationFacts::of_step("stress", &["changed", "failed", "misaligned"]),
        OperationFacts::of_step("synchronize", &[]),
        OperationFacts::of_step("used", &["bytes", "grown"]),
    ]),
];

#[rustfmt::skip]
pub(super) const PLUGIN_CALLS: &[(&str, &[&str])] = &[
    ("create", &[
        "context_is_none", "device", "main_thread", "manager", "method", "number", "registration",
    ]),
    ("interface_version", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration", "version",
    ]),
    ("initialize", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration",
    ]),
    ("memalloc", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "pointer", "registration", "size_bytes",
    ]),
    ("memhostalloc", &[
        "device", "host_pointer", "initialized", "main_thread", "manager", "mapped", "method",
        "number", "own_context_current", "portable", "registration", "size_bytes", "wc",
    ]),
    ("mempin", &[
        "device", "host_pointer", "initialized", "main_thread", "manager", "mapped", "method",
        "number", "own_context_current", "owner", "owner_begins_there", "pointer_type",
        "registration", "size_bytes",
    ]),
    ("get_memory_info", &[
        "device", "free_bytes", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration", "total_bytes",
    ]),
    ("get_ipc_handle", &[
        "device", "handle", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "pointer", "registration", "size_bytes",
    ]),
    ("reset", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration",
    ]),
    ("defer_cleanup", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration",
    ]),
    ("defer_enter", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "registration",
    ]),
    ("defer_exit", &[
        "device", "initialized", "main_thread", "manager", "method", "number",
        "own_context_current", "raising", "registration",
    ]),
    ("finalize", &[
        "device", "live", "made_by", "main_thread", "manager", "method", "number", "of", "pointer",
        "registration", "times",
    ]),
];
