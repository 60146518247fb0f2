//! `unsafe-confined`: crates that need no unsafe code forbid it at their root.
use crate::finding::Finding;
use crate::source::Source;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

const RULE: &str = "unsafe-confined";

/// Crates under the rule, by directory.
const CONFINED: [&str; 8] = [
    "crates/core",
    "crates/family",
    "crates/model",
    "crates/suite",
    "crates/cells",
    "crates/python",
    "crates/lab",
    "xtask",
];

/// Crates that may deny instead of forbid and lift the denial module by module, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "crates/lab",
        "it calls pthread locks as peers in benchmarks and implements lock_api::RawMutex for its test locks",
    ),
    ("crates/suite", "what a lock under test protects is plain memory, so that sanitizers see it torn"),
];

/// Roots without the attribute, and denials lifted without a reason.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let Some(krate) = CONFINED.into_iter().find(|krate| source.path.starts_with(&format!("{krate}/src/")))
    else {
        return Vec::new();
    };
    let exception = EXCEPTIONS.iter().find(|(name, _)| *name == krate);
    let mut findings = Vec::new();
    if is_root(&source.path[krate.len() + 1..]) {
        let forbids = source.file.attrs.iter().any(|attribute| names_unsafe_code(attribute, "forbid"));
        let denies = source.file.attrs.iter().any(|attribute| names_unsafe_code(attribute, "deny"));
        let confined = forbids || (denies && exception.is_some());
        if !confined {
            let wanted =
                if exception.is_some() { "`#![deny(unsafe_code)]`" } else { "`#![forbid(unsafe_code)]`" };
            let message = format!("the crate root lacks {wanted}; add it");
            findings.push(Finding::new(&source.path, 1, RULE, message));
        }
    }
    let mut lifted = Lifted { found: Vec::new() };
    syn::visit::Visit::visit_file(&mut lifted, &source.file);
    findings
        .extend(lifted.found.into_iter().map(|(line, what)| Finding::new(&source.path, line, RULE, what)));
    findings
}

/// Whether a path within the crate is the root of a library or a program.
fn is_root(path: &str) -> bool {
    path == "src/lib.rs"
        || path == "src/main.rs"
        || path.strip_prefix("src/bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"))
}

fn names_unsafe_code(attribute: &Attribute, level: &str) -> bool {
    attribute.path().is_ident(level)
        && arguments(attribute).iter().any(|meta| meta.path().is_ident("unsafe_code"))
}

fn arguments(attribute: &Attribute) -> Vec<Meta> {
    let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    list.map(|list| list.into_iter().collect()).unwrap_or_default()
}

/// Attributes that let unsafe code in.
struct Lifted {
    found: Vec<(usize, String)>,
}

impl<'ast> syn::visit::Visit<'ast> for Lifted {
    fn visit_attribute(&mut self, node: &'ast Attribute) {
        let reasoned = || arguments(node).iter().any(|meta| meta.path().is_ident("reason"));
        let lifts = ["allow", "warn", "expect"].into_iter().find(|level| names_unsafe_code(node, level));
        if let Some(level) = lifts.filter(|&level| level != "expect" || !reasoned()) {
            let message = format!(
                "`{level}(unsafe_code)` lifts the denial; use `#[expect(unsafe_code, reason = \"...\")]` on a module"
            );
            self.found.push((node.pound_token.span.start().line, message));
        }
    }
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
        assert_eq!(
            findings(check, "crates/lab/src/peers.rs", "//! Peers.\n#[allow(unsafe_code)]\nmod pthread;\n"),
            ["crates/lab/src/peers.rs:2: [unsafe-confined] `allow(unsafe_code)` lifts the denial; use \
                 `#[expect(unsafe_code, reason = \"...\")]` on a module"]
        );
        assert_eq!(findings(check, "crates/lab/src/a.rs", "#[expect(unsafe_code)]\nmod b;\n").len(), 1);
    }

    #[test]
    fn confined_crates_and_reasoned_exceptions_pass() {
        assert!(findings(check, "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(findings(check, "crates/lab/src/main.rs", "#![deny(unsafe_code)]").is_empty());
        let reasoned = "#[expect(unsafe_code, reason = \"calls pthread\")]\nmod b;\n";
        assert!(findings(check, "crates/lab/src/a.rs", reasoned).is_empty());
        assert!(findings(check, "crates/stanchion/src/lib.rs", "//! Free.").is_empty());
    }

    #[test]
    fn every_exception_has_a_reason() {
        assert!(EXCEPTIONS.iter().all(|(krate, reason)| CONFINED.contains(krate) && reason.len() > 20));
    }
}
