//! The locks for C and C++. `cargo xtask header` generates `include/stanchion.h` from here, and
//! `include/stanchion_family.h` from what the feature `family` adds.
//!
//! Rules of every function:
//!
//! - It returns 0 or an error number as in pthreads, and leaves `errno` alone.
//! - A null or misaligned pointer is `EINVAL`. What else a pointer must be stands under `Safety`, in the
//!   header under `Caller`.
//! - A panic would be a fault of this library. None leaves it: the process ends with one line on the standard
//!   error output ([`boundary`]). What a caller can do wrong has an error number, or is said to be undefined.
//! - Every type is free if all its bytes are zero, so that `static` and `calloc` need no initialiser.
#![allow(
    non_camel_case_types,
    clippy::allow_attributes,
    reason = "types have the names that they have in C; not every module has one"
)]

pub mod boundary;
pub mod checked;
pub mod cond;
pub mod deadline;
pub mod events;
pub mod mutexes;
mod names;
pub mod percpu;
pub mod rwlock;
pub mod tunables;
