//! Calls of a table as they are written.

use allocert_suite::observation::{Facts, Outcome};
use allocert_suite::operation::{Operation, TableCall};

use crate::child::unsupported;
use crate::context::outcome;
use crate::names::Halt;
use crate::scene::Scene;
use crate::subject::Given;

impl Scene<'_> {
    pub(crate) fn call(&mut self, on: &str, call: &TableCall) -> Outcome {
        match self.called(on, call) {
            Ok(true) => outcome(Ok(Facts::new())),
            Ok(false) => unsupported(&Operation::Call(call.clone())),
            Err(halt) => halt.into(),
        }
    }

    /// Whether there is a table to call.
    fn called(&mut self, on: &str, call: &TableCall) -> Result<bool, Halt> {
        let owner = self.names.manager(on)?;
        let token = call.of().map_or(Ok(0), |name| self.names.token(name))?;
        let plus = match call {
            TableCall::Release { plus, .. } | TableCall::GetIpcHandle { plus, .. } => *plus,
            _ => 0,
        };
        let pointer = match call {
            TableCall::Mempin { buffer: Some(name), .. } => self.names.buffer(name)?.address(),
            _ => 0,
        };
        let given = Given {
            context: self.context(owner.device)?,
            token: token.wrapping_add(plus),
            pointer,
        };
        Ok(owner.manager.call(call, &given).transpose()?.is_some())
    }
}
