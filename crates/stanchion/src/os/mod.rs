//! All that the native world asks of an operating system and of a processor.
//!
//! A port is one directory beside `linux`, with what `absent.rs` lists: functions of these names and
//! contracts. Nothing else in this crate names a system, its libraries, or an architecture. docs/porting.md
//! tells the rest.
#[cfg_attr(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "linux/mod.rs"
)]
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "absent.rs"
)]
mod here;

pub(crate) use here::*;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!(
    "stanchion's feature `std` is for Linux on x86-64 and aarch64. A port is a directory in crates/stanchion/src/os with what os/absent.rs \
     lists: sleeping and waking at a word, two clocks, a barrier in all threads of the process, memory from the system, who the threads are and \
     whether they have ended, on which CPU and NUMA node they run, and prefetching. Without default features the crate builds everywhere: bring \
     a `Platform` of your own."
);
