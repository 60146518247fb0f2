//! Where statements begin and end, so that a comment above a statement can speak for all of it.
use crate::source;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Attribute, Block, Expr, FieldValue, ImplItem, Item, Macro, Stmt, Token, TraitItem};

/// The place of one statement, match arm, field value or item.
pub(crate) struct Extent {
    /// Line and column where it starts, attributes included.
    pub(crate) start: (usize, usize),
    /// Line and column where it ends.
    pub(crate) end: (usize, usize),
    /// A comment above it may speak for what is inside.
    pub(crate) anchors: bool,
    /// It stands under `#[cfg(test)]`.
    pub(crate) test: bool,
}

impl Extent {
    /// Whether the position is inside.
    pub(crate) fn covers(&self, line: usize, column: usize) -> bool {
        self.start <= (line, column) && (line, column) <= self.end
    }
}

/// The extents of all statements of `file`, those in macro arguments included where they parse.
pub(crate) fn extents(file: &syn::File) -> Vec<Extent> {
    let mut collector = Collector { found: Vec::new() };
    collector.visit_file(file);
    collector.found
}

/// What the arguments of a macro call turn out to be.
pub(crate) enum Arguments {
    /// `a, b, c`
    Expressions(Vec<Expr>),
    /// `let a = b; c();`
    Statements(Vec<Stmt>),
    /// Anything else, `macro_rules!` bodies among it.
    Opaque,
}

/// Reads the arguments of a macro call as Rust, if they are Rust.
pub(crate) fn arguments(call: &Macro) -> Arguments {
    let tokens = || call.tokens.clone();
    if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens()) {
        return Arguments::Expressions(list.into_iter().collect());
    }
    Block::parse_within.parse2(tokens()).map_or(Arguments::Opaque, Arguments::Statements)
}

struct Collector {
    found: Vec<Extent>,
}

impl Collector {
    fn add(&mut self, node: &impl Spanned, anchors: bool, attributes: &[Attribute]) {
        let (start, end) = (node.span().start(), node.span().end());
        self.found.push(Extent {
            start: (start.line, start.column),
            end: (end.line, end.column),
            anchors,
            test: source::is_test_only(attributes),
        });
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if !matches!(node, Stmt::Item(_)) {
            self.add(node, true, &[]);
        }
        visit::visit_stmt(self, node);
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        self.add(node, true, &[]);
        visit::visit_arm(self, node);
    }

    fn visit_field_value(&mut self, node: &'ast FieldValue) {
        self.add(node, true, &[]);
        visit::visit_field_value(self, node);
    }

    fn visit_item(&mut self, node: &'ast Item) {
        self.add(node, !matches!(node, Item::Macro(_)), item_attributes(node));
        visit::visit_item(self, node);
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        let attributes = match node {
            ImplItem::Fn(function) => function.attrs.as_slice(),
            _ => &[],
        };
        self.add(node, true, attributes);
        visit::visit_impl_item(self, node);
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        self.add(node, true, &[]);
        visit::visit_trait_item(self, node);
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        match arguments(node) {
            Arguments::Expressions(list) => list.iter().for_each(|e| self.visit_expr(e)),
            Arguments::Statements(list) => list.iter().for_each(|s| self.visit_stmt(s)),
            Arguments::Opaque => {}
        }
    }
}

fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(node) => &node.attrs,
        Item::Fn(node) => &node.attrs,
        Item::Impl(node) => &node.attrs,
        Item::Macro(node) => &node.attrs,
        Item::Static(node) => &node.attrs,
        Item::Const(node) => &node.attrs,
        Item::Struct(node) => &node.attrs,
        Item::Use(node) => &node.attrs,
        Item::ExternCrate(node) => &node.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<(usize, usize)> {
        extents(&syn::parse_file(text).expect("parses")).iter().map(|e| e.start).collect()
    }

    #[test]
    fn arms_and_statements_have_extents() {
        let found = starts("fn f() {\n    match x {\n        1 => g(),\n        _ => {}\n    }\n}\n");
        assert_eq!(found, [(1, 0), (2, 4), (3, 8), (4, 8)]);
    }

    #[test]
    fn statements_in_macro_arguments_have_extents() {
        let found = starts("fn f() {\n    vec![{\n        g();\n    }];\n}\n");
        assert!(found.contains(&(3, 8)), "{found:?}");
    }
}
