//! Finds symbols for `cuGetProcAddress`, by a name without suffix and a CUDA version.

use std::{collections::HashMap, sync::OnceLock};

use crate::exports::{Entry, SYMBOLS, Symbol};

/// `CUdriverProcAddressQueryResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Symbol(Entry),
    /// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
    Unknown,
    /// `CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`.
    TooNew,
}

/// The newest symbol called `name` that is not newer than `version`, and not newer than the driver.
pub(crate) fn find(name: &str, version: i32, driver_version: i32, per_thread: bool) -> Found {
    let known =
        versions(name).iter().filter(|symbol| symbol.function.introduced() <= driver_version);
    let newest = known
        .clone()
        .filter(|symbol| symbol.function.introduced() <= version)
        .max_by_key(|symbol| symbol.function.introduced());
    match newest {
        Some(symbol) => Found::Symbol(symbol.entry(per_thread)),
        None if known.count() > 0 => Found::TooNew,
        None => Found::Unknown,
    }
}

/// All symbols that share the name without suffix.
pub(crate) fn versions(name: &str) -> &'static [&'static Symbol] {
    static BY_NAME: OnceLock<HashMap<&'static str, Vec<&'static Symbol>>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut map: HashMap<_, Vec<_>> = HashMap::new();
        for symbol in SYMBOLS {
            map.entry(symbol.function.base_name()).or_default().push(symbol);
        }
        map
    });
    by_name.get(name).map_or(&[], Vec::as_slice)
}
