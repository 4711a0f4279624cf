//! The managers over a scripted driver: what can be said without a CUDA library.

#![forbid(unsafe_code)]

mod deferred;
mod every;
mod model;
mod pool;
mod script;
