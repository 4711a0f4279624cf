//! The reference managers, called as Rust.

use std::sync::{PoisonError, RwLock};

use allocert_cuda::Context;
use allocert_emm::{self as emm, Error, Kind, MemoryKind, Token};
use allocert_suite::observation::{Facts, Raised};
use serde_json::{Map, Value, json};

use crate::interface::emm::subject::{EmmSubject, HostFlags, IpcHandle, Manager, Memory};
use crate::protocol::SubjectInfo;
use crate::step_result::{error_of_worker, facts};

const INTERFACE_VERSION: u32 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug)]
pub(crate) struct Reference {
    kind: Kind,
}

impl Reference {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind }
    }

    fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Pool => "pool",
            Kind::Deferred => "deferred",
            Kind::HostOnly => "host-only",
        };
        format!("allocert reference {kind}")
    }
}

impl EmmSubject for Reference {
    fn describe(&self) -> Facts {
        facts([
            ("interface_version", json!(INTERFACE_VERSION)),
            ("interface_version_type", json!("int")),
            ("abstract", json!([])),
            ("instantiable", json!(true)),
            ("name", json!(self.name())),
            ("version", json!(VERSION)),
        ])
    }

    fn info(&self) -> SubjectInfo {
        SubjectInfo {
            name: Some(self.name()),
            version: Some(VERSION.to_owned()),
            file: "built in".to_owned(),
            interface_version: INTERFACE_VERSION,
            host: Map::<String, Value>::new(),
        }
    }

    fn capabilities(&self) -> Vec<&'static str> {
        let mut capabilities = vec![
            "native",
            "host_memory",
            "own_host_memory",
            "deferred_host_memory",
            "device_memory",
            "ipc",
            "peer",
        ];
        if self.kind != Kind::HostOnly {
            capabilities.push("memory_info");
        }
        capabilities
    }

    fn create(&self, context: Context, device: i32) -> Result<Box<dyn Manager>, Raised> {
        let manager = emm::open(self.kind, context, device).map_err(raised)?;
        Ok(Box::new(ReferenceManager(RwLock::new(Some(manager)))))
    }
}

/// A manager until it is destroyed. The lock is for that one moment: calls share it.
struct ReferenceManager(RwLock<Option<Box<dyn emm::Manager>>>);

impl ReferenceManager {
    fn with<T>(&self, call: impl FnOnce(&dyn emm::Manager) -> emm::Result<T>) -> Result<T, Raised> {
        match self.0.read().unwrap_or_else(PoisonError::into_inner).as_deref() {
            Some(manager) => call(manager).map_err(raised),
            None => Err(error_of_worker("WorkerError", "the manager was destroyed", None)),
        }
    }
}

impl Manager for ReferenceManager {
    fn initialize(&self) -> Result<(), Raised> {
        self.with(|manager| manager.initialize())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Raised> {
        self.with(|manager| manager.memalloc(size_bytes)).map(memory)
    }

    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory, Raised> {
        let HostFlags { mapped, portable, write_combined } = flags;
        let flags = emm::HostFlags { mapped, portable, write_combined };
        self.with(|manager| manager.memhostalloc(size_bytes, flags)).map(memory)
    }

    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory, Raised> {
        self.with(|manager| manager.mempin(pointer, size_bytes, mapped)).map(memory)
    }

    fn release(&self, token: u64) -> Result<(), Raised> {
        self.with(|manager| manager.release(Token(token)))
    }

    fn get_memory_info(&self) -> Result<(u64, u64), Raised> {
        self.with(|manager| manager.get_memory_info())
            .map(|info| (info.free_bytes, info.total_bytes))
    }

    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Result<IpcHandle, Raised> {
        let emm::IpcHandle { handle, size_bytes, offset_bytes, device_uuid } =
            self.with(|manager| manager.get_ipc_handle(Token(token), offset_bytes))?;
        Ok(IpcHandle { handle, size_bytes, offset_bytes, device_uuid })
    }

    fn reset(&self) -> Result<(), Raised> {
        self.with(|manager| {
            manager.reset();
            Ok(())
        })
    }

    fn defer_begin(&self) -> Result<(), Raised> {
        self.with(|manager| {
            manager.defer_begin();
            Ok(())
        })
    }

    fn defer_end(&self) -> Result<(), Raised> {
        self.with(|manager| manager.defer_end())
    }

    fn destroy(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn memory(memory: emm::Memory) -> Memory {
    let kind = match memory.kind {
        MemoryKind::Device => allocert_abi::emm::KIND_DEVICE,
        MemoryKind::Pinned => allocert_abi::emm::KIND_PINNED,
        MemoryKind::Mapped => allocert_abi::emm::KIND_MAPPED,
    };
    Memory {
        kind,
        pointer: memory.device_pointer,
        host_pointer: memory.host_pointer as u64,
        size_bytes: memory.size_bytes,
        token: memory.token.0,
    }
}

fn raised(error: Error) -> Raised {
    let (status, cause) = match &error {
        Error::OutOfMemory(cause) => ("OUT_OF_MEMORY", Some(cause)),
        Error::InvalidValue(_) => ("INVALID_VALUE", None),
        Error::NotSupported(_) => ("NOT_SUPPORTED", None),
        Error::Driver(cause) => ("DRIVER_ERROR", Some(cause)),
        Error::State(_) => ("STATE", None),
    };
    let code = cause.and_then(|cause| cause.code()).map(u32::cast_signed);
    Raised {
        status: Some(status.into()),
        ..error_of_worker("allocert_emm::Error", error.to_string(), code)
    }
}
