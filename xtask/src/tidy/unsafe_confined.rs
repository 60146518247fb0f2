//! `unsafe-confined`: crates that need no unsafe code forbid it at their root. Where one denies it, clippy
//! sees that whoever lifts the denial gives a reason (`allow_attributes`, `allow_attributes_without_reason`).
use crate::finding::Finding;
use crate::source::Source;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

const RULE: &str = "unsafe-confined";

/// Crates under the rule, by directory.
const FORBID: &[&str] =
    &["crates/core", "crates/family", "crates/model", "crates/cells", "crates/python", "xtask"];

/// Those that may deny instead of forbid.
const DENY: &[&str] = &[
    // It calls pthread locks as peers in benchmarks and implements `lock_api::RawMutex` for its test locks.
    "crates/lab",
    // What a lock under test protects is plain memory, so that sanitizers see it torn.
    "crates/suite",
];

/// Roots without the attribute.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let of = |krates: &[&str]| {
        krates.iter().any(|krate| {
            let within = source.path.strip_prefix(krate).and_then(|path| path.strip_prefix("/src/"));
            within.is_some_and(is_root)
        })
    };
    let has = |level: &str| source.file.attrs.iter().any(|attribute| names_unsafe_code(attribute, level));
    let wanted = match (of(FORBID), of(DENY)) {
        (true, _) if !has("forbid") => "forbid",
        (_, true) if !has("forbid") && !has("deny") => "deny",
        _ => return Vec::new(),
    };
    let message = format!("the crate root lacks `#![{wanted}(unsafe_code)]`; add it");
    vec![Finding::new(&source.path, 1, RULE, message)]
}

/// Whether a path within `src` is the root of a library or a program.
fn is_root(path: &str) -> bool {
    path == "lib.rs"
        || path == "main.rs"
        || path.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"))
}

fn names_unsafe_code(attribute: &Attribute, level: &str) -> bool {
    let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    attribute.path().is_ident(level)
        && list.is_ok_and(|list| list.iter().any(|meta| meta.path().is_ident("unsafe_code")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    #[test]
    fn bare_roots_are_found() {
        assert_eq!(
            findings(check, "crates/core/src/lib.rs", "//! Core.\n#![deny(unsafe_code)]\n"),
            [
                "crates/core/src/lib.rs:1: [unsafe-confined] the crate root lacks `#![forbid(unsafe_code)]`; add it"
            ]
        );
        assert_eq!(
            findings(check, "crates/lab/src/main.rs", "//! Lab.\n"),
            [
                "crates/lab/src/main.rs:1: [unsafe-confined] the crate root lacks `#![deny(unsafe_code)]`; add it"
            ]
        );
        assert_eq!(findings(check, "crates/lab/src/bin/peer.rs", "//! Peer.\n").len(), 1);
    }

    #[test]
    fn confined_crates_and_reasoned_exceptions_pass() {
        assert!(findings(check, "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(findings(check, "crates/lab/src/main.rs", "#![deny(unsafe_code)]").is_empty());
        assert!(findings(check, "crates/lab/src/a.rs", "//! No root.\n").is_empty());
        assert!(findings(check, "crates/stanchion/src/lib.rs", "//! Free.").is_empty());
    }
}
