//! The operations a step can ask for. The names, fields and defaults are the fixture format (`fixtures/README.md`) and,
//! serialised, the worker protocol: a worker is sent exactly these.

mod consumer;
mod host;
mod names;
mod producer;
mod stage;
mod word;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::case::Kind;
use crate::plugin::Method;

pub use consumer::{Access, Attribute, Import, Launch, Memory as ProducedMemory, Pend, Produce};
pub use host::{ForeignHandle, HostObject, PluginBase, PluginShape, PointerType};
pub use names::Noun;
pub use producer::{Array, Derive, Field, Layout, Memory, ObjectKind, StreamKind};

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
        r#as: String,
        #[serde(default)]
        device: u32,
    },
    Destroy {},
    Initialize {},
    Memalloc {
        size: i128,
        r#as: String,
    },
    Memhostalloc {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: String,
    },
    HostBuffer {
        size: u64,
        r#as: String,
    },
    Mempin {
        buffer: String,
        #[serde(default)]
        mapped: bool,
        r#as: String,
    },
    GetMemoryInfo {
        #[serde(default)]
        r#as: Option<String>,
    },
    GetIpcHandle {
        memory: String,
        r#as: String,
    },
    Pickle {
        handle: String,
    },
    PeerRead {
        handle: String,
        size: u64,
    },
    Reset {},
    DeferEnter {
        r#as: String,
    },
    DeferExit {
        scope: String,
        #[serde(default)]
        raising: bool,
    },
    Drop {
        name: String,
    },
    Free {
        name: String,
    },
    View {
        of: String,
        offset: u64,
        size: u64,
        r#as: String,
    },
    Fill {
        memory: String,
        byte: u8,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        size: Option<u64>,
    },
    Read {
        memory: String,
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
        r#as: String,
    },
    PinnedArray {
        size: u64,
        r#as: String,
    },
    MappedArray {
        size: u64,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: String,
    },
    ManagedArray {
        size: u64,
        r#as: String,
    },
    ToDevice {
        size: u64,
        byte: u8,
        r#as: String,
    },
    CopyToHost {
        array: String,
    },
    Slice {
        of: String,
        start: u64,
        stop: u64,
        r#as: String,
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
        r#as: String,
    },
    HostDeferExit {
        scope: String,
        #[serde(default)]
        raising: bool,
    },
    HostMemoryInfo {},
    HostIpcHandle {
        array: String,
        r#as: String,
    },
    HostReset {},
    Close {},
    // The subject is the host.
    DescribeHost {},
    PluginFails {
        method: Method,
        error: Kind,
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
        r#as: String,
    },
    HostObject {
        kind: HostObject,
        r#as: String,
    },
    HostSynchronize {},
    ForeignHandle(ForeignHandle),
    OpenHandle {
        handle: String,
        r#as: String,
    },
    CloseHandle {
        handle: String,
    },
    HandleBlock {
        handle: String,
        #[serde(default)]
        raising: bool,
    },
    // The CUDA Array Interface, both sides. What has more than three fields is a structure of its own.
    Instantiate {
        r#as: String,
    },
    Stream {
        kind: StreamKind,
        r#as: String,
    },
    SubjectStream {
        kind: StreamKind,
        r#as: String,
    },
    Synchronize {
        stream: String,
    },
    Alive {
        of: String,
    },

    // The subject is a producer.
    Array(Array),
    Derive(Derive),
    Work {
        on: String,
        #[serde(default)]
        stream: Option<String>,
        byte: u8,
    },
    ReadWork {
        on: String,
        #[serde(default)]
        stream: Option<String>,
    },
    PlainObject {
        kind: ObjectKind,
        r#as: String,
    },
    HasInterface {
        of: String,
    },
    Export {
        of: String,
        r#as: String,
    },
    EditExport {
        export: String,
    },
    Consume {
        export: String,
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
        on: String,
        #[serde(default)]
        stream: Option<String>,
    },
    Reuse(Pend),
    Release {
        on: String,
        /// The worker's stream in whose order the memory is freed.
        #[serde(default)]
        stream: Option<String>,
    },
    Reexport {
        of: String,
        r#as: String,
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
