//! `unsafe-justified`: each unsafe block says why it is sound, each unsafe function what it asks.
//!
//! `unsafe-confined`: crates that need no unsafe code forbid it at their root. Where one denies it, whoever
//! lifts the denial gives a reason. Clippy sees that of outer attributes only, and may be told not to.
use super::Wrong;
use crate::tokens::{Token, reads};
use crate::workspace::Source;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ForeignItemFn, Ident, ImplItem, ItemFn, ItemImpl, ItemTrait, Safety, Signature, TraitItemFn,
};

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
    // Functions that a module exports may have their contract in its head, once.
    let told_once = source.file.attrs.iter().any(documents_safety);
    let mut declarations = Declarations { told_once, findings };
    declarations.visit_file(&source.file);
    declarations.findings
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

struct Declarations {
    told_once: bool,
    findings: Vec<Wrong>,
}

impl Declarations {
    fn declared(&mut self, what: &str, name: &Ident, attributes: &[Attribute]) {
        if !attributes.iter().any(documents_safety) {
            let message = format!("unsafe {what} `{name}` has no `# Safety` section; document what it asks");
            self.findings.push((name.span().start().line, message));
        }
    }

    fn function(&mut self, signature: &Signature, attributes: &[Attribute]) {
        let is_told = self.told_once && signature.abi.is_some();
        if matches!(signature.safety, Safety::Unsafe(_)) && !is_told {
            self.declared("fn", &signature.ident, attributes);
        }
    }
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.function(&node.sig, &node.attrs);
        visit::visit_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast TraitItemFn) {
        self.function(&node.sig, &node.attrs);
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_foreign_item_fn(&mut self, node: &'ast ForeignItemFn) {
        self.function(&node.sig, &node.attrs);
    }

    fn visit_item_trait(&mut self, node: &'ast ItemTrait) {
        if node.unsafety.is_some() {
            self.declared("trait", &node.ident, &node.attrs);
        }
        visit::visit_item_trait(self, node);
    }

    fn visit_item_impl(&mut self, node: &'ast ItemImpl) {
        // A method of a trait impl takes its contract from the trait.
        if node.trait_.is_none() {
            for item in &node.items {
                if let ImplItem::Fn(function) = item {
                    self.function(&function.sig, &function.attrs);
                }
            }
        }
        visit::visit_item_impl(self, node);
    }
}

fn documents_safety(attribute: &Attribute) -> bool {
    let syn::Meta::NameValue(doc) = &attribute.meta else { return false };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &doc.value else { return false };
    doc.path.is_ident("doc") && text.value().lines().any(|line| line.trim() == "# Safety")
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
    // Of a library or a program.
    let is_root = ["lib.rs", "main.rs"].contains(&path)
        || path.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"));
    if is_root && !source.file.attrs.iter().any(is_confined) {
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
    fn declarations_document_safety() {
        assert_eq!(
            found("/// Unlocks.\nunsafe fn unlock() {}\nunsafe trait Raw {}\nimpl A { unsafe fn b() {} }"),
            [
                "a.rs:2: [unsafe-justified] unsafe fn `unlock` has no `# Safety` section; document what it asks",
                "a.rs:3: [unsafe-justified] unsafe trait `Raw` has no `# Safety` section; document what it asks",
                "a.rs:4: [unsafe-justified] unsafe fn `b` has no `# Safety` section; document what it asks",
            ]
        );
        let clean = "/// Unlocks.\n///\n/// # Safety\n///\n/// Held.\nunsafe fn unlock() {}\n\
                     // SAFETY: it excludes as the trait asks\nunsafe impl Raw for A { unsafe fn unlock() {} }";
        assert_eq!(found(clean), Vec::<String>::new());
        let exported = "//! # Safety\n//!\n//! As C asks.\nunsafe extern \"C\" fn a() {}\nunsafe fn b() {}";
        assert_eq!(found(exported).len(), 1);
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
