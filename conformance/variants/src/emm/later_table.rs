//! A table that has grown at its end, as a later version of the header may make it.

use std::mem::size_of;

use allocert_abi::emm::Plugin;
use allocert_abi::table;

use crate::emm::answers::Plain;
use crate::emm::manager::Manager;

/// The members of version 1, and three more.
#[repr(C)]
struct LaterTable {
    version_1: Plugin,
    more: [usize; 3],
}

// SAFETY: nobody writes the table, and its text is static.
unsafe impl Sync for LaterTable {}

/// A table that is larger than version 1 of the header.
#[unsafe(no_mangle)]
pub(super) extern "C" fn variant_larger_table() -> *const Plugin {
    static TABLE: LaterTable = LaterTable {
        version_1: Plugin { size: size_of::<LaterTable>(), ..table::<Manager<Plain>>() },
        more: [0; 3],
    };
    (&raw const TABLE).cast()
}
