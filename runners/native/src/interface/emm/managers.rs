//! Managers: made, called, reset and ended.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::interface::emm::bindings::{Bound, CaseManager};
use crate::interface::emm::case::EmmCase;
use crate::step_result::{NoResult, driver_error, facts};

impl EmmCase<'_> {
    pub(crate) fn attach(&mut self, device: u32) -> Result<Facts, NoResult> {
        let driver = self.driver()?;
        let context = self.context(device)?;
        self.recorder.as_harness(|| driver.ctx_set_current(Some(context))).map_err(driver_error)?;
        Ok(Facts::new())
    }

    pub(crate) fn detach(&mut self) -> Result<Facts, NoResult> {
        let driver = self.driver()?;
        self.recorder.as_harness(|| driver.ctx_set_current(None)).map_err(driver_error)?;
        Ok(Facts::new())
    }

    pub(crate) fn create(&mut self, name: &str, device: u32) -> Result<Facts, NoResult> {
        let context = self.context(device)?;
        let manager = self.subject.create(context, device.cast_signed())?;
        self.bindings.bind(name, Bound::Manager(CaseManager::new(manager, device).into()));
        Ok(facts([("type", json!("allocert_emm_manager"))]))
    }

    pub(crate) fn destroy(&mut self, on: &str) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        self.bindings.take(on)?;
        owner.destroy();
        Ok(Facts::new())
    }

    pub(crate) fn initialize(&mut self, on: &str) -> Result<Facts, NoResult> {
        self.bindings.manager(on)?.manager.initialize()?;
        Ok(facts([("none", json!(true))]))
    }

    pub(crate) fn reset(&mut self, on: &str) -> Result<Facts, NoResult> {
        self.bindings.manager(on)?.manager.reset()?;
        Ok(facts([("none", json!(true))]))
    }

    pub(crate) fn get_memory_info(
        &mut self,
        on: &str,
        name: Option<&str>,
    ) -> Result<Facts, NoResult> {
        let (free_bytes, total_bytes) = self.bindings.manager(on)?.manager.get_memory_info()?;
        if let Some(name) = name {
            self.bindings.bind(name, Bound::Numbers);
        }
        Ok(facts([
            ("type", json!("allocert_emm_memory_info")),
            ("free_bytes", json!(free_bytes)),
            ("total_bytes", json!(total_bytes)),
            ("named", json!(true)),
        ]))
    }

    pub(crate) fn defer_enter(&mut self, on: &str, name: &str) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        owner.manager.defer_begin()?;
        self.bindings.bind(name, Bound::Scope(owner));
        Ok(facts([("type", json!("allocert_emm_status"))]))
    }

    pub(crate) fn defer_exit(&mut self, scope: &str) -> Result<Facts, NoResult> {
        match self.bindings.take(scope)? {
            Bound::Scope(owner) if !owner.is_gone() => owner.manager.defer_end()?,
            _ => return Err(NoResult::Skipped { because: scope.to_owned() }),
        }
        Ok(Facts::new())
    }
}
