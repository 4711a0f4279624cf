//! Native plugins that are wrong in one way each: the reference plugin with one mutation, one symbol a
//! mutant. `mutants.yaml` says which requirements each one breaks; `tests/kill.rs` holds the suite to it.

#![expect(unsafe_code, reason = "exports C symbols, calls the reference through its C table, and misbehaves")]

mod alloc;
mod base;
mod context;
mod defer;
mod exit;
mod fault;
mod host;
mod info;
mod initialize;
mod ipc;
mod lazy;
mod mutant;
mod oom;
mod pin;
mod release;
mod reset;
mod version;
mod zero;

use mutant::Mutant;

allocert_abi::export_emm_plugin! {
    mutant_overlapping => Mutant<alloc::Overlapping>,
    mutant_misaligned => Mutant<alloc::Misaligned>,
    mutant_rounded_size => Mutant<alloc::RoundedSize>,
    mutant_wrong_kind => Mutant<alloc::WrongKind>,
    mutant_null_pointer => Mutant<alloc::NullPointer>,
    mutant_half_block => Mutant<alloc::HalfBlock>,
    mutant_first_device => Mutant<alloc::FirstDevice>,
    mutant_promises => Mutant<alloc::Promises>,
    mutant_scribbler => Mutant<alloc::Scribbler>,
    mutant_one_thread => Mutant<alloc::OneThread>,
    mutant_clears_late => Mutant<alloc::ClearsLate>,
    mutant_late_start => Mutant<alloc::LateStart>,
    mutant_leaks_on_release => Mutant<release::LeaksOnRelease>,
    mutant_never_releases => Mutant<release::NeverReleases>,
    mutant_frees_twice => Mutant<release::FreesTwice>,
    mutant_frees_inside => Mutant<release::FreesInside>,
    mutant_frees_neighbour => Mutant<release::FreesNeighbour>,
    mutant_gives_freed => Mutant<release::GivesFreed>,
    mutant_last_in_first_out => Mutant<release::LastInFirstOut>,
    mutant_thread_bound => Mutant<release::ThreadBound>,
    mutant_context_bound => Mutant<release::ContextBound>,
    mutant_retains_context => Mutant<release::RetainsContext>,
    mutant_by_address => Mutant<release::ByAddress>,
    mutant_frees_stale => Mutant<release::FreesStale>,
    mutant_stale_is_error => Mutant<release::StaleIsError>,
    mutant_reset_leaks => Mutant<reset::ResetLeaks>,
    mutant_end_leaks => Mutant<reset::EndLeaks>,
    mutant_reset_fails => Mutant<reset::ResetFails>,
    mutant_reset_wants_initialize => Mutant<reset::ResetWantsInitialize>,
    mutant_reset_once => Mutant<reset::ResetOnce>,
    mutant_reset_wants_context => Mutant<reset::ResetWantsContext>,
    mutant_reset_is_final => Mutant<reset::ResetIsFinal>,
    mutant_no_second_life => Mutant<reset::NoSecondLife>,
    mutant_reset_forgets_host => Mutant<reset::ResetForgetsHost>,
    mutant_reset_forgets_pending => Mutant<reset::ResetForgetsPending>,
    mutant_reset_everybody => Mutant<reset::ResetEverybody>,
    mutant_pins_outlive_reset => Mutant<reset::PinsOutliveReset>,
    mutant_initialize_fails => Mutant<initialize::InitializeFails>,
    mutant_initialize_resets => Mutant<initialize::InitializeResets>,
    mutant_initialize_forgets => Mutant<initialize::InitializeForgets>,
    mutant_initialize_is_costly => Mutant<initialize::InitializeIsCostly>,
    mutant_oom_is_null => Mutant<oom::OomIsNull>,
    mutant_oom_is_internal => Mutant<oom::OomIsInternal>,
    mutant_oom_evicts => Mutant<oom::OomEvicts>,
    mutant_oom_is_final => Mutant<oom::OomIsFinal>,
    mutant_hoards => Mutant<oom::Hoards>,
    mutant_error_is_null => Mutant<oom::ErrorIsNull>,
    mutant_oom_blocks_reset => Mutant<oom::OomBlocksReset>,
    mutant_defer_refused => Mutant<defer::DeferRefused>,
    mutant_defer_end_fails => Mutant<defer::DeferEndFails>,
    mutant_defer_ignored => Mutant<defer::DeferIgnored>,
    mutant_defer_flat => Mutant<defer::DeferFlat>,
    mutant_defer_not_nested => Mutant<defer::DeferNotNested>,
    mutant_defer_once => Mutant<defer::DeferOnce>,
    mutant_defer_for_ever => Mutant<defer::DeferForEver>,
    mutant_defer_forgets_host => Mutant<defer::DeferForgetsHost>,
    mutant_defer_blocks_allocation => Mutant<defer::DeferBlocksAllocation>,
    mutant_defer_flushed_by_oom => Mutant<defer::DeferFlushedByOom>,
    mutant_host_refused => Mutant<host::HostRefused>,
    mutant_mapped_dropped => Mutant<host::MappedDropped>,
    mutant_mapped_always => Mutant<host::MappedAlways>,
    mutant_host_rounded => Mutant<host::HostRounded>,
    mutant_host_null => Mutant<host::HostNull>,
    mutant_mapped_null => Mutant<host::MappedNull>,
    mutant_mapped_elsewhere => Mutant<host::MappedElsewhere>,
    mutant_flags_refused => Mutant<host::FlagsRefused>,
    mutant_host_overlapping => Mutant<host::HostOverlapping>,
    mutant_host_never_released => Mutant<host::HostNeverReleased>,
    mutant_host_scribbler => Mutant<host::HostScribbler>,
    mutant_pin_refused => Mutant<pin::PinRefused>,
    mutant_pin_kinds_swapped => Mutant<pin::PinKindsSwapped>,
    mutant_pin_rounded => Mutant<pin::PinRounded>,
    mutant_pin_kept => Mutant<pin::PinKept>,
    mutant_pin_deferred => Mutant<pin::PinDeferred>,
    mutant_pin_takes_over => Mutant<pin::PinTakesOver>,
    mutant_pin_error_ignored => Mutant<pin::PinErrorIgnored>,
    mutant_pin_clears => Mutant<pin::PinClears>,
    mutant_info_refused => Mutant<info::InfoRefused>,
    mutant_info_swapped => Mutant<info::InfoSwapped>,
    mutant_info_boasts => Mutant<info::InfoBoasts>,
    mutant_info_frozen => Mutant<info::InfoFrozen>,
    mutant_info_pessimist => Mutant<info::InfoPessimist>,
    mutant_info_late => Mutant<info::InfoLate>,
    mutant_info_probes => Mutant<info::InfoProbes>,
    mutant_ipc_refused => Mutant<ipc::IpcRefused>,
    mutant_ipc_offset_zero => Mutant<ipc::IpcOffsetZero>,
    mutant_ipc_view_ignored => Mutant<ipc::IpcViewIgnored>,
    mutant_ipc_wrong_block => Mutant<ipc::IpcWrongBlock>,
    mutant_ipc_size => Mutant<ipc::IpcSize>,
    mutant_ipc_device => Mutant<ipc::IpcDevice>,
    mutant_ipc_unstable => Mutant<ipc::IpcUnstable>,
    mutant_ipc_garbage => Mutant<ipc::IpcGarbage>,
    mutant_ipc_for_all => Mutant<ipc::IpcForAll>,
    mutant_context_pushed => Mutant<context::ContextPushed>,
    mutant_context_lost => Mutant<context::ContextLost>,
    mutant_context_released => Mutant<context::ContextReleased>,
    mutant_zero_is_defect => Mutant<zero::ZeroIsDefect>,
    mutant_zero_collides => Mutant<zero::ZeroCollides>,
    mutant_zero_aliases => Mutant<zero::ZeroAliases>,
    mutant_segfault => Mutant<exit::Segfault>,
    mutant_abort => Mutant<exit::Abort>,
    mutant_leaves_with_zero => Mutant<exit::LeavesWithZero>,
    mutant_hang => Mutant<exit::Hang>,
    mutant_flood => Mutant<exit::Flood>,
    mutant_forger => Mutant<exit::Forger>,
    mutant_crash_at_exit => Mutant<exit::CrashAtExit>,
    mutant_mutter_at_exit => Mutant<exit::MutterAtExit>,
    mutant_shutdown_is_null => Mutant<fault::ShutdownIsNull>,
    mutant_stages_and_leaks => Mutant<fault::StagesAndLeaks>,
    mutant_sulks => Mutant<fault::Sulks>,
    mutant_does_nothing => Mutant<lazy::DoesNothing>,
    mutant_always_fails => Mutant<lazy::AlwaysFails>,
    mutant_always_out_of_memory => Mutant<lazy::AlwaysOutOfMemory>,
    mutant_faithful => Mutant<version::Faithful>,
    mutant_create_fails => Mutant<version::CreateFails>,
    mutant_create_allocates => Mutant<version::CreateAllocates>,
}
