//! The exported symbols, made from the contract's table: one for each function, one more for each per-thread variant.

use std::ffi::c_void;

use allocert_contract::trace::Function;

use crate::{
    api,
    border::{self, IpcHandle, Location, Out, Uuid, Word},
};

/// Where a function's code lies.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) function: Function,
    pub(crate) legacy: *const c_void,
    /// Its per-thread-default-stream variant, if it has one.
    pub(crate) per_thread: Option<*const c_void>,
}

// SAFETY: addresses of functions, which never change.
unsafe impl Sync for Symbol {}

macro_rules! define {
    ($function:ident as $symbol:ident, $per_thread:literal, ($($param:ident : $kind:ty),*)) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol($($param: $kind),*) -> i32 {
            border::call(
                Function::$function,
                $per_thread,
                || border::pack([$(Word::input($param)),*]),
                |call| api::$function(call, $($param),*),
                || border::pack([$(Word::output($param)),*]),
            )
        }
    };
}

macro_rules! define_stub {
    ($function:ident as $symbol:ident, $per_thread:literal) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol() -> i32 {
            border::unsupported(Function::$function, $per_thread)
        }
    };
}

macro_rules! export {
    (
        implemented { $($version:literal $name:ident $params:tt $(| $variant:ident)?;)* }
        unsupported { $($stub_version:literal $stub:ident $(| $stub_variant:ident)?;)* }
    ) => {
        $(
            define!($name as $name, false, $params);
            $(define!($name as $variant, true, $params);)?
        )*
        $(
            define_stub!($stub as $stub, false);
            $(define_stub!($stub as $stub_variant, true);)?
        )*

        pub(crate) static SYMBOLS: &[Symbol] = &[
            $(Symbol { function: Function::$name, legacy: $name as *const c_void, per_thread: first(&[$($variant as *const c_void)?]) },)*
            $(Symbol { function: Function::$stub, legacy: $stub as *const c_void, per_thread: first(&[$($stub_variant as *const c_void)?]) },)*
        ];
    };
}

const fn first(variant: &[*const c_void]) -> Option<*const c_void> {
    if variant.is_empty() { None } else { Some(variant[0]) }
}

allocert_contract::driver_functions!(export);
