//! What the interposer recorded, and a program that wrote among it: it becomes a sound trace.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use lab_kit::provenance::Provenance;
use libfuzzer_sys::{Corpus, fuzz_target};
use run::record::file::{Meta, convert, read};
use run::record::raw::Header;
use stanchion_wire::trace::PAGE;

mod memory;
mod sparse;
#[path = "../../crates/lab/src/run"]
mod run {
    pub(crate) mod record {
        pub(crate) mod codec;
        pub(crate) mod cost;
        pub(crate) mod file;
        pub(crate) mod raw;
    }
}

fuzz_target!(|lines: &[u8]| -> Corpus {
    let (raw, _) = sparse::file(32 * PAGE, lines, memory::file);
    let Ok(Some(header)) = Header::read(&raw) else { return Corpus::Reject };
    let (program, provenance) = (Vec::new(), Provenance::default());
    let meta =
        Meta { ticks_per_ns: 1.0, limit: 32 * PAGE as u64, program, provenance, cost: None, cpu: None };
    let mut trace = Vec::new();
    let totals = convert(&raw, &header, &meta, &mut trace).expect("memory does not fail");
    totals.missing();
    let whole = read(&trace[..], |chunk| chunk.items(|_| {})).expect("what was just written");
    assert_eq!((whole.totals, whole.meta), (totals, meta));
    Corpus::Keep
});
