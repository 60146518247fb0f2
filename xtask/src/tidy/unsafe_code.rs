//! `unsafe-justified`: each unsafe block says why it is sound. What an unsafe function asks, a lint of clippy
//! sees (`missing_safety_doc`).
//!
//! `unsafe-confined`: crates that need no unsafe code forbid it at their root, or deny it. That whoever lifts
//! the denial gives a reason, lints of clippy see (`allow_attributes` and its fellow).
use super::Wrong;
use crate::tokens::{Token, reads};
use crate::workspace::Source;
use syn::Attribute;

const LEAST_WORDS: usize = 4;
const PLACEHOLDERS: [&str; 6] = ["untriaged", "todo", "fixme", "safe because", "trust me", "see above"];

pub(super) fn justified(source: &Source) -> Vec<Wrong> {
    let mut findings = Vec::new();
    for (at, token) in source.tokens.iter().enumerate() {
        for (begin, what) in [("{", "block"), ("impl", "impl")] {
            if reads(&source.tokens, at, &["unsafe", begin])
                && let Err(wrong) = justification(source, token)
            {
                let message = format!("unsafe {what} {wrong}; say why each obligation holds");
                findings.push((token.start.line, message));
            }
        }
    }
    findings
}

/// Looks for the comment above the line, then above the statement.
fn justification(source: &Source, token: &Token) -> Result<(), String> {
    let text = safety_text(source, token.start.line)
        .or_else(|| safety_text(source, source.statement_line(token)?))
        .ok_or("has no `// SAFETY:` comment directly above")?;
    let lower = text.to_lowercase();
    if let Some(word) = PLACEHOLDERS.iter().find(|word| lower.starts_with(*word)) {
        return Err(format!("has the placeholder `{word}` for a reason"));
    }
    if text.split_whitespace().count() < LEAST_WORDS {
        return Err(format!("is justified in under {LEAST_WORDS} words"));
    }
    Ok(())
}

/// What follows `SAFETY:` in the comment above `line`.
fn safety_text(source: &Source, line: usize) -> Option<String> {
    let block = source.block_above(line);
    let start = block.iter().rposition(|comment| comment.text.starts_with("SAFETY:"))?;
    let lines = block[start..].iter().map(|comment| comment.text.as_str());
    let text = lines.take_while(|text| !text.starts_with("ord:")).collect::<Vec<_>>().join(" ");
    Some(text["SAFETY:".len()..].trim().to_owned())
}

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

pub(super) fn confined(source: &Source) -> Vec<Wrong> {
    let within = |krate: &str| source.path.strip_prefix(krate)?.strip_prefix("/src/");
    let confined = CONFINED.iter().find_map(|(krate, levels)| Some((within(krate)?, *levels)));
    let Some((path, levels)) = confined else { return Vec::new() };
    let is_confined = |attribute: &Attribute| {
        let lints =
            attribute.meta.require_list().map_or_else(|_| String::new(), |list| list.tokens.to_string());
        let has = lints.split([',', ' ']).any(|lint| lint == "unsafe_code");
        has && levels.iter().any(|level| attribute.path().is_ident(level))
    };
    // Of a library or a program.
    let is_root = ["lib.rs", "main.rs"].contains(&path)
        || path.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"));
    if !is_root || source.file.attrs.iter().any(is_confined) {
        return Vec::new();
    }
    vec![(1, format!("the crate root lacks `#![{}(unsafe_code)]`; add it", levels[0]))]
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings("unsafe-justified", "a.rs", text)
    }

    #[test]
    fn a_bare_block_is_found() {
        assert_eq!(
            found("fn f() {\n    let a = unsafe { *p };\n}"),
            [
                "a.rs:2: [unsafe-justified] unsafe block has no `// SAFETY:` comment directly above; say why each \
                 obligation holds"
            ]
        );
    }

    #[test]
    fn placeholders_and_short_reasons_are_found() {
        let with =
            |reason: &str| found(&format!("fn f() {{\n    // SAFETY: {reason}\n    unsafe {{ g() }};\n}}"));
        assert_eq!(
            with("trust me, this is all fine"),
            [
                "a.rs:3: [unsafe-justified] unsafe block has the placeholder `trust me` for a reason; say why each \
                 obligation holds"
            ]
        );
        assert_eq!(
            with("it is fine"),
            [
                "a.rs:3: [unsafe-justified] unsafe block is justified in under 4 words; say why each obligation holds"
            ]
        );
    }

    #[test]
    fn reasons_above_the_block_or_its_statement_pass() {
        let text = "fn f() {
            // SAFETY: the node is ours until the next pointer
            // has been read.
            // ord: Q1 alone: only a hint
            let a = g(
                1,
                unsafe { *p },
            );
            let b = h(
                // SAFETY: the pointer was checked two lines ago
                unsafe { *p },
            );
            assert!(k({
                // SAFETY: the pointer was checked two lines ago
                let c = unsafe { *p };
                c
            }));
        }
        // SAFETY: the lock hands out one reference at a time
        #[cfg(unix)]
        unsafe impl<T: Send> Sync for L<T> {}";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn a_reason_does_not_reach_the_next_statement_or_a_macro_body() {
        assert_eq!(found("fn f() {\n// SAFETY: one two three four\na();\nunsafe { b() };\n}").len(), 1);
        let text = "// SAFETY: one two three four\nmacro_rules! m {\n() => {\nunsafe { a() }\n};\n}";
        assert_eq!(found(text).len(), 1);
    }

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
    fn confined_crates_and_reasoned_exceptions_pass() {
        assert!(findings("unsafe-confined", "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(findings("unsafe-confined", "crates/lab/src/main.rs", "#![deny(unsafe_code)]").is_empty());
        assert!(findings("unsafe-confined", "crates/lab/src/a.rs", "//! No root.\n").is_empty());
        assert!(findings("unsafe-confined", "crates/stanchion/src/lib.rs", "//! Free.").is_empty());
    }
}
