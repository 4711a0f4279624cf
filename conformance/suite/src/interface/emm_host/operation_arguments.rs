//! What operations on a host under test are made of. Its plugin is the worker's.

use serde::{Deserialize, Serialize};

use crate::nouns::Name;
use allocert_contract::trace::plugin;

/// What a host cares for itself, whatever plugin it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostObject {
    Stream,
    Event,
    Module,
}

/// Memory of a second process, and the handle that it makes for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignHandle {
    pub size: u64,
    /// The value of all bytes of the memory.
    pub byte: u8,
    #[serde(default)]
    pub device: u32,
    /// Where the memory begins in its allocation. The bytes before have another value.
    #[serde(default)]
    pub offset: u64,
    pub r#as: Name,
}

/// The plugin that a host under test is given, where it is not the faithful one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginShape {
    /// The base class.
    #[serde(default)]
    pub base: PluginBase,
    /// Methods that the plugin leaves to its base class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<plugin::Function>,
    /// The Python type of addresses.
    #[serde(default)]
    pub pointer: PointerType,
    /// Return mapped memory as the bare `MappedMemory` that the texts ask for.
    #[serde(default)]
    pub bare: bool,
    /// Leave IPC handles to `GetIpcHandleMixin`.
    #[serde(default)]
    pub mixin: bool,
}

impl PluginShape {
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The base class of a plugin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginBase {
    /// `BaseCUDAMemoryManager`.
    #[default]
    Full,
    /// `HostOnlyCUDAMemoryManager`.
    HostOnly,
}

/// A pointer in Python.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointerType {
    #[default]
    Integer,
    CVoidP,
    CUint64,
}
