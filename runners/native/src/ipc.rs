//! Handles for other processes.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::context::driver_error;
use crate::names::{Halt, Named};
use crate::peer;
use crate::scene::Scene;
use crate::subject::facts;

impl Scene<'_> {
    pub(crate) fn get_ipc_handle(
        &mut self,
        on: &str,
        memory: &str,
        name: &str,
    ) -> Result<Facts, Halt> {
        let owner = self.names.manager(on)?;
        let holding = self.names.memory(memory)?;
        let (token, offset_bytes) = (holding.token.memory.token, holding.offset_bytes);
        let handle = owner.manager.get_ipc_handle(token, offset_bytes)?;
        let driver = self.driver()?;
        let device = owner.device;
        let uuid = self
            .recorder
            .aside(|| driver.device_get_uuid(device.cast_signed()))
            .map_err(driver_error)?;
        let facts = facts([
            ("type", json!("allocert_emm_ipc_handle")),
            ("handle_bytes", json!(handle.handle.len())),
            ("handle", json!(peer::hex(&handle.handle))),
            ("size_bytes", json!(handle.size_bytes)),
            ("offset_bytes", json!(handle.offset_bytes)),
            ("source_matches", json!(handle.device_uuid == uuid)),
        ]);
        self.names.bind(name, Named::Handle { handle, device });
        Ok(facts)
    }

    /// A second process opens the handle, reads `size_bytes` and closes it.
    pub(crate) fn peer_read(&mut self, handle: &str, size_bytes: u64) -> Result<Facts, Halt> {
        let (handle, device) = self.names.handle(handle)?;
        let reading = peer::Reading {
            handle: handle.handle,
            offset_bytes: handle.offset_bytes,
            size_bytes,
            device,
        };
        let uniform = self.recorder.aside(|| peer::ask(&reading))?;
        Ok(facts([("uniform", json!(uniform))]))
    }
}
