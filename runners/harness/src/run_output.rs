//! What came of a run.

use allocert_suite::observation::Observation;

use crate::warning::Warning;

#[derive(Debug, Default)]
pub struct RunOutput {
    /// One for each case, in the order of the plan.
    pub observations: Vec<Observation>,
    pub warnings: Vec<Warning>,
}
