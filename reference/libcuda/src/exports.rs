//! The exported symbols, generated from the contract's table: one for each function and one for
//! each per-thread variant.

use std::{ffi::c_void, mem};

use allocert_contract::trace::cuda::Function;

use crate::{
    api,
    c_api::{self, IpcHandle, Location, Out, Uuid, Word},
    forward, mode,
    symbol_lookup::{self, Symbol},
    trampoline,
};

macro_rules! define {
    ($function:ident as $symbol:ident, $per_thread:literal, ($($param:ident : $kind:ty),*)) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol($($param: $kind),*) -> i32 {
            if const { looks_up(Function::$function) } {
                symbol_lookup::publish(SYMBOLS);
            }
            if mode::forwards() {
                return forward::call(
                    Function::$function,
                    $per_thread,
                    || api::recorded(Function::$function, [$(Word::input($param)),*]),
                    |genuine| {
                        type Genuine = unsafe extern "C" fn($($kind),*) -> i32;
                        // SAFETY: the genuine driver's function of this name, whose public
                        // prototype this is.
                        let genuine: Genuine = unsafe { mem::transmute(genuine) };
                        // SAFETY: the caller's own arguments, for which the caller answers as to
                        // the genuine driver.
                        unsafe { genuine($($param),*) }
                    },
                    || c_api::pack([$(Word::output($param)),*]),
                );
            }
            c_api::call(
                Function::$function,
                $per_thread,
                || api::recorded(Function::$function, [$(Word::input($param)),*]),
                |call| api::$function(call, $($param),*),
                || c_api::pack([$(Word::output($param)),*]),
            )
        }
    };
}

macro_rules! define_stub {
    ($function:ident as $symbol:ident, $per_thread:literal) => {
        trampoline::define!(
            $symbol,
            Function::$function.index() as u32 | ($per_thread as u32) << 16
        );
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

        static SYMBOLS: &[Symbol] = &[
            $(Symbol {
                function: Function::$name,
                legacy: $name as *const c_void,
                per_thread: first(&[$($variant as *const c_void)?]),
            },)*
            $(Symbol {
                function: Function::$stub,
                legacy: $stub as *const c_void,
                per_thread: first(&[$($stub_variant as *const c_void)?]),
            },)*
        ];
    };
}

const fn first(variant: &[*const c_void]) -> Option<*const c_void> {
    if variant.is_empty() { None } else { Some(variant[0]) }
}

/// Whether a function answers with addresses of this table.
const fn looks_up(function: Function) -> bool {
    matches!(function, Function::cuGetProcAddress | Function::cuGetProcAddress_v2)
}

allocert_contract::driver_functions!(export);
