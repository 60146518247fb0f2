//! The guest's serial line: whatever comes over it, what is kept and shown is little and harmless.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use guest::record::{Line, WIDTH};
use guest::transcript::{Ending, Told, Transcript};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lab/src/guest"]
mod guest {
    pub(crate) mod record;
    pub(crate) mod transcript;
}

fuzz_target!(|bytes: &[u8]| {
    let (mut from, mut transcript) = (bytes, Transcript::default());
    while let Some(line) = Line::next(&mut from).expect("memory does not fail") {
        transcript.take(&line);
    }
    let (_, reason) = transcript.state(Ending::Own, Some(33), "exit code 33");
    assert!(transcript.log.len() <= 12);
    for text in transcript.log.iter().chain(&reason) {
        assert!(text.chars().count() < 2 * WIDTH && !text.contains(char::is_control), "{text:?}");
    }
    let told = serde_json::to_string(&transcript.told).expect("JSON");
    assert_eq!(serde_json::from_str::<Told>(&told).expect("JSON"), transcript.told);
});
