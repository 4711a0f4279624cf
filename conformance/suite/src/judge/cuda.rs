//! What only CUDA has: contexts, misused handles, and the order of work on streams.

mod context_balance;
mod misuse;
mod order;
mod streams_of_others;

use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;

/// Performs the checks that read calls of the boundary `cuda`.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    misuse::judge(record, sink);
    streams_of_others::judge(record, sink);
    order::judge(record, sink);
    context_balance::judge(record, sink);
}
