//! Judges the side effects of calls of the C table, such as a changed `size` member. The catalogue
//! gives each defect its requirement.

use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;

/// Judges every step that called the table.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    let mut lines =
        record.observation.steps.iter().filter(|line| line.table_calls.is_some()).peekable();
    if lines.peek().is_none() {
        return;
    }
    for requirement in record
        .catalogue
        .defects(record.side)
        .filter_map(|name| record.catalogue.by_defect(record.side, name))
    {
        sink.checked(&requirement.id);
    }
    for line in lines {
        let (Some(table_calls), Some(step)) =
            (&line.table_calls, record.case.steps.get(line.index as usize))
        else {
            continue;
        };
        for found in &table_calls.defects {
            let observed = format!("{}: {}", found.call, found.observed);
            sink.report_defect(&found.defect, step, observed);
        }
    }
}
