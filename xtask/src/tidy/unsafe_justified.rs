//! `unsafe-justified`: each unsafe block says why it is sound, each unsafe function what it asks.
use crate::finding::Finding;
use crate::source::Source;
use crate::tokens::{each_level, group_at, is_ident};
use proc_macro2::Delimiter;
use syn::visit::{self, Visit};
use syn::{Attribute, ForeignItemFn, ImplItemFn, ItemFn, ItemImpl, ItemTrait, Safety, TraitItemFn};

const RULE: &str = "unsafe-justified";
const LEAST_WORDS: usize = 4;
const PLACEHOLDERS: [&str; 6] = ["untriaged", "todo", "fixme", "safe because", "trust me", "see above"];

/// Unsafe code without its reason.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    each_level(&source.tokens, &mut |level| {
        for (at, token) in level.iter().enumerate() {
            if !is_ident(token, "unsafe") {
                continue;
            }
            let what = if group_at(level, at + 1, Delimiter::Brace).is_some() {
                "block"
            } else if level.get(at + 1).is_some_and(|next| is_ident(next, "impl")) {
                "impl"
            } else {
                continue;
            };
            let place = token.span().start();
            if let Err(wrong) = justification(source, place.line, place.column) {
                findings.push(Finding::new(&source.path, place.line, RULE, format!("unsafe {what} {wrong}")));
            }
        }
    });
    let mut declarations = Declarations { source, findings };
    declarations.visit_file(&source.file);
    declarations.findings
}

/// Looks for the comment above the line, then above the statement.
fn justification(source: &Source, line: usize, column: usize) -> Result<(), String> {
    let statement = source.statement_line(line, column);
    let text = [Some(line), statement].into_iter().flatten().find_map(|line| safety_text(source, line));
    let Some(text) = text else {
        return Err("has no `// SAFETY:` comment directly above; say why each obligation holds".to_owned());
    };
    let lower = text.to_lowercase();
    if let Some(word) = PLACEHOLDERS.iter().find(|word| lower.starts_with(*word)) {
        return Err(format!("has the placeholder `{word}` for a reason; say why each obligation holds"));
    }
    if text.split_whitespace().count() < LEAST_WORDS {
        return Err(format!("is justified in under {LEAST_WORDS} words; say why each obligation holds"));
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

struct Declarations<'a> {
    source: &'a Source,
    findings: Vec<Finding>,
}

impl Declarations<'_> {
    fn declared(&mut self, what: &str, name: &syn::Ident, attributes: &[Attribute]) {
        if !attributes.iter().any(documents_safety) {
            let line = name.span().start().line;
            let message = format!("unsafe {what} `{name}` has no `# Safety` section; document what it asks");
            self.findings.push(Finding::new(&self.source.path, line, RULE, message));
        }
    }

    fn function(&mut self, signature: &syn::Signature, attributes: &[Attribute]) {
        // Functions that a module exports may have their contract in its head, once.
        let by_head = signature.abi.is_some() && self.source.file.attrs.iter().any(documents_safety);
        if matches!(signature.safety, Safety::Unsafe(_)) && !by_head {
            self.declared("fn", &signature.ident, attributes);
        }
    }
}

impl<'ast> Visit<'ast> for Declarations<'_> {
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
                if let syn::ImplItem::Fn(ImplItemFn { sig, attrs, .. }) = item {
                    self.function(sig, attrs);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings(check, "a.rs", text)
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
}
