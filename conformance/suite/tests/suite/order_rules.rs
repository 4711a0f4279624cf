//! Each rule that orders accesses, with a trace that it orders, and the same trace without the one
//! call that matters.

use allocert_contract::trace::cuda::Function as F;
use rstest::rstest;

use crate::observation_builder::{CONTEXT, THREAD};
use crate::trace_builder::{
    A, B, C, Do, E, E2, LEGACY, OTHER_CONTEXT, OTHER_THREAD, PAGEABLE, PER_THREAD, PINNED, X, Y,
    Y2, after, alloc, blocking, contexts, copy, destroy, did, event, fill, fill_bytes, gave,
    judged, launch, launch_in, non_blocking, races, record, rows, sync, two, wait,
};

type CallsWhen = fn(bool) -> Vec<Do>;

#[rstest]
#[case::one_stream(|edge| after(two(non_blocking), vec![
    fill(X, A), fill(X, if edge { A } else { B }),
]))]
#[case::event(|edge| after(two(non_blocking), vec![
    fill(X, A), record(E, A), wait(B, E).when(edge), fill(X, B),
]))]
#[case::event_recorded_after(|edge| after(two(non_blocking), if edge {
    vec![fill(X, A), record(E, A), wait(B, E), fill(X, B)]
} else {
    vec![record(E, A), fill(X, A), wait(B, E), fill(X, B)]
}))]
#[case::event_recorded_again_before_the_wait(|edge| after(two(non_blocking), vec![
    record(E, A), fill(X, A), record(E, A).when(edge), wait(B, E), fill(X, B),
]))]
#[case::event_recorded_again_after_the_wait(|edge: bool| after(two(non_blocking), vec![
    record(E, A).when(!edge), fill(X, A), record(E, A).when(edge), wait(B, E), record(E, A),
    fill(X, B),
]))]
#[case::event_recorded_again_on_another_stream(|edge: bool| vec![
    non_blocking(A), non_blocking(B), non_blocking(C), event(E),
    fill(X, A), record(E, A), record(E, C).when(!edge), wait(B, E), fill(X, B),
])]
#[case::event_recorded_again_on_another_stream_after_the_wait(|edge: bool| vec![
    non_blocking(A), non_blocking(B), non_blocking(C), event(E),
    fill(X, A), record(E, A).when(edge), wait(B, E), record(E, C), record(E, A), fill(X, B),
])]
#[case::event_with_flags(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuEventRecordWithFlags, &[E, A, 0]).when(edge), wait(B, E), fill(X, B),
]))]
#[case::chain_of_events(|edge| vec![
    non_blocking(A), non_blocking(B), non_blocking(C), event(E), event(E2),
    fill(X, A), record(E, A), wait(B, E).when(edge), record(E2, B), wait(C, E2), fill(X, C),
])]
#[case::join_of_two_streams(|edge| vec![
    non_blocking(A), non_blocking(B), non_blocking(C), event(E), event(E2),
    fill(Y, A), fill(X, B), record(E, A), record(E2, B), wait(C, E), wait(C, E2).when(edge),
    copy(Y, X, C),
])]
#[case::stream_synchronize(|edge| after(two(non_blocking), vec![
    fill(X, A), sync(A).when(edge), fill(X, B),
]))]
#[case::stream_synchronize_of_the_right_stream(|edge| after(two(non_blocking), vec![
    fill(X, A), sync(if edge { A } else { B }), fill(X, B),
]))]
#[case::stream_query(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuStreamQuery, &[A]).result(if edge { 0 } else { 600 }), fill(X, B),
]))]
#[case::event_synchronize(|edge| after(two(non_blocking), vec![
    fill(X, A), record(E, A), did(F::cuEventSynchronize, &[E]).when(edge), fill(X, B),
]))]
#[case::event_query(|edge| after(two(non_blocking), vec![
    fill(X, A), record(E, A), did(F::cuEventQuery, &[E]).result(if edge { 0 } else { 600 }),
    fill(X, B),
]))]
#[case::event_elapsed(|edge| after(two(non_blocking), vec![
    record(E, A), fill(X, A), record(E2, A),
    did(F::cuEventElapsedTime, &[E, if edge { E2 } else { E }]), fill(X, B),
]))]
#[case::context_synchronize(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuCtxSynchronize, &[]).when(edge), fill(X, B),
]))]
#[case::context_synchronize_of_the_right_context(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuCtxSynchronize_v2, &[if edge { CONTEXT } else { OTHER_CONTEXT }]),
    fill(X, B),
]))]
#[case::injected_failure_waits_for_nothing(|edge| after(two(non_blocking), vec![
    fill(X, A), if edge { sync(A) } else { sync(A).result(700).injected() }, fill(X, B),
]))]
#[case::a_broken_context_has_no_work(|edge| after(two(non_blocking), vec![
    fill(X, A), sync(B).result(if edge { 700 } else { 400 }), fill(X, B),
]))]
#[case::free_of_anything(|edge| after(two(non_blocking), vec![
    alloc(Y), fill(X, A), did(F::cuMemFree_v2, &[Y]).when(edge), fill(X, B),
]))]
#[case::free_of_host_memory(|edge| after(two(non_blocking), vec![
    gave(F::cuMemHostAlloc, &[64, 0], PINNED), fill(X, A),
    did(F::cuMemFreeHost, &[PINNED]).when(edge), fill(X, B),
]))]
#[case::unregister_of_host_memory(|edge| after(two(non_blocking), vec![
    did(F::cuMemHostRegister_v2, &[PINNED, 64, 0]), fill(X, A),
    did(F::cuMemHostUnregister, &[PINNED]).when(edge), fill(X, B),
]))]
#[case::end_of_a_context(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuCtxDestroy_v2, &[CONTEXT]).when(edge), fill(X, B),
]))]
#[case::last_release_of_a_primary_context(|edge: bool| after(two(non_blocking), vec![
    gave(F::cuDevicePrimaryCtxRetain, &[0], CONTEXT),
    gave(F::cuDevicePrimaryCtxRetain, &[0], CONTEXT).when(!edge),
    fill(X, A), did(F::cuDevicePrimaryCtxRelease_v2, &[0]), fill(X, B),
]))]
#[case::reset_of_a_primary_context(|edge| after(two(non_blocking), vec![
    gave(F::cuDevicePrimaryCtxRetain, &[0], CONTEXT), fill(X, A),
    did(F::cuDevicePrimaryCtxReset_v2, &[0]).when(edge), fill(X, B),
]))]
#[case::legacy_after_a_blocking_stream(|edge| vec![
    if edge { blocking(A) } else { non_blocking(A) }, fill(X, A), fill(X, 0),
])]
#[case::a_blocking_stream_after_legacy(|edge| vec![
    if edge { blocking(A) } else { non_blocking(A) }, fill(X, LEGACY), fill(X, A),
])]
#[case::legacy_between_blocking_streams(|edge| after(two(blocking), vec![
    fill(X, A), launch(Y, 0).when(edge), fill(X, B),
]))]
#[case::legacy_of_the_same_context(|edge| after(two(blocking), vec![
    fill(X, A), launch(Y, 0).within(if edge { CONTEXT } else { OTHER_CONTEXT }), fill(X, B),
]))]
#[case::legacy_after_a_destroyed_stream(|edge| vec![
    if edge { blocking(A) } else { non_blocking(A) }, fill(X, A), destroy(A), fill(X, 0),
])]
#[case::synchronizing_with_legacy_alone(|edge| vec![
    if edge { blocking(A) } else { non_blocking(A) }, non_blocking(B), fill(X, A), sync(LEGACY),
    fill(X, B),
])]
#[case::synchronizing_with_a_blocking_stream_after_legacy(|edge| vec![
    blocking(A), non_blocking(B), fill(X, 0), fill(Y, A).when(edge), sync(A), fill(X, B),
])]
#[case::per_thread_of_one_thread(|edge| vec![
    fill(X, PER_THREAD), fill(X, PER_THREAD).by(if edge { THREAD } else { OTHER_THREAD }),
])]
#[case::per_thread_by_symbol(|edge| vec![
    fill(X, PER_THREAD), fill(X, 0).per_thread().by(if edge { THREAD } else { OTHER_THREAD }),
])]
#[case::per_thread_is_blocking(|edge| vec![
    fill(X, PER_THREAD), fill(X, if edge { LEGACY } else { PER_THREAD }).by(OTHER_THREAD),
])]
#[case::per_thread_of_one_context(|edge| vec![
    fill(X, PER_THREAD), fill(X, PER_THREAD).within(if edge { CONTEXT } else { OTHER_CONTEXT }),
])]
#[case::synchronous_copy_to_the_host(|edge| vec![
    non_blocking(B), alloc(X),
    if edge { did(F::cuMemcpyDtoH_v2, &[PAGEABLE, X, 64]) } else { copy(X, Y, 0) }, fill(X, B),
])]
#[case::synchronous_copy_to_the_device(|edge| vec![
    non_blocking(B), alloc(X),
    if edge {
        did(F::cuMemcpyHtoD_v2, &[X, PAGEABLE, 64])
    } else {
        did(F::cuMemcpyHtoDAsync_v2, &[X, PAGEABLE, 64, 0])
    },
    fill(X, B),
])]
#[case::synchronous_copy_on_the_device_does_not_wait(|edge| vec![
    non_blocking(B), alloc(X), alloc(Y), did(F::cuMemcpyDtoD_v2, &[X, Y, 64]), sync(0).when(edge),
    fill(X, B),
])]
#[case::copy_to_pageable_memory_waits(|edge| vec![
    non_blocking(A), non_blocking(B), gave(F::cuMemHostAlloc, &[64, 0], PINNED), fill(X, A),
    did(F::cuMemcpyDtoHAsync_v2, &[if edge { PAGEABLE } else { PINNED }, Y, 64, A]), fill(X, B),
])]
#[case::copy_of_the_host_waits(|edge| vec![
    non_blocking(A), non_blocking(B), gave(F::cuMemHostAlloc, &[64, 0], PINNED), alloc(Y),
    fill(X, A),
    did(F::cuMemcpyAsync, &[PINNED, if edge { PAGEABLE } else { Y }, 64, A]), fill(X, B),
])]
#[case::synchronous_memset_of_pinned_memory_waits(|edge| vec![
    non_blocking(B), gave(F::cuMemHostAlloc, &[64, 0], PINNED), alloc(Y),
    fill(X, 0), did(F::cuMemsetD8_v2, &[if edge { PINNED } else { Y }, 0, 64]), fill(X, B),
])]
#[case::synchronous_memset_of_managed_memory_waits(|edge| vec![
    non_blocking(B), if edge { gave(F::cuMemAllocManaged, &[64, 1], Y) } else { alloc(Y) },
    fill(X, 0), did(F::cuMemsetD32_v2, &[Y, 0, 16]), fill(X, B),
])]
#[case::allocation_in_a_stream(|edge| after(two(non_blocking), vec![
    gave(F::cuMemAllocAsync, &[64, A], X), record(E, A), wait(B, E).when(edge), fill(X, B),
]))]
#[case::allocation_from_a_pool(|edge| after(two(non_blocking), vec![
    gave(F::cuMemAllocFromPoolAsync, &[64, 0x9001, A], X), record(E, A), wait(B, E).when(edge),
    fill(X, B),
]))]
#[case::free_in_a_stream_before_completion(|edge| after(two(non_blocking), vec![
    gave(F::cuMemAllocAsync, &[64, B], X), record(E, B), wait(A, E),
    fill(X, A), record(E, A), wait(B, E).when(edge), did(F::cuMemFreeAsync, &[X, B]),
]))]
#[case::free_before_completion_of_a_kernel(|edge| after(two(non_blocking), vec![
    alloc(X), launch(X, A), record(E, A), wait(B, E).when(edge), did(F::cuMemFreeAsync, &[X, B]),
]))]
#[case::addresses_given_out_again_are_in_order(|edge| after(two(non_blocking), vec![
    gave(F::cuMemAllocAsync, &[64, A], X), did(F::cuMemFreeAsync, &[X, A]),
    gave(F::cuMemAllocAsync, &[64, B], X).when(edge), fill(X, B),
]))]
#[case::ranges_that_only_touch(|edge| after(two(non_blocking), vec![
    fill(X, A), fill(if edge { X + 64 } else { X + 63 }, B),
]))]
#[case::two_reads(|edge| after(two(non_blocking), vec![
    copy(X, Y, A), if edge { copy(X, Y + 64, B) } else { fill(X, B) },
]))]
#[case::write_after_read(|edge| after(two(non_blocking), vec![
    copy(X, Y, A), sync(A).when(edge), fill(X, B),
]))]
#[case::read_after_write(|edge| after(two(non_blocking), vec![
    fill(X, A), sync(A).when(edge), copy(X, Y, B),
]))]
#[case::a_read_hides_no_earlier_one(|edge| vec![
    non_blocking(A), non_blocking(B), non_blocking(C), event(E), event(E2),
    copy(X, Y, A), copy(X, Y + 64, B), record(E, A), record(E2, B), wait(C, E),
    wait(C, E2).when(edge), fill(X, C),
])]
#[case::two_kernels_may_both_read(|edge| after(two(non_blocking), vec![
    launch(X, A), if edge { launch(X, B) } else { launch(X, B).harness() },
]))]
#[case::numba_launch_waits_before(|edge| after(two(non_blocking), vec![
    fill(X, A).harness(), record(E, A), wait(B, E).when(edge), launch(X, B), record(E2, B),
    wait(A, E2), fill(X, A).harness(),
]))]
#[case::numba_launch_has_no_back_edge(|edge| after(two(non_blocking), vec![
    fill(X, A).harness(), record(E, A), wait(B, E), launch(X, B), record(E2, B),
    wait(A, E2).when(edge), fill(X, A).harness(),
]))]
#[case::launch_on_the_stream_of_the_array(|edge| after(two(non_blocking), vec![
    fill(X, A).harness(), launch(X, if edge { A } else { B }), sync(A), sync(B),
    fill(X, A).harness(),
]))]
#[case::warp_launch_synchronizes_before(|edge| vec![
    non_blocking(A), fill(X, A).harness(), sync(A).when(edge), launch(X, PER_THREAD),
    sync(PER_THREAD), fill(X, A).harness(),
])]
#[case::warp_launch_returns_too_early(|edge| vec![
    non_blocking(A), fill(X, A).harness(), sync(A), launch(X, PER_THREAD),
    sync(PER_THREAD).when(edge), fill(X, A).harness(),
])]
#[case::slices_of_a_pool_lie_apart(|edge| after(two(non_blocking), vec![
    launch_in(Y, (X, 1 << 20), A), if edge { fill(Y + 64, B) } else { fill(Y, B) }.harness(),
]))]
#[case::a_kernel_reaches_all_of_a_named_memory(|edge| after(two(non_blocking), vec![
    launch_in(X, (X, 1 << 20), A), fill(if edge { X + 64 } else { X + 63 }, B).harness(),
]))]
#[case::event_never_recorded_is_no_barrier(|edge| after(two(blocking), vec![
    non_blocking(C), record(E, C).when(edge), fill(X, A), wait(LEGACY, E), fill(X, B),
]))]
#[case::free_of_nothing_waits_for_nothing(|edge| after(two(non_blocking), vec![
    alloc(Y), fill(X, A), did(F::cuMemFree_v2, &[if edge { Y } else { 0 }]), fill(X, B),
]))]
#[case::free_of_memory_of_a_pool_waits_for_nothing(|edge| after(two(non_blocking), vec![
    if edge { alloc(Y) } else { gave(F::cuMemAllocAsync, &[64, A], Y) }, sync(A),
    fill(X, A), did(F::cuMemFree_v2, &[Y]), fill(X, B),
]))]
#[case::free_waits_for_the_context_of_the_memory(|edge| after(two(non_blocking), vec![
    alloc(Y).within(if edge { CONTEXT } else { OTHER_CONTEXT }), fill(X, A),
    did(F::cuMemFree_v2, &[Y]).within(if edge { OTHER_CONTEXT } else { CONTEXT }), fill(X, B),
]))]
#[case::free_of_memory_of_a_pool_in_use(|edge| after(two(non_blocking), vec![
    gave(F::cuMemAllocAsync, &[64, A], X), fill(X, A), sync(A).when(edge),
    did(F::cuMemFree_v2, &[X]),
]))]
#[case::free_of_no_host_memory_waits_for_nothing(|edge| after(two(non_blocking), vec![
    gave(F::cuMemHostAlloc, &[64, 0], PINNED), fill(X, A),
    did(F::cuMemFreeHost, &[if edge { PINNED } else { 0 }]), fill(X, B),
]))]
#[case::unregister_waits_for_the_context_of_the_memory(|edge| after(two(non_blocking), vec![
    did(
        F::cuMemHostRegister_v2,
        &[PINNED, 64, 0]).within(if edge { CONTEXT } else { OTHER_CONTEXT },
    ),
    fill(X, A), did(F::cuMemHostUnregister, &[PINNED]), fill(X, B),
]))]
#[case::end_of_a_context_of_another_device(|edge| after(contexts(), after(two(non_blocking), vec![
    gave(F::cuCtxCreate_v4, &[0, 0, 1], 0xc9), fill(X, A),
    did(F::cuCtxDestroy_v2, &[0xc9]).when(edge), fill(X, B),
])))]
#[case::unloading_a_module(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuModuleUnload, &[0x40d]).when(edge), fill(X, B),
]))]
#[case::loading_a_module_promises_nothing(|edge| after(two(non_blocking), vec![
    fill(X, A), gave(F::cuModuleLoadData, &[0x1000], 0x40d), sync(A).when(edge), fill(X, B),
]))]
#[case::synchronous_copy_of_a_peer_does_not_wait(|edge| after(two(non_blocking), vec![
    fill(X, A), did(F::cuMemcpyPeer, &[Y, CONTEXT, Y + 64, OTHER_CONTEXT, 64]), sync(A).when(edge),
    fill(X, B),
]))]
#[case::memory_of_another_context_is_work_of_both_legacy_streams(|edge| after(contexts(), vec![
    blocking(A).within(OTHER_CONTEXT), blocking(B), alloc(Y),
    alloc(Y2).within(if edge { OTHER_CONTEXT } else { CONTEXT }),
    fill(X, A).within(OTHER_CONTEXT), did(F::cuMemcpyDtoD_v2, &[Y, Y2, 64]), fill(X, B),
]))]
#[case::the_other_context_comes_after_a_copy_of_its_memory(|edge| after(contexts(), vec![
    blocking(A).within(OTHER_CONTEXT), blocking(B), alloc(Y),
    alloc(Y2).within(if edge { OTHER_CONTEXT } else { CONTEXT }),
    fill(X, B), did(F::cuMemcpyPeer, &[Y, CONTEXT, Y2, OTHER_CONTEXT, 64]),
    fill(X, A).within(OTHER_CONTEXT),
]))]
#[case::fill_of_another_contexts_memory_is_work_of_one(|edge| after(contexts(), vec![
    blocking(A).within(OTHER_CONTEXT), blocking(B), alloc(Y2).within(OTHER_CONTEXT),
    fill(X, A).within(OTHER_CONTEXT), sync(A).when(edge), did(F::cuMemsetD8_v2, &[Y2, 0, 64]),
    fill(X, B),
]))]
#[case::copies_of_no_bytes_wait_for_nothing(|edge| vec![
    blocking(A), non_blocking(B), alloc(Y), fill(X, A),
    did(F::cuMemcpyHtoD_v2, &[Y, PAGEABLE, if edge { 64 } else { 0 }]), fill(X, B),
])]
#[case::fills_of_no_bytes_are_no_barrier(|edge| after(two(blocking), vec![
    alloc(Y), fill(X, A), did(F::cuMemsetD8_v2, &[Y, 0, if edge { 64 } else { 0 }]), fill(X, B),
]))]
#[case::copy_of_rows_on_the_device_does_not_wait(|edge| after(two(non_blocking), vec![
    alloc(Y), fill(X, A), rows(F::cuMemcpy2DAsync_v2, if edge { PAGEABLE } else { Y }, Y2, A),
    fill(X, B),
]))]
#[case::a_synchronous_copy_of_rows_does_not_wait(|edge| vec![
    blocking(A), non_blocking(B), alloc(Y), gave(F::cuMemHostAlloc, &[64, 0], PINNED), fill(X, A),
    rows(F::cuMemcpy2D_v2, if edge { PINNED } else { Y }, Y2, 0), fill(X, B),
])]
#[case::copy_of_rows_reaches_its_rows(|edge| after(two(non_blocking), vec![
    rows(F::cuMemcpy2DAsync_v2, X + 32, Y, A), fill_bytes(X, if edge { 32 } else { 33 }, B),
]))]
#[case::copy_of_rows_reaches_its_last_row(|edge: bool| after(two(non_blocking), vec![
    rows(F::cuMemcpy2DAsync_v2, X - 256, Y, A), fill_bytes(X, 64, B).when(!edge),
]))]
#[case::copy_of_rows_leaves_the_gaps_alone(|edge| after(two(non_blocking), vec![
    rows(F::cuMemcpy2DAsync_v2, if edge { X - 128 } else { X - 256 + 48 }, Y, A),
    fill_bytes(X, 64, B),
]))]
#[case::a_large_pageable_copy_arrives_later(|edge| vec![
    non_blocking(B), gave(F::cuMemAlloc_v2, &[1 << 20], X),
    did(F::cuMemcpyHtoD_v2, &[X, PAGEABLE, 64 << 10]), sync(0).when(edge), copy(X, Y, B),
])]
#[case::a_small_pageable_copy_has_arrived(|edge| vec![
    non_blocking(B), gave(F::cuMemAlloc_v2, &[1 << 20], X),
    did(F::cuMemcpyHtoD_v2, &[X, PAGEABLE, if edge { (64 << 10) - 1 } else { 64 << 10 }]),
    copy(X, Y, B),
])]
#[case::a_large_pageable_copy_waits_for_earlier_work(|edge| vec![
    blocking(A), non_blocking(B), gave(F::cuMemAlloc_v2, &[1 << 20], Y), fill(X, A),
    did(F::cuMemcpyHtoD_v2, &[Y, PAGEABLE, 64 << 10]).when(edge), fill(X, B),
])]
#[case::a_pageable_copy_of_a_thread_does_not_wait_for_legacy(|edge| vec![
    non_blocking(B), alloc(Y), gave(F::cuMemHostAlloc, &[64, 0], PINNED), fill(X, LEGACY),
    did(F::cuMemcpyHtoD_v2, &[Y, if edge { PINNED } else { PAGEABLE }, 64]).per_thread(),
    fill(X, B),
])]
#[case::a_pageable_copy_of_a_thread_arrives_later_behind_legacy(|edge: bool| vec![
    non_blocking(B), alloc(X), fill(Y, LEGACY).when(!edge),
    did(F::cuMemcpyHtoD_v2, &[X, PAGEABLE, 64]).per_thread(), fill(X, B),
])]
#[case::sync_memops(|edge| vec![
    non_blocking(B), alloc(Y), did(F::cuPointerSetAttribute, &[1, 6, Y]).when(edge),
    fill(X, 0), did(F::cuMemsetD8_v2, &[Y, 0, 64]), fill(X, B),
])]
#[case::sync_memops_switched_off(|edge: bool| vec![
    non_blocking(B), alloc(Y), did(F::cuPointerSetAttribute, &[1, 6, Y]),
    did(F::cuPointerSetAttribute, &[0, 6, Y]).when(!edge), fill(X, 0),
    did(F::cuMemsetD8_v2, &[Y, 0, 64]), fill(X, B),
])]
#[case::managed_memory_without_sync_memops(|edge: bool| vec![
    non_blocking(B), gave(F::cuMemAllocManaged, &[64, 1], Y2),
    did(F::cuPointerSetAttribute, &[0, 6, Y2]).when(!edge), fill(X, 0),
    did(F::cuMemsetD8_v2, &[Y2, 0, 64]), fill(X, B),
])]
#[case::managed_memory_with_sync_memops_again(|edge: bool| vec![
    non_blocking(B), gave(F::cuMemAllocManaged, &[64, 1], Y2),
    did(F::cuPointerSetAttribute, &[0, 6, Y2]),
    did(F::cuPointerSetAttribute, &[1, 6, Y2]).when(edge), fill(X, 0),
    did(F::cuMemsetD8_v2, &[Y2, 0, 64]), fill(X, B),
])]
#[case::an_asynchronous_copy_of_managed_memory_waits(|edge| vec![
    non_blocking(A), non_blocking(B), alloc(Y), gave(F::cuMemAllocManaged, &[64, 1], Y2),
    fill(X, A),
    did(F::cuMemcpyHtoDAsync_v2, &[Y, if edge { Y2 } else { PAGEABLE }, 64, A]), fill(X, B),
])]
#[case::an_allocation_is_a_barrier_for_memory_in_use(|edge| after(two(blocking), vec![
    gave(F::cuMemAllocAsync, &[64, A], Y), did(F::cuMemFreeAsync, &[Y, A]), fill(X, A),
    gave(F::cuMemAllocAsync, &[64, 0], if edge { Y } else { Y2 }), fill(X, B),
]))]
fn an_edge_orders(#[case] calls: CallsWhen) {
    let (with, without) = (judged(calls(true)), judged(calls(false)));
    assert_eq!(races(&with), [""; 0], "with the edge");
    assert_eq!(
        races(&without).len(),
        1,
        "without the edge: {:?}, {:?}",
        without.findings,
        without.verdict
    );
    assert!(with.checked.contains("EMM-CHECK-RACE"), "the check was performed");
}
