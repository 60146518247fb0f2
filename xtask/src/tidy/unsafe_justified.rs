//! `unsafe-justified`: each unsafe block says why it is sound, each unsafe function what it asks.
use super::Wrong;
use crate::source::Source;
use crate::tokens::{Token, reads};
use syn::visit::{self, Visit};
use syn::{
    Attribute, ForeignItemFn, Ident, ImplItem, ItemFn, ItemImpl, ItemTrait, Safety, Signature, TraitItemFn,
};

const LEAST_WORDS: usize = 4;
const PLACEHOLDERS: [&str; 6] = ["untriaged", "todo", "fixme", "safe because", "trust me", "see above"];

pub(super) fn check(source: &Source) -> Vec<Wrong> {
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
}
