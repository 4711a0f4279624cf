//! Calls of a table as they are written.

use allocert_suite::interface::emm::TableCall;

use crate::names::Halt;
use crate::scene::Scene;
use crate::subject::Given;

impl Scene<'_> {
    /// Whether there is a table to call.
    pub(crate) fn call(&mut self, on: &str, call: &TableCall) -> Result<bool, Halt> {
        let owner = self.names.manager(on)?;
        let of = match call {
            TableCall::Release { of, .. } | TableCall::GetIpcHandle { of, .. } => of.as_deref(),
            _ => None,
        };
        let token = of.map_or(Ok(0), |name| self.names.token(name))?;
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
