//! The reference EMM managers as a native plugin: `liballocert_emm_reference.so`.

#![expect(unsafe_code, reason = "exports C symbols and takes the host's CUcontext")]

mod convert;
mod reference;

use allocert_emm::Kind;
use reference::{Described, Reference};

allocert_abi::export_emm_plugin! {
    allocert_emm_plugin_v1 => Reference<Pool>,
    allocert_emm_deferred => Reference<Deferred>,
    allocert_emm_host_only => Reference<HostOnly>,
}

/// Chunks, nothing freed until memory is short.
struct Pool;
/// Numba's deallocation policy.
struct Deferred;
/// The host side complete, the device side trivial; refuses memory information.
struct HostOnly;

impl Described for Pool {
    const KIND: Kind = Kind::Pool;
    const NAME: &'static std::ffi::CStr = c"allocert reference pool";
}

impl Described for Deferred {
    const KIND: Kind = Kind::Deferred;
    const NAME: &'static std::ffi::CStr = c"allocert reference deferred";
}

impl Described for HostOnly {
    const KIND: Kind = Kind::HostOnly;
    const NAME: &'static std::ffi::CStr = c"allocert reference host-only";
}
