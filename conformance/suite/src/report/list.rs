//! `allocert list`: every case with what it needs and what it is about.

use crate::plan::PlannedCase;
use crate::report::table::align;

/// One line for each case.
#[must_use]
pub fn render(cases: &[PlannedCase]) -> String {
    let rows: Vec<Vec<String>> = cases.iter().map(row).collect();
    align(&rows, usize::MAX).iter().map(|line| format!("{line}\n")).collect()
}

fn row(case: &PlannedCase) -> Vec<String> {
    let needs: Vec<&str> = case.needs.iter().map(|need| need.name()).collect();
    vec![case.id.clone(), needs.join(","), case.about.clone()]
}
