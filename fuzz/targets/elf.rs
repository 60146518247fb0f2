//! Programs and libraries: which loader they ask for, and whether they take locks.
#![no_main]
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lab/src/run/elf.rs"]
mod elf;
mod memory;

fuzz_target!(|bytes: &[u8]| {
    let (_file, path) = memory::file(bytes);
    if let Err(why) = elf::loader(&path) {
        assert!(why.lines().count() == 1 && why.len() < 200, "{why:?}");
    }
    elf::takes_locks(&path);
});
