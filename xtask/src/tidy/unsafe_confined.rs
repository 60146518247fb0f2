//! `unsafe-confined`: crates that need no unsafe code forbid it at their root. Where one denies it, whoever
//! lifts the denial gives a reason. Clippy sees that of outer attributes only, and may be told not to.
use super::Wrong;
use crate::source::Source;
use crate::tokens::{Token, reads};
use syn::Attribute;

/// Crates under the rule, by directory, with what may stand at their roots.
const CONFINED: &[(&str, &[&str])] = &[
    ("crates/core", &["forbid"]),
    ("crates/family", &["forbid"]),
    ("crates/model", &["forbid"]),
    ("crates/cells", &["forbid"]),
    ("crates/python", &["forbid"]),
    ("xtask", &["forbid"]),
    // It calls pthread locks as peers in benchmarks and implements `lock_api::RawMutex` for its test locks.
    ("crates/lab", &["deny", "forbid"]),
    // What a lock under test protects is plain memory, so that sanitizers see it torn.
    ("crates/suite", &["deny", "forbid"]),
];

pub(super) fn check(source: &Source) -> Vec<Wrong> {
    let within = |krate: &str| source.path.strip_prefix(krate)?.strip_prefix("/src/");
    let confined = CONFINED.iter().find_map(|(krate, levels)| Some((within(krate)?, *levels)));
    let Some((path, levels)) = confined else { return Vec::new() };
    let mut found = Vec::new();
    if levels.contains(&"deny") {
        let tokens = &source.tokens;
        let lifted = (0..tokens.len()).filter(|&at| lifts(tokens, at));
        let what = "the denial of unsafe code is lifted; use `#[expect(unsafe_code, reason = \"...\")]`";
        found.extend(lifted.map(|at| (tokens[at].start.line, what.to_owned())));
    }
    let is_confined = |attribute: &Attribute| {
        let lints =
            attribute.meta.require_list().map_or_else(|_| String::new(), |list| list.tokens.to_string());
        let has = lints.split([',', ' ']).any(|lint| lint == "unsafe_code");
        has && levels.iter().any(|level| attribute.path().is_ident(level))
    };
    if is_root(path) && !source.file.attrs.iter().any(is_confined) {
        found.push((1, format!("the crate root lacks `#![{}(unsafe_code)]`; add it", levels[0])));
    }
    found
}

/// Whether a level of lints stands at `at` that lets unsafe code in without a reason.
fn lifts(tokens: &[Token], at: usize) -> bool {
    let level = tokens[at].text.as_str();
    if !["allow", "warn", "expect"].contains(&level) || !reads(tokens, at + 1, &["("]) {
        return false;
    }
    let arguments = &tokens[at + 1..tokens[at + 1].end];
    let has = |word: &str| arguments.iter().any(|token| token.text == word);
    has("unsafe_code") && !(level == "expect" && has("reason"))
}

/// Whether a path within `src` is the root of a library or a program.
fn is_root(path: &str) -> bool {
    path == "lib.rs"
        || path == "main.rs"
        || path.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"))
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::findings;

    #[test]
    fn bare_roots_are_found() {
        assert_eq!(
            findings("unsafe-confined", "crates/core/src/lib.rs", "//! Core.\n#![deny(unsafe_code)]\n"),
            [
                "crates/core/src/lib.rs:1: [unsafe-confined] the crate root lacks `#![forbid(unsafe_code)]`; add it"
            ]
        );
        assert_eq!(
            findings("unsafe-confined", "crates/lab/src/main.rs", "//! Lab.\n"),
            [
                "crates/lab/src/main.rs:1: [unsafe-confined] the crate root lacks `#![deny(unsafe_code)]`; add it"
            ]
        );
        assert_eq!(findings("unsafe-confined", "crates/lab/src/bin/peer.rs", "//! Peer.\n").len(), 1);
    }

    #[test]
    fn lifting_without_a_reason_is_found() {
        let found = |text| findings("unsafe-confined", "crates/lab/src/peers.rs", text).len();
        assert_eq!(found("//! Peers.\n#[allow(unsafe_code)]\nmod pthread;\n"), 1);
        assert_eq!(found("//! Peers.\n#![allow(unsafe_code, reason = \"x\")]\n"), 1);
        assert_eq!(found("#[expect(unsafe_code)]\nmod b;\n"), 1);
        assert_eq!(found("#[expect(unsafe_code, reason = \"calls pthread\")]\nmod b;\n"), 0);
    }

    #[test]
    fn confined_crates_and_reasoned_exceptions_pass() {
        assert!(findings("unsafe-confined", "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(findings("unsafe-confined", "crates/lab/src/main.rs", "#![deny(unsafe_code)]").is_empty());
        assert!(findings("unsafe-confined", "crates/lab/src/a.rs", "//! No root.\n").is_empty());
        assert!(findings("unsafe-confined", "crates/stanchion/src/lib.rs", "//! Free.").is_empty());
    }
}
