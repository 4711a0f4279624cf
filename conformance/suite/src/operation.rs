//! The operations a step can ask for. The names, fields and defaults are the fixture format
//! (`fixtures/README.md`) and, serialised, the worker protocol: a worker is sent exactly these.

mod consumer;
mod host;
mod names;
mod producer;
mod stage;
mod table;
mod word;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::nouns::{ErrorKind, Name};
use allocert_contract::trace::plugin;

pub use consumer::{Access, Attribute, Import, Launch, Memory as ProducedMemory, Pend, Produce};
pub use host::{ForeignHandle, HostObject, PluginBase, PluginShape, PointerType};
pub use names::BoundType;
pub use producer::{Array, Derive, Field, Layout, Memory, ObjectKind, StreamKind};
pub use table::{ROOM_BYTES, TableCall};

/// What one step does. Externally tagged: `{memalloc: {size: 64, as: a}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    Describe {},
    Attach {
        #[serde(default)]
        device: u32,
    },
    Detach {},
    Create {
        r#as: Name,
        #[serde(default)]
        device: u32,
    },
    Destroy {},
    Initialize {},
    Memalloc {
        size: i128,
        r#as: Name,
    },
    Memhostalloc {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    HostBuffer {
        size: u64,
        r#as: Name,
    },
    Mempin {
        buffer: Name,
        #[serde(default)]
        mapped: bool,
        r#as: Name,
    },
    GetMemoryInfo {
        #[serde(default)]
        r#as: Option<Name>,
    },
    GetIpcHandle {
        memory: Name,
        r#as: Name,
    },
    Pickle {
        handle: Name,
    },
    PeerRead {
        handle: Name,
        size: u64,
    },
    Reset {},
    DeferEnter {
        r#as: Name,
    },
    DeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    Drop {
        name: Name,
    },
    Free {
        name: Name,
    },
    View {
        of: Name,
        offset: u64,
        size: u64,
        r#as: Name,
    },
    Fill {
        memory: Name,
        byte: u8,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        size: Option<u64>,
    },
    Read {
        memory: Name,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        size: Option<u64>,
        /// By way of the device address, also where there is one of the host.
        #[serde(default, skip_serializing_if = "is_false")]
        device: bool,
    },
    Churn {
        size: u64,
        times: u64,
        #[serde(default = "one")]
        hold: u64,
        #[serde(default, skip_serializing_if = "is_false")]
        mixed: bool,
    },
    Reenter {
        size: u64,
    },
    Stress {
        threads: u32,
        size: u64,
        times: u64,
    },
    Fault {
        call: String,
        #[serde(default = "one")]
        nth: u64,
        #[serde(default = "one")]
        count: u64,
        error: i32,
    },
    ClearFaults {},
    Collect {},
    Environment {
        name: String,
        value: String,
    },
    Register {
        /// What the class claims; `null` is a claim too.
        #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
        interface_version: Option<Value>,
        #[serde(default, skip_serializing_if = "PluginShape::is_default")]
        plugin: PluginShape,
    },
    RegisterByEnvironment {
        #[serde(default)]
        module: Option<String>,
    },
    OpenContext {},
    DeviceArray {
        size: u64,
        r#as: Name,
    },
    PinnedArray {
        size: u64,
        r#as: Name,
    },
    MappedArray {
        size: u64,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    ManagedArray {
        size: u64,
        r#as: Name,
    },
    ToDevice {
        size: u64,
        byte: u8,
        r#as: Name,
    },
    CopyToHost {
        array: Name,
    },
    Slice {
        of: Name,
        start: u64,
        stop: u64,
        r#as: Name,
    },
    PinBlock {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default = "one")]
        times: u64,
        #[serde(default)]
        raising: bool,
    },
    HostDeferEnter {
        r#as: Name,
    },
    HostDeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    HostMemoryInfo {},
    HostIpcHandle {
        array: Name,
        r#as: Name,
    },
    HostReset {},
    Close {},
    // The subject is the host.
    DescribeHost {},
    PluginFails {
        method: plugin::Function,
        error: ErrorKind,
        #[serde(default = "one")]
        times: u64,
    },
    SelectDevice {
        device: u32,
    },
    HostMemory {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    HostObject {
        kind: HostObject,
        r#as: Name,
    },
    HostSynchronize {},
    ForeignHandle(ForeignHandle),
    OpenHandle {
        handle: Name,
        r#as: Name,
    },
    CloseHandle {
        handle: Name,
    },
    HandleBlock {
        handle: Name,
        #[serde(default)]
        raising: bool,
    },
    // The subject is a C table.
    Call(TableCall),
    // The CUDA Array Interface, both sides. What has more than three fields is a structure of its
    // own.
    Instantiate {
        r#as: Name,
    },
    Stream {
        kind: StreamKind,
        r#as: Name,
    },
    SubjectStream {
        kind: StreamKind,
        r#as: Name,
    },
    Synchronize {
        stream: Name,
    },
    Alive {
        of: Name,
    },

    // The subject is a producer.
    Array(Array),
    Derive(Derive),
    Work {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
        byte: u8,
    },
    ReadWork {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    PlainObject {
        kind: ObjectKind,
        r#as: Name,
    },
    HasInterface {
        of: Name,
    },
    Export {
        of: Name,
        r#as: Name,
    },
    EditExport {
        export: Name,
    },
    Consume {
        export: Name,
        /// Of its mask instead, which is a producer too.
        #[serde(default)]
        mask: bool,
    },

    // The subject is a consumer.
    Produce(Produce),
    Pend(Pend),
    Import(Import),
    Access(Access),
    Launch(Launch),
    Inspect {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    Reuse(Pend),
    Release {
        on: Name,
        /// The worker's stream in whose order the memory is freed.
        #[serde(default)]
        stream: Option<Name>,
    },
    Reexport {
        of: Name,
        r#as: Name,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn one() -> u64 {
    1
}

/// A value that is there, be it `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
