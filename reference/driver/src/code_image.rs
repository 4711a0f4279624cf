//! Reads from a code image the names of its kernels and what it says of each.
//!
//! PTX and cubins are read. A fat binary may be compressed and is opaque, as is everything else. An
//! image comes from the program and may hold anything: reading it always ends, takes memory in
//! proportion to its size, and at worst finds no kernels.

mod cubin;
mod ptx;
mod ptx_check;

use std::{collections::BTreeMap, sync::Arc};

use crate::error::Result;

/// A parameter's place in the block of a kernel's parameters, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub offset: u32,
    pub size: u32,
}

/// A kernel's parameters in order; `None` if the image does not have them.
pub type Layout = Option<Arc<[Parameter]>>;

/// What an image says of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub layout: Layout,
    /// The architecture that its PTX is for, 90 for `sm_90`.
    pub(crate) target: i32,
    /// The constants of its module.
    pub(crate) constant_bytes: u64,
    /// The shared memory that each block has.
    pub(crate) shared_bytes: u64,
    /// The most threads of a block (`.maxntid`).
    pub(crate) most_threads: Option<u32>,
    /// The threads that a block must have along x, y and z (`.reqntid`).
    pub(crate) block: Option<[u32; 3]>,
}

impl Default for Kernel {
    /// That of an image that is not understood. An H200 is `sm_90`.
    fn default() -> Self {
        Self {
            layout: None,
            target: 90,
            constant_bytes: 0,
            shared_bytes: 0,
            most_threads: None,
            block: None,
        }
    }
}

/// All kernels of an image, by the names under which they are looked up, and its variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernels {
    kernels: BTreeMap<String, Kernel>,
    /// The bytes of each; those of PTX alone are known.
    variables: BTreeMap<String, u64>,
}

/// CUDA lets a kernel have 32764 bytes of parameters; no image can make us believe in more than
/// this.
const MAX_PARAMETER_BYTES: u64 = 1 << 16;

impl Kernels {
    /// Those of PTX text.
    pub fn of_ptx(text: &str) -> Self {
        Self { kernels: ptx::kernels(text), variables: ptx::variables(text) }
    }

    /// What `cuModuleLoadData` answers to PTX text that a driver cannot compile for an H200:
    /// `INVALID_IMAGE`, `UNSUPPORTED_PTX_VERSION` or `INVALID_PTX`. What is not understood passes.
    pub fn check_ptx(text: &str, driver_version: i32) -> Result {
        ptx_check::check(text, driver_version)
    }

    /// Those of a cubin, of which `read` fills a buffer from an offset on, or says that it cannot.
    /// `None` if it is none.
    pub fn of_cubin(read: &mut dyn FnMut(u64, &mut [u8]) -> bool) -> Option<Self> {
        cubin::kernels(read).map(|kernels| Self { kernels, ..Self::default() })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }

    /// `None` if there is no such kernel.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    pub(crate) fn has_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// The bytes of a variable; `None` if there is none of that name.
    pub(crate) fn variable_bytes(&self, name: &str) -> Option<u64> {
        self.variables.get(name).copied()
    }
}
