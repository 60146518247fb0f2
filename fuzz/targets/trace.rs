//! Recordings: what is read is written, and reads as the same; it is summed up, and made ready for the
//! simulator.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use libfuzzer_sys::{Corpus, fuzz_target};
use run::record::file::{Whole, Writer, read};
use run::record::raw::Chunk;
use run::record::summary::Summary;

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
        pub(crate) mod summary;
    }
}

fn whole(bytes: &[u8]) -> Option<(Whole, Vec<Chunk>)> {
    let mut chunks = Vec::new();
    let whole = read(bytes, |chunk| {
        chunks.push(chunk.clone());
        Some(())
    });
    Some((whole.ok()?, chunks))
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let bytes = sections::summed(bytes);
    let Some((Whole { meta, locks, totals }, chunks)) = whole(&bytes) else { return Corpus::Reject };
    let mut writer = Writer::begin(Vec::new(), &meta).expect("memory does not fail");
    chunks.iter().for_each(|chunk| writer.chunk(chunk).expect("memory does not fail"));
    let written = writer.end(&locks, &totals).expect("memory does not fail");
    let (again, chunks_again) = whole(&written).expect("what was just written");
    assert_eq!((again.meta, again.locks, again.totals, chunks_again), (meta, locks, totals, chunks));
    let (_file, path) = memory::file(&bytes);
    if let Ok(summary) = Summary::of(&path) {
        _ = (summary.text(), summary.json());
    }
    _ = advise::load::load(&path, &run::Places::new(), false);
    Corpus::Keep
});
