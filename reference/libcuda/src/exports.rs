//! The exported symbols, generated from the contract's table: one for each function and one for
//! each per-thread variant.

use std::{ffi::c_void, mem};

use allocert_contract::trace::cuda::Function;

use crate::{
    api,
    c_api::{self, IpcHandle, Location, Out, Uuid, Word},
    forward, mode, trampoline,
};

/// Where a function's code lies.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) function: Function,
    pub(crate) legacy: *const c_void,
    /// Its per-thread-default-stream variant, if it has one.
    pub(crate) per_thread: Option<*const c_void>,
    per_thread_name: Option<&'static str>,
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

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        [self.entry(false), self.entry(true)]
            .into_iter()
            .take(1 + usize::from(self.per_thread.is_some()))
    }

    /// The exported names: without and with the suffix of per-thread default streams.
    pub(crate) fn names(&self) -> [Option<&'static str>; 2] {
        [Some(self.function.name()), self.per_thread_name]
    }
}

// SAFETY: addresses of functions, which never change.
unsafe impl Sync for Symbol {}

macro_rules! define {
    ($function:ident as $symbol:ident, $per_thread:literal, ($($param:ident : $kind:ty),*)) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $symbol($($param: $kind),*) -> i32 {
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

        pub(crate) static SYMBOLS: &[Symbol] = &[
            $(Symbol {
                function: Function::$name,
                legacy: $name as *const c_void,
                per_thread: first(&[$($variant as *const c_void)?]),
                per_thread_name: first_name(&[$(stringify!($variant))?]),
            },)*
            $(Symbol {
                function: Function::$stub,
                legacy: $stub as *const c_void,
                per_thread: first(&[$($stub_variant as *const c_void)?]),
                per_thread_name: first_name(&[$(stringify!($stub_variant))?]),
            },)*
        ];
    };
}

const fn first(variant: &[*const c_void]) -> Option<*const c_void> {
    if variant.is_empty() { None } else { Some(variant[0]) }
}

const fn first_name(variant: &[&'static str]) -> Option<&'static str> {
    if variant.is_empty() { None } else { Some(variant[0]) }
}

allocert_contract::driver_functions!(export);
