//! The implemented functions, one for each row of the contract's table and of the same name. Each
//! reads its parameters, asks the driver and answers through the caller's pointers.
#![expect(non_snake_case, reason = "CUDA's own symbols")]

mod code;
mod contexts;
mod copies;
mod devices;
mod events;
mod fills;
mod host_memory;
mod launch;
mod memory;
mod occupancy;
mod pools;
mod sharing;
mod start;
mod streams;
mod text;

pub(crate) use self::{
    code::*, contexts::*, copies::*, devices::*, events::*, fills::*, host_memory::*, launch::*,
    memory::*, occupancy::*, pools::*, sharing::*, start::*, streams::*,
};
