//! Operations that every interface has and that call no subject.

use allocert_suite::interface::shared::{Environment, Fault};
use allocert_suite::observation::Facts;

use crate::recorder::{Recorder, set_variable};
use crate::step_result::{NoResult, error_of_worker};

pub(crate) fn fault(recorder: &Recorder, fault: &Fault) -> Result<Facts, NoResult> {
    let Fault { call, nth, count, error } = fault;
    if recorder.fault_add(call, *nth, *count, *error) {
        return Ok(Facts::new());
    }
    let message = format!("the driver knows no function `{call}`");
    Err(error_of_worker("WorkerError", message, None).into())
}

pub(crate) fn clear_faults(recorder: &Recorder) -> Result<Facts, NoResult> {
    recorder.fault_clear();
    Ok(Facts::new())
}

pub(crate) fn environment(variable: &Environment) -> Result<Facts, NoResult> {
    set_variable(&variable.name, &variable.value);
    Ok(Facts::new())
}
