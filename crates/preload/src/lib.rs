//! `libstanchion_preload.so`: replaces the mutexes, reader-writer locks, spin locks and condition variables
//! of an unmodified program.
//!
//! ```sh
//! STANCHION=lock=stanchion LD_PRELOAD=/path/to/libstanchion_preload.so program
//! ```
//!
//! A lock of ours lives in the program's own object (`object.rs` has the layouts): there is no table, nothing
//! is allocated, and nothing is left behind. What we cannot do faithfully (process-shared, robust,
//! priority-inheriting or -protecting objects) is libc's from its initialisation to its destruction. Each
//! call reads from the object itself whose it is. A condition variable is nobody's while nobody waits, and a
//! spin lock is of use to both.
//!
//! - `config.rs`: the word `STANCHION`, read at the first call, which may come before any constructor.
//! - `locks.rs`: the locks that a mutex can be made of; `rules.rs`: other ones for some mutexes.
//! - `mutex.rs`, `rwlock.rs`, `spin.rs`, `condition.rs`, `cancel.rs`, `c11.rs`, `second_names.rs`: the
//!   exported functions.
//! - `whose.rs`: whose a condition variable is. `uses.rs`: mutexes with which somebody waits. `two.rs`,
//!   `two_rw.rs`: mutexes and reader-writer locks that libc's functions use beside ours.
//! - `stats/`: what happens at each lock, counted in a file.
//! - `maps.rs`: which file an address is in.
//! - `trace/`: when each thread took which lock, and for how long.
//! - `fork.rs`: what the child of a `fork` forgets.
//! - `libc_own.rs`: libc's functions, for what is left to it. `load.rs`: what happens at load. `thread/`: who
//!   a thread is, and where it has what. `descriptor.rs`: files. `say.rs`: what is said on standard error;
//!   `verbose.rs`: what is so on request.
//!
//! Invariants:
//! - **IW1** Nothing here allocates, prints on standard output, or calls a replaced function.
//! - **IW2** Between a lock and its unlock nothing changes what an object is. Kinds are set when it is
//!   initialised, and the lock of the process at its first use. The thread that hands an object over to libc
//!   has the lock, and does not keep it.
//! - **IW3** After a release the object is not touched.
//! - **IW4** is told in `fork.rs`.
//! - **IW5** Where libc notes who holds a mutex or a reader-writer lock it finds ours free, or with an owner
//!   that is none of its threads. We use one only after we saw that libc does not hold it (`two.rs`).
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!(
    "the interposer lives in glibc's objects, on x86-64 and aarch64: another C library needs its own object.rs, another architecture a file in \
     thread/; docs/porting.md has the list"
);

mod c11;
mod cancel;
mod condition;
mod config;
mod descriptor;
mod fork;
mod libc_own;
mod load;
mod locks;
mod maps;
mod mutex;
mod object;
mod rules;
mod rwlock;
mod say;
mod second_names;
mod spin;
mod stats;
mod thread;
mod time;
mod trace;
mod two;
mod two_rw;
mod uses;
mod verbose;
mod whose;
