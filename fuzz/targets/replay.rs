//! Recordings, as the simulator replays them. Its contexts have stacks of their own, which the address
//! sanitizer does not know: this is built without it.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use libfuzzer_sys::fuzz_target;
use stanchion_sim::{MS, Spec, machine, run as simulate};

mod memory;
mod sections;
#[path = "../../crates/lab/src/advise"]
mod advise {
    pub(crate) mod load;
    mod order;
    mod program;
    mod telling;
    mod walk;
    mod window;
}
#[path = "../../crates/lab/src/run"]
mod run {
    pub(crate) type Places = std::collections::BTreeMap<(u32, String), Vec<String>>;
    pub(crate) mod record {
        pub(crate) mod codec;
        pub(crate) mod cost;
        pub(crate) mod file;
        pub(crate) mod raw;
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (_file, path) = memory::file(&sections::summed(bytes));
    let Ok((recorded, recording)) = advise::load::load(&path, &run::Places::new(), false) else { return };
    let spec = Spec {
        machine: &machine::load("small-vm").expect("shipped").machine,
        workload: &recorded.workload("recorded"),
        lock: "libc-mutex+libc-rwlock",
        tunings: &[],
        contexts: recording.threads,
        seed: 1,
        time: 10 * MS,
        warm_up: 0,
        record: None,
        most_events: 20_000,
    };
    // It may not come to anything, as when its threads wait for each other.
    _ = simulate(&spec, &|| false);
});
