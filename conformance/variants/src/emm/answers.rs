//! Choices of what a plugin answers.

use allocert_abi::emm::{CAP_HOST_MEMORY, CAP_IPC, MemoryInfo, Status};
use allocert_abi::export_emm_plugin;
use allocert_abi::plugin::Failure;

use crate::emm::choice::{Answer, Choice, Cuda};
use crate::emm::manager::Manager;

export_emm_plugin! {
    variant_plain => Manager<Plain>,
    variant_device_memory_only => Manager<DeviceMemoryOnly>,
    variant_without_memory_info => Manager<WithoutMemoryInfo>,
    variant_declines_memory_info => Manager<DeclinesMemoryInfo>,
    variant_declines_ipc => Manager<DeclinesIpc>,
    variant_refuses_zero_bytes => Manager<RefusesZeroBytes>,
    variant_descending_tokens => Manager<DescendingTokens>,
}

/// Frees at once and answers plainly. It shares no code with the reference managers.
#[derive(Debug, Default)]
pub(crate) struct Plain;

impl Choice for Plain {}

/// Offers nothing beyond device memory.
#[derive(Debug, Default)]
struct DeviceMemoryOnly;

impl Choice for DeviceMemoryOnly {
    const CAPABILITIES: u32 = 0;
}

/// Offers host memory and IPC, but no memory information.
#[derive(Debug, Default)]
struct WithoutMemoryInfo;

impl Choice for WithoutMemoryInfo {
    const CAPABILITIES: u32 = CAP_HOST_MEMORY | CAP_IPC;
}

/// Offers memory information and has no way to tell.
#[derive(Debug, Default)]
struct DeclinesMemoryInfo;

impl Choice for DeclinesMemoryInfo {
    fn memory_info(&self, _cuda: Cuda) -> Answer<MemoryInfo> {
        let text = "get_memory_info: this plugin cannot tell how much memory is free";
        Err(Failure::new(Status::NOT_SUPPORTED, text))
    }
}

/// Offers IPC, and has no memory that other processes can open.
#[derive(Debug, Default)]
struct DeclinesIpc;

impl Choice for DeclinesIpc {
    fn shares(&self) -> bool {
        false
    }
}

/// Refuses every request for zero bytes.
#[derive(Debug, Default)]
struct RefusesZeroBytes;

impl Choice for RefusesZeroBytes {
    const SERVES_ZERO_BYTES: bool = false;
}

/// Counts its tokens down from the largest 64-bit number.
#[derive(Debug, Default)]
struct DescendingTokens;

impl Choice for DescendingTokens {
    fn token(&self, number: u64) -> u64 {
        u64::MAX - number
    }
    fn number(&self, token: u64) -> u64 {
        u64::MAX - token
    }
}
