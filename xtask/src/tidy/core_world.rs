//! `core-names-no-world`: the core and the family name neither std nor atomics nor a model checker.
//!
//! Their locks are generic over the machine beneath them; one that named a world could be
//! checked in that world only.
use super::Wrong;
use crate::source::Source;
use crate::tokens::Token;

/// Words of worlds, whether tests may have them, and what is said of each.
const WORDS: &[(&str, bool, &str)] = &[
    ("std", true, "the core names `std`; use `core`, or take it from the platform"),
    ("atomic", true, "the core names atomics; use the platform's atomic types"),
    ("loom", false, "the core asks whether it runs under loom; make it a type parameter instead"),
];

pub(super) fn check(source: &Source) -> Vec<Wrong> {
    if !["crates/core/src/", "crates/family/src/"].iter().any(|locks| source.path.starts_with(locks)) {
        return Vec::new();
    }
    let wrong = |token: &Token| {
        let (_, in_tests, message) = WORDS.iter().find(|(word, ..)| token.text == *word)?;
        (!in_tests || !source.in_tests(token.start.line)).then(|| (token.start.line, (*message).to_owned()))
    };
    source.tokens.iter().filter_map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings("core-names-no-world", "crates/core/src/mcs.rs", text)
    }

    #[test]
    fn std_is_found() {
        let expected = "crates/core/src/mcs.rs:1: [core-names-no-world] the core names `std`; use `core`, or take it \
                        from the platform";
        assert_eq!(found("use std::hint;\n"), [expected]);
        assert_eq!(found("extern crate std;\nfn f() { std::hint::spin_loop() }").len(), 2);
    }

    #[test]
    fn atomics_are_found_in_every_spelling() {
        let expected = "crates/core/src/mcs.rs:2: [core-names-no-world] the core names atomics; use the platform's \
                        atomic types";
        assert_eq!(found("//! Doc.\nuse core::sync::atomic::AtomicU32;\n"), [expected]);
        assert_eq!(found("use core::{sync::{atomic::{AtomicU8}, Exclusive}};").len(), 1);
        assert_eq!(found("fn f(x: &core::sync::atomic::AtomicBool) {}").len(), 1);
    }

    #[test]
    fn loom_is_found_even_in_tests() {
        let expected = "crates/core/src/mcs.rs:1: [core-names-no-world] the core asks whether it runs under loom; \
                        make it a type parameter instead";
        assert_eq!(found("#[cfg(not(loom))]\nmod a {}"), [expected]);
        assert_eq!(found("#[cfg(test)]\nmod a { fn f() { if cfg!(loom) {} } }").len(), 1);
    }

    #[test]
    fn clean_code_tests_and_other_crates_pass() {
        let clean = "//! Never std::sync::atomic.\n#![no_std]\nuse core::sync::Exclusive;\n#[cfg(feature = \"std\")]\n\
                     fn f(standard: f64) -> f64 { standard }\n#[cfg(test)]\nmod tests { use std::sync::atomic::AtomicU8; }\n";
        assert_eq!(found(clean), Vec::<String>::new());
        assert!(
            findings("core-names-no-world", "crates/stanchion/src/lib.rs", "use std::thread;").is_empty()
        );
    }
}
