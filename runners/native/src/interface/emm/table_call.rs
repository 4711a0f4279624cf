//! Calls of a table as they are written.

use allocert_suite::interface::emm::TableCall;
use allocert_suite::observation::Facts;

use crate::interface::emm::case::EmmCase;
use crate::interface::emm::subject::CallArguments;
use crate::step_result::NoResult;

impl EmmCase<'_> {
    /// The facts of the call; `None` without a table.
    pub(crate) fn call(&mut self, on: &str, call: &TableCall) -> Result<Option<Facts>, NoResult> {
        let owner = self.bindings.manager(on)?;
        let of = match call {
            TableCall::Release { of, .. } | TableCall::GetIpcHandle { of, .. } => of.as_deref(),
            _ => None,
        };
        let token = of.map_or(Ok(0), |name| self.bindings.token(name))?;
        let plus = match call {
            TableCall::Release { plus, .. } | TableCall::GetIpcHandle { plus, .. } => *plus,
            _ => 0,
        };
        let pointer = match call {
            TableCall::Mempin { buffer: Some(name), .. } => self.bindings.buffer(name)?.address(),
            _ => 0,
        };
        let arguments = CallArguments {
            context: self.context(owner.device)?,
            token: token.wrapping_add(plus),
            pointer,
        };
        Ok(owner.manager.call(call, &arguments).transpose()?)
    }
}
