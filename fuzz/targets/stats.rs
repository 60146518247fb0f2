//! Statistics as the interposer leaves them, and a program that wrote among them.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use libfuzzer_sys::{Corpus, fuzz_target};
use run::stats::file::Snapshot;
use stanchion_wire::stats::File;

mod sparse;
#[path = "../../crates/lab/src/run"]
mod run {
    pub(crate) mod record {
        pub(crate) mod codec;
    }
    pub(crate) mod stats {
        pub(crate) mod file;
    }
}

fuzz_target!(|lines: &[u8]| -> Corpus {
    let Ok(read) = sparse::file(size_of::<File>(), lines, Snapshot::read) else { return Corpus::Reject };
    serde_json::to_string(&read).expect("JSON");
    for lock in &read.locks {
        assert!(lock.process < read.processes.len() && lock.waited_ns >= 0.0, "{lock:?}");
    }
    Corpus::Keep
});
