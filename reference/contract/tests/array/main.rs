//! The CUDA Array Interface as data: what is valid, what is wrong with the rest, and where elements
//! lie.

#![forbid(unsafe_code)]

mod fuzz;
mod generator;
mod interpretations;
mod json;
mod layout;

mod rules;
mod typestr;
mod vector;
