//! Handles for other processes.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::interface::emm::bindings::Bound;
use crate::interface::emm::case::EmmCase;
use crate::ipc_peer;
use crate::step_result::{NoResult, driver_error, facts};

impl EmmCase<'_> {
    pub(crate) fn get_ipc_handle(
        &mut self,
        on: &str,
        memory: &str,
        name: &str,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let holding = self.bindings.memory(memory)?;
        let (token, offset_bytes) = (holding.token.memory.token, holding.offset_bytes);
        let handle = owner.manager.get_ipc_handle(token, offset_bytes)?;
        let driver = self.driver()?;
        let device = owner.device;
        let uuid = self
            .recorder
            .as_harness(|| driver.device_get_uuid(device.cast_signed()))
            .map_err(driver_error)?;
        let facts = facts([
            ("type", json!("allocert_emm_ipc_handle")),
            ("handle_bytes", json!(handle.handle.len())),
            ("handle", json!(ipc_peer::hex(&handle.handle))),
            ("size_bytes", json!(handle.size_bytes)),
            ("offset_bytes", json!(handle.offset_bytes)),
            ("source_matches", json!(handle.device_uuid == uuid)),
        ]);
        self.bindings.bind(name, Bound::Handle { handle, device });
        Ok(facts)
    }

    /// A second process opens the handle, reads `size_bytes` and closes it.
    pub(crate) fn peer_read(&mut self, handle: &str, size_bytes: u64) -> Result<Facts, NoResult> {
        let (handle, device) = self.bindings.handle(handle)?;
        let reading = ipc_peer::Reading {
            handle: handle.handle,
            offset_bytes: handle.offset_bytes,
            size_bytes,
            device,
        };
        let uniform = self.recorder.as_harness(|| ipc_peer::ask(&reading))?;
        Ok(facts([("uniform", json!(uniform))]))
    }
}
