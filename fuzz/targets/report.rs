//! Results of commands, two of them side by side: what is said of them, and written.
#![no_main]
#![allow(dead_code, reason = "what the laboratory does besides with what it read")]
use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "../../crates/lab/src/report"]
mod report {
    mod compare;
    mod forms;
    mod told;

    /// Compares two files and writes all that there is to say; none if that cannot be.
    pub(crate) fn compared(file: &str, other: &str) -> Option<()> {
        let file = forms::Results::parse("a.json", file).ok()?;
        let other = forms::Results::parse("b.json", other).ok()?;
        let unlike = ["machine", "arguments", "version", "files"].map(str::to_owned);
        let report = compare::Report::of(vec![file, other], &unlike, &[]).ok()?;
        _ = (told::text(&report, false), told::csv(&report), told::page(&report));
        _ = (told::doubts(&report), lab_kit::export::json(&report));
        Some(())
    }
}

fuzz_target!(|text: &str| -> Corpus {
    let (file, other) = text.split_once('\0').unwrap_or((text, text));
    report::compared(file, other).map_or(Corpus::Reject, |()| Corpus::Keep)
});
