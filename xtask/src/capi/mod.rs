//! What makes a C library of the workspace: its header, its installation, and programs in C and C++ that use
//! it.
mod check;
mod faults;
mod header;
mod install;
mod panics;
mod plugins;
mod programs;
mod shared;
mod symbols;

pub(crate) use check::run as check;
pub(crate) use header::run as header;
pub(crate) use install::{Places, destdir, install as install_to, run as install};
pub(crate) use shared::{must_succeed, version};
