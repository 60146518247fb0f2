//! `unsafe-confined`: crates that need no unsafe code forbid it at their root. Where one denies it, whoever
//! lifts the denial gives a reason. Clippy sees that of outer attributes only, and may be told not to.
use crate::finding::Finding;
use crate::source::Source;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
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

/// Roots without the attribute, and denials lifted without a reason.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let within = |krate: &&str| source.path.strip_prefix(krate).and_then(|path| path.strip_prefix("/src/"));
    let of = |krates: &[&str]| krates.iter().filter_map(within).any(is_root);
    let mut lifted = Lifted::default();
    if DENY.iter().any(|krate| within(krate).is_some()) {
        lifted.visit_file(&source.file);
    }
    let mut findings: Vec<Finding> = lifted
        .lines
        .into_iter()
        .map(|line| {
            let message =
                "the denial of unsafe code is lifted; use `#[expect(unsafe_code, reason = \"...\")]`"
                    .to_owned();
            Finding::new(&source.path, line, RULE, message)
        })
        .collect();
    let has = |level: &str| source.file.attrs.iter().any(|attribute| names_unsafe_code(attribute, level));
    let wanted = match (of(FORBID), of(DENY)) {
        (true, _) if !has("forbid") => "forbid",
        (_, true) if !has("forbid") && !has("deny") => "deny",
        _ => return findings,
    };
    let message = format!("the crate root lacks `#![{wanted}(unsafe_code)]`; add it");
    findings.push(Finding::new(&source.path, 1, RULE, message));
    findings
}

/// The lines of attributes that let unsafe code in without a reason.
#[derive(Default)]
struct Lifted {
    lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for Lifted {
    fn visit_attribute(&mut self, node: &'ast Attribute) {
        let reasoned = || has_argument(node, "reason");
        if names_unsafe_code(node, "allow")
            || names_unsafe_code(node, "warn")
            || names_unsafe_code(node, "expect") && !reasoned()
        {
            self.lines.push(node.pound_token.span.start().line);
        }
    }
}

/// Whether a path within `src` is the root of a library or a program.
fn is_root(path: &str) -> bool {
    path == "lib.rs"
        || path == "main.rs"
        || path.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"))
}

fn names_unsafe_code(attribute: &Attribute, level: &str) -> bool {
    attribute.path().is_ident(level) && has_argument(attribute, "unsafe_code")
}

fn has_argument(attribute: &Attribute, name: &str) -> bool {
    let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    list.is_ok_and(|list| list.iter().any(|meta| meta.path().is_ident(name)))
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
    fn lifting_without_a_reason_is_found() {
        let found = |text| findings(check, "crates/lab/src/peers.rs", text).len();
        assert_eq!(found("//! Peers.\n#[allow(unsafe_code)]\nmod pthread;\n"), 1);
        assert_eq!(found("//! Peers.\n#![allow(unsafe_code, reason = \"x\")]\n"), 1);
        assert_eq!(found("#[expect(unsafe_code)]\nmod b;\n"), 1);
        assert_eq!(found("#[expect(unsafe_code, reason = \"calls pthread\")]\nmod b;\n"), 0);
    }

    #[test]
    fn confined_crates_and_reasoned_exceptions_pass() {
        assert!(findings(check, "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(findings(check, "crates/lab/src/main.rs", "#![deny(unsafe_code)]").is_empty());
        assert!(findings(check, "crates/lab/src/a.rs", "//! No root.\n").is_empty());
        assert!(findings(check, "crates/stanchion/src/lib.rs", "//! Free.").is_empty());
    }
}
