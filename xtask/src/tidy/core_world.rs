//! `core-names-no-world`: the core and the family name neither std nor atomics nor a model checker.
//!
//! Their locks are generic over the machine beneath them; one that named a world could be
//! checked in that world only.
use crate::finding::Finding;
use crate::source::Source;
use crate::tokens::{each_level, group_at, is_ident, is_punct, line_of, mentions, path_sep_at};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

const RULE: &str = "core-names-no-world";

/// Files of locks that name a world.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if !["crates/core/src/", "crates/family/src/"].iter().any(|locks| source.path.starts_with(locks)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    each_level(&source.tokens, &mut |level| {
        for at in 0..level.len() {
            let line = line_of(&level[at]);
            if let Some(message) = world_at(level, at).filter(|_| !source.in_tests(line)) {
                findings.push(Finding::new(&source.path, line, RULE, message));
            }
            if names_loom(level, at) {
                let message = "the core asks whether it runs under loom; make it a type parameter instead";
                findings.push(Finding::new(&source.path, line, RULE, message));
            }
        }
    });
    findings
}

/// What is wrong with the word at `at`, exempt in tests.
fn world_at(level: &[TokenTree], at: usize) -> Option<&'static str> {
    if is_ident(&level[at], "std") && names_a_crate(level, at) {
        return Some("the core names `std`; use `core`, or take it from the platform");
    }
    let inside = at + 3;
    if !is_ident(&level[at], "sync") || !path_sep_at(level, at + 1) {
        return None;
    }
    let atomic = level.get(inside).is_some_and(|token| is_ident(token, "atomic") || is_punct(token, '*'))
        || group_at(level, inside, Delimiter::Brace).is_some_and(|group| lists_atomic(group.stream()));
    atomic.then_some("the core names atomics; use the platform's atomic types")
}

/// Whether the `std` at `at` is the crate and no field or variable.
fn names_a_crate(level: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &level[before]);
    path_sep_at(level, at + 1)
        || before.is_some_and(|token| is_ident(token, "crate") || is_ident(token, "use"))
}

/// Whether `{a, atomic::B}` names atomics in one of its parts.
fn lists_atomic(list: TokenStream) -> bool {
    crate::tokens::split_commas(list).into_iter().any(|part| {
        let first = part.into_iter().next();
        first.is_some_and(|token| is_ident(&token, "atomic") || is_punct(&token, '*'))
    })
}

/// Whether a `cfg(...)`, `cfg_attr(...)` or `cfg!(...)` at `at` mentions loom.
fn names_loom(level: &[TokenTree], at: usize) -> bool {
    if !is_ident(&level[at], "cfg") && !is_ident(&level[at], "cfg_attr") {
        return false;
    }
    let bang = usize::from(level.get(at + 1).is_some_and(|token| is_punct(token, '!')));
    group_at(level, at + 1 + bang, Delimiter::Parenthesis)
        .is_some_and(|group| mentions(&group.stream(), "loom"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings(check, "crates/core/src/mcs.rs", text)
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
                     fn f(std: f64) -> f64 { std }\n#[cfg(test)]\nmod tests { use std::sync::atomic::AtomicU8; }\n";
        assert_eq!(found(clean), Vec::<String>::new());
        assert!(findings(check, "crates/stanchion/src/lib.rs", "use std::thread;").is_empty());
    }
}
