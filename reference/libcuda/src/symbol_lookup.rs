//! Finds symbols for `cuGetProcAddress`, by a name without suffix and a CUDA version.

use std::{collections::HashMap, ffi::c_void, sync::OnceLock};

use allocert_contract::trace::cuda::Function;

/// Where the code of an exported function lies.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) function: Function,
    pub(crate) legacy: *const c_void,
    /// Its per-thread-default-stream variant, if it has one.
    pub(crate) per_thread: Option<*const c_void>,
}

/// One of a function's symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) per_thread: bool,
    pub(crate) address: *const c_void,
}

impl Symbol {
    /// The variant for per-thread default streams, if that is wanted and exists.
    pub(crate) fn entry(&self, per_thread: bool) -> Entry {
        let variant = self.per_thread.filter(|_| per_thread);
        Entry {
            function: self.function,
            per_thread: variant.is_some(),
            address: variant.unwrap_or(self.legacy),
        }
    }

    /// The CUDA version that introduced the symbol, or its variant for per-thread default streams.
    fn introduced(&self, per_thread: bool) -> i32 {
        let introduced = self.function.introduced();
        let of_variant = per_thread && self.per_thread.is_some();
        if of_variant { introduced.max(PER_THREAD_STREAMS) } else { introduced }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        [self.entry(false), self.entry(true)]
            .into_iter()
            .take(1 + usize::from(self.per_thread.is_some()))
    }
}

// SAFETY: addresses of functions, which never change.
unsafe impl Sync for Symbol {}

/// By the name without suffix.
static BY_NAME: OnceLock<HashMap<&'static str, Vec<&'static Symbol>>> = OnceLock::new();

/// `CUdriverProcAddressQueryResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Symbol(Entry),
    /// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
    Unknown,
    /// `CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`.
    TooNew,
}

/// CUDA has per-thread default streams from this version on.
const PER_THREAD_STREAMS: i32 = 7000;

/// The newest symbol called `name` that is not newer than `version`, and not newer than the driver.
pub(crate) fn find(name: &str, version: i32, driver_version: i32, per_thread: bool) -> Found {
    let known =
        versions(name).iter().filter(|symbol| symbol.function.introduced() <= driver_version);
    let has_variants = per_thread && known.clone().any(|symbol| symbol.per_thread.is_some());
    let newest = known
        .clone()
        .filter(|symbol| !has_variants || symbol.per_thread.is_some())
        .filter(|symbol| symbol.introduced(per_thread) <= version)
        .max_by_key(|symbol| symbol.function.introduced());
    match newest {
        Some(symbol) => Found::Symbol(symbol.entry(per_thread)),
        None if known.count() > 0 => Found::TooNew,
        None => Found::Unknown,
    }
}

/// All symbols that share the name without suffix. There are none before `publish`.
pub(crate) fn versions(name: &str) -> &'static [&'static Symbol] {
    BY_NAME.get().and_then(|by_name| by_name.get(name)).map_or(&[], Vec::as_slice)
}

/// Tells the look-up which symbols there are. The exported functions lie above it and do so before
/// they look one up.
pub(crate) fn publish(symbols: &'static [Symbol]) {
    BY_NAME.get_or_init(|| {
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for symbol in symbols {
            by_name.entry(symbol.function.base_name()).or_default().push(symbol);
        }
        by_name
    });
}
