//! Bytes as C's `char`, which has a sign on x86-64 and none on aarch64.

use std::ffi::c_char;

pub(crate) fn byte_of(character: c_char) -> u8 {
    u8::from_ne_bytes(character.to_ne_bytes())
}

pub(crate) fn c_char_of(byte: u8) -> c_char {
    c_char::from_ne_bytes(byte.to_ne_bytes())
}
