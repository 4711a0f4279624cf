//! The table of an allocator, copied.

use std::ffi::CString;
use std::path::PathBuf;

use allocert_abi::place::{Allocator, AllocatorFn, SYMBOL, VERSION};
use allocert_suite::observation::Facts;
use serde_json::json;

use crate::c_table;
use crate::checked_memory;
use crate::library;
use crate::protocol::Refused;
use crate::step_result::facts;

/// What every table must hold before anything of it can be read: `size` and the version.
const OPENING_BYTES: usize = std::mem::offset_of!(Allocator, reserved);

/// As much of a table as its `size` says, and zeros.
type Bytes = [u8; size_of::<Allocator>()];

/// A library's table. What lies beyond its own `size` is absent here.
pub(crate) struct Table {
    allocator: Allocator,
    /// What answered the table, and where it lay with what in it.
    function: AllocatorFn,
    address: usize,
    bytes: Bytes,
    path: Option<PathBuf>,
}

// SAFETY: the functions are the library's, which every thread may call (header, Threads); the texts
// live as long as the library, which is never closed, and only the kernel reads them.
unsafe impl Send for Table {}
// SAFETY: as for Send.
unsafe impl Sync for Table {}

/// The default symbol without its NUL.
pub(crate) fn symbol() -> &'static str {
    std::str::from_utf8(SYMBOL).unwrap_or_default().trim_end_matches('\0')
}

impl Table {
    /// The table that is part of this program.
    pub(crate) fn reference() -> Result<Self, Refused> {
        Self::of(allocert_place::allocert_place_allocator_v1, None)
            .map_err(|why| Refused::new("table", format!("the reference allocator: {why}"), ""))
    }

    /// Loads the library and looks at the table behind `symbol`. The library is never closed.
    pub(crate) fn open(path: PathBuf, symbol: &str) -> Result<Self, Refused> {
        let library = library::open(&path)?;
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: a symbol of this name has this type by the contract; another type is the
        // library's lie.
        let function = unsafe { library.get::<AllocatorFn>(name.as_bytes_with_nul()) }
            .map_err(|error| library::no_symbol(&path, symbol, &error))?;
        let function: AllocatorFn = *function;
        let file = path.display().to_string();
        let table = Self::of(function, Some(path)).map_err(|why| {
            let message = format!("{file}: `{symbol}` answered no usable table: {why}");
            Refused::new("table", message, "")
        })?;
        std::mem::forget(library);
        Ok(table)
    }

    /// Copies the table that a function answers.
    fn of(function: AllocatorFn, path: Option<PathBuf>) -> Result<Self, String> {
        // SAFETY: takes nothing and makes no driver call (header, allocert_place_allocator_fn).
        let address = unsafe { function() }.addr();
        let bytes: Bytes = c_table::copy(address, OPENING_BYTES)?;
        // SAFETY: every bit pattern is an Allocator: numbers, raw pointers, and function pointers
        // or NULL.
        let allocator = unsafe { bytes.as_ptr().cast::<Allocator>().read_unaligned() };
        Ok(Self { allocator, function, address, bytes, path })
    }

    pub(crate) fn allocator(&self) -> &Allocator {
        &self.allocator
    }

    pub(crate) fn file(&self) -> String {
        self.path.as_deref().map_or_else(String::new, |path| path.display().to_string())
    }

    /// Whether this host speaks the table's version of the interface.
    pub(crate) fn is_spoken(&self) -> bool {
        self.allocator.interface_version == VERSION
    }

    /// Whether the symbol still answers the same table, with the same in it.
    fn is_same(&self) -> bool {
        // SAFETY: as when it was loaded.
        let address = unsafe { (self.function)() }.addr();
        let bytes = c_table::copy(address, OPENING_BYTES);
        address == self.address && bytes.is_ok_and(|bytes: Bytes| bytes == self.bytes)
    }

    pub(crate) fn describe(&self) -> Facts {
        let Allocator {
            size, interface_version, reserved, name, version, alloc, free, used, ..
        } = &self.allocator;
        let functions =
            [("alloc", alloc.is_none()), ("free", free.is_none()), ("used", used.is_none())];
        let missing: Vec<_> =
            functions.into_iter().filter(|(_, null)| *null).map(|(name, _)| name).collect();
        facts([
            ("interface_version", json!(interface_version)),
            ("size_bytes", json!(size)),
            ("reserved", json!(reserved)),
            ("null_members", json!(missing)),
            ("name", json!(checked_memory::utf8(name.addr()))),
            ("version", json!(checked_memory::utf8(version.addr()))),
            ("same_table", json!(self.is_same())),
        ])
    }
}
