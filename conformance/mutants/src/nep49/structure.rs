//! Broken structures.

use std::ffi::c_char;

use allocert_abi::nep49::{Allocator, Handler, NAME_BYTES, StaticHandler, VERSION};

use super::conforming::CONFORMING;

#[unsafe(no_mangle)]
static mutant_nep49_endless_name: StaticHandler = StaticHandler(Handler {
    name: [b'x' as c_char; NAME_BYTES],
    version: VERSION,
    allocator: CONFORMING,
});

#[unsafe(no_mangle)]
static mutant_nep49_latin_1_name: StaticHandler = StaticHandler({
    let mut handler = Handler::new("caf", CONFORMING);
    handler.name[3] = 0xe9_u8 as c_char;
    handler
});

#[unsafe(no_mangle)]
static mutant_nep49_version_2: StaticHandler =
    StaticHandler(Handler { version: 2, ..Handler::new("mutant", CONFORMING) });

#[unsafe(no_mangle)]
static mutant_nep49_no_realloc: StaticHandler =
    StaticHandler(Handler::new("mutant", Allocator { realloc: None, ..CONFORMING }));

// What is no handler, and is refused.

#[unsafe(no_mangle)]
static not_a_handler_but_a_pointer: &StaticHandler = &mutant_nep49_version_2;

#[unsafe(no_mangle)]
extern "C" fn not_a_handler_but_a_function() -> &'static StaticHandler {
    &mutant_nep49_version_2
}

/// The four functions and their context.
#[unsafe(no_mangle)]
static not_a_handler_but_a_table: [usize; 5] = [1; 5];
