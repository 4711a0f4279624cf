//! Cases that ran out of their time beside others, and how much is known of the subject by that.

use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::PlannedCase;

use crate::error::Error;
use crate::harness::{Harness, Isolation, Sighting};
use crate::remark::Remark;

/// So many in a row that are late by themselves too are late for a reason of their own, and so are
/// the rest.
const SURE: u32 = 3;

impl Harness {
    /// Runs what was late once more by itself. On a machine that is busy with the other cases, or a
    /// driver that makes one context at a time, being late is nobody's fault.
    pub(crate) fn allow_overtime(
        &mut self,
        cases: &[&PlannedCase],
        sighting: &mut Sighting,
    ) -> Result<(), Error> {
        let mut in_company = Vec::new();
        let mut late_in_a_row = 0;
        let late = cases.iter().zip(&mut sighting.observations).filter(|(_, seen)| is_late(seen));
        for (case, seen) in late {
            if late_in_a_row == SURE {
                break;
            }
            let alone = self.run_isolated(&[case], Isolation::Case, &mut ())?;
            let Some(again) = alone.observations.into_iter().next() else { continue };
            if is_late(&again) {
                late_in_a_row += 1;
            } else {
                late_in_a_row = 0;
                in_company.push(case.id.clone());
            }
            *seen = again;
        }
        if !in_company.is_empty() {
            sighting.remarks.push(Remark::LateInCompany { cases: in_company });
        }
        Ok(())
    }
}

fn is_late(seen: &Observation) -> bool {
    matches!(seen.ending, Ending::TimedOut { .. })
}
