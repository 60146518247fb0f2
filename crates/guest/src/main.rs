//! The bare-metal program: the kernel that QEMU starts, around what the library of this package does.
#![no_std]
#![no_main]

extern crate alloc;

mod kernel;
