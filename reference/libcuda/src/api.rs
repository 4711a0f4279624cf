//! What each implemented function does: unpack, ask the driver, answer through the caller's
//! pointers. One function for each row of the contract's table, of the same name.
#![expect(non_snake_case, reason = "CUDA's own symbols")]

mod code;
mod contexts;
mod copies;
mod devices;
mod events;
mod hostmemory;
mod launch;
mod memory;
mod occupancy;
mod pools;
mod sharing;
mod start;
mod streams;
mod text;

pub(crate) use self::{
    code::*, contexts::*, copies::*, devices::*, events::*, hostmemory::*, launch::*, memory::*,
    occupancy::*, pools::*, sharing::*, start::*, streams::*,
};
