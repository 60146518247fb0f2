//! Programs and libraries with debug information, in which the places of locks are named.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use libfuzzer_sys::fuzz_target;
use run::stats::file::Snapshot;
use run::stats::symbols::name_places;
use stanchion_wire::stats::File;
use std::os::unix::ffi::OsStringExt;

mod memory;
mod sparse;
#[path = "../../crates/lab/src/run"]
mod run {
    pub(crate) mod record {
        pub(crate) mod codec;
    }
    pub(crate) mod stats {
        pub(crate) mod file;
        pub(crate) mod symbols;
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (_file, path) = memory::file(bytes);
    let lines = include_bytes!("../corpus/stats/program");
    let mut read = sparse::file(size_of::<File>(), lines, Snapshot::read).expect("a good file");
    for module in &mut read.modules {
        (module.start, module.end, module.offset) = (0, u64::MAX, 0);
        module.path = path.clone().into_os_string().into_vec();
    }
    // Calls everywhere near the start, where small programs have their code.
    read.locks.truncate(1);
    read.locks[0].frames = (1..1000).step_by(8).collect();
    name_places(&mut read);
});
