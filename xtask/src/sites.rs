//! One walk through a file: where statements are, for which a comment above can speak, and every expression
//! that names a memory ordering, with the places of a tag for it.
use core::mem;
use proc_macro2::{Delimiter, Ident, LineColumn, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Block, Expr, ExprCall, ExprMethodCall, ExprPath, FieldValue, ImplItem, Item};
use syn::{Macro, Member, Pat, Path, Stmt, Token, TraitItem, Type};

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Operations that order memory without naming an ordering. A tag may stand above them, none must.
const SILENT: [&str; 6] = [
    "store_then_load",
    "release_then_look",
    "release_fenced_then_look",
    "heavy_barrier",
    "compiler_barrier",
    "membarrier",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The operation as in `locked.compare_exchange(Acquire, Relaxed)`.
    pub(crate) op: String,
    /// The function around it, `Type::name` in an impl.
    pub(crate) function: String,
    /// It names an ordering and so must have a tag.
    pub(crate) required: bool,
    /// That of the first ordering.
    pub(crate) line: usize,
    /// The line of the operation's name, where the operation itself thinks that it is called.
    pub(crate) called: usize,
    /// Lines a tag may cover to speak for this site, nearest first.
    pub(crate) lines: Vec<usize>,
}

/// The place of one statement, match arm, field value or item, attributes included.
pub(crate) struct Extent {
    pub(crate) start: LineColumn,
    pub(crate) end: LineColumn,
    /// A comment above it may speak for what is inside.
    pub(crate) anchors: bool,
}

/// What the file has of either, in macro arguments too where they are Rust.
pub(crate) fn walk(file: &syn::File) -> (Vec<Site>, Vec<Extent>) {
    let mut walker = Walker { scope: "(file)".to_owned(), ..Walker::default() };
    walker.visit_file(file);
    walker.sites.sort_by_key(|site| site.line);
    (walker.sites, walker.extents)
}

#[derive(Default)]
struct Walker {
    scope: String,
    /// First lines of the innermost statement, of its expressions and of links of method chains.
    anchors: Vec<usize>,
    /// Calls of this statement whose arguments are being read, with the orderings among them by line.
    calls: Vec<Vec<(String, usize)>>,
    sites: Vec<Site>,
    extents: Vec<Extent>,
}

impl Walker {
    /// Takes down the extent of a node; what is returned is its first line.
    fn extent(&mut self, node: &impl Spanned) -> usize {
        let span = node.span();
        self.extents.push(Extent { start: span.start(), end: span.end(), anchors: true });
        span.start().line
    }

    /// Reads a statement-like node: only comments from its first line on count. What is in one that has a
    /// name is told by that, also where this is an item in an item.
    fn statement(&mut self, node: &impl Spanned, name: Option<String>, read: impl FnOnce(&mut Self)) {
        let anchors = vec![self.extent(node)];
        let scope = name.unwrap_or_else(|| self.scope.clone());
        let around = (
            mem::replace(&mut self.scope, scope),
            mem::replace(&mut self.anchors, anchors),
            mem::take(&mut self.calls),
        );
        read(self);
        (self.scope, self.anchors, self.calls) = around;
    }

    fn anchored(&mut self, line: usize, read: impl FnOnce(&mut Self)) {
        self.anchors.push(line);
        read(self);
        self.anchors.pop();
    }

    fn member(&self, name: &Ident) -> String {
        format!("{}::{name}", self.scope)
    }

    /// Reads the arguments of a call; the orderings among them make one site.
    fn call(&mut self, name: &str, line: usize, read: impl FnOnce(&mut Self)) {
        self.calls.push(Vec::new());
        read(self);
        let orderings = self.calls.pop().unwrap_or_default();
        if !orderings.is_empty() {
            self.site(Some(name), &orderings, line);
        } else if name.rsplit([':', '.']).next().is_some_and(|name| SILENT.contains(&name)) {
            self.site(Some(name), &[(String::new(), line)], line);
        }
    }

    fn ordering(&mut self, name: &Ident) {
        let ordering = (name.to_string(), line(name));
        match self.calls.last_mut() {
            Some(call) => call.push(ordering),
            None => self.site(None, &[ordering], line(name)),
        }
    }

    fn site(&mut self, call: Option<&str>, orderings: &[(String, usize)], called: usize) {
        let names = orderings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let lines = orderings.iter().map(|&(_, line)| line).chain(self.anchors.iter().rev().copied());
        let lines: Vec<usize> = lines.collect();
        let op = call.map_or_else(|| names.clone(), |call| format!("{call}({names})"));
        let function = self.scope.clone();
        self.sites.push(Site { op, function, required: !names.is_empty(), line: lines[0], called, lines });
    }

    /// Reads tokens that are no expressions; `before` is the word in front of their bracket.
    fn opaque(&mut self, stream: TokenStream, before: &str, line: usize) {
        let level: Vec<TokenTree> = stream.into_iter().collect();
        self.call(before, line, |walker| {
            for (at, token) in level.iter().enumerate() {
                match token {
                    TokenTree::Ident(ident) if is_ordering(ident) => walker.ordering(ident),
                    TokenTree::Group(group) => {
                        let called = match level[..at].last() {
                            Some(TokenTree::Ident(word)) if group.delimiter() == Delimiter::Parenthesis => {
                                word.to_string()
                            }
                            _ => "(tokens)".to_owned(),
                        };
                        walker.opaque(group.stream(), &called, group.span_open().start().line);
                    }
                    _ => {}
                }
            }
        });
    }
}

impl<'ast> Visit<'ast> for Walker {
    fn visit_stmt(&mut self, node: &'ast Stmt) {
        self.statement(node, None, |walker| visit::visit_stmt(walker, node));
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        self.statement(node, None, |walker| visit::visit_arm(walker, node));
    }

    fn visit_item(&mut self, node: &'ast Item) {
        let name = match node {
            Item::Fn(item) => Some(item.sig.ident.to_string()),
            Item::Impl(item) => Some(type_name(&item.self_ty)),
            Item::Trait(item) => Some(item.ident.to_string()),
            _ => None,
        };
        let own = self.extents.len();
        self.statement(node, name, |walker| match node {
            Item::Use(_) => {}
            _ => visit::visit_item(walker, node),
        });
        self.extents[own].anchors = !matches!(node, Item::Macro(_));
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        let name = match node {
            ImplItem::Fn(item) => Some(self.member(&item.sig.ident)),
            ImplItem::Const(item) => Some(self.member(&item.ident)),
            _ => None,
        };
        self.statement(node, name, |walker| visit::visit_impl_item(walker, node));
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        let name = match node {
            TraitItem::Fn(item) => Some(self.member(&item.sig.ident)),
            TraitItem::Const(item) => Some(self.member(&item.ident)),
            _ => None,
        };
        self.statement(node, name, |walker| visit::visit_trait_item(walker, node));
    }

    fn visit_field_value(&mut self, node: &'ast FieldValue) {
        let line = self.extent(node);
        self.anchored(line, |walker| visit::visit_field_value(walker, node));
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        self.anchored(line(node), |walker| visit::visit_expr(walker, node));
    }

    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        self.visit_expr(&node.func);
        let name = name_of(&node.func);
        self.call(&name, line(&node.func), |walker| node.args.iter().for_each(|arg| walker.visit_expr(arg)));
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        self.visit_expr(&node.receiver);
        let receiver = last_name(&node.receiver).map_or_else(String::new, |receiver| receiver + ".");
        let (name, line) = (format!("{receiver}{}", node.method), line(&node.dot_token));
        self.anchored(line, |walker| {
            walker.call(&name, line, |walker| node.args.iter().for_each(|arg| walker.visit_expr(arg)));
        });
    }

    fn visit_expr_path(&mut self, node: &'ast ExprPath) {
        if let Some(last) = node.path.segments.last().filter(|last| is_ordering(&last.ident)) {
            self.ordering(&last.ident);
        }
    }

    fn visit_pat(&mut self, node: &'ast Pat) {
        if let Pat::Guard(guarded) = node {
            self.visit_expr(&guarded.guard);
        }
    }

    /// Arguments are expressions, or statements, or anything else, bodies of `macro_rules!` among it.
    fn visit_macro(&mut self, node: &'ast Macro) {
        let (name, line) = (format!("{}!", last_segment(&node.path)), line(&node.path));
        let tokens = || node.tokens.clone();
        if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens()) {
            self.call(&name, line, |walker| list.iter().for_each(|expr| walker.visit_expr(expr)));
        } else if let Ok(list) = Block::parse_within.parse2(tokens()) {
            for stmt in &list {
                self.visit_stmt(stmt);
            }
        } else {
            self.opaque(tokens(), &name, line);
        }
    }
}

fn line(node: &impl Spanned) -> usize {
    node.span().start().line
}

fn is_ordering(name: &Ident) -> bool {
    ORDERINGS.iter().any(|ordering| name == ordering)
}

fn last_segment(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => last_segment(&path.path),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => "(impl)".to_owned(),
    }
}

/// How a called function is written, without generic arguments.
fn name_of(function: &Expr) -> String {
    let Expr::Path(path) = function else {
        return last_name(function).unwrap_or_else(|| "(call)".to_owned());
    };
    let segments = path.path.segments.iter().map(|segment| segment.ident.to_string());
    segments.collect::<Vec<_>>().join("::")
}

/// The last name of a receiver: `locked` of `self.word.locked`.
fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => Some(last_segment(&path.path)),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => last_name(&field.base),
        },
        Expr::MethodCall(call) => Some(format!("{}()", call.method)),
        Expr::Call(call) => last_name(&call.func).map(|name| format!("{name}()")),
        Expr::Index(index) => last_name(&index.expr),
        Expr::Paren(inner) => last_name(&inner.expr),
        Expr::Reference(inner) => last_name(&inner.expr),
        Expr::Unary(inner) => last_name(&inner.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(text: &str) -> (Vec<Site>, Vec<Extent>) {
        walk(&syn::parse_file(text).expect("parses"))
    }

    fn found(text: &str) -> Vec<(String, String)> {
        walked(text).0.into_iter().map(|site| (site.function, site.op)).collect()
    }

    fn starts(text: &str) -> Vec<(usize, usize)> {
        walked(text).1.iter().map(|extent| (extent.start.line, extent.start.column)).collect()
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

    #[test]
    fn functions_and_operations_are_named() {
        let text = "impl<P: Platform> QSpin<P> {
            fn lock(&self) { self.nodes[i].next.store(0, P::order(Release)); (*node).wait().load(Acquire); }
        }
        trait Raw { fn f() { compiler_fence(Ordering::SeqCst) } }
        fn free() { fn inner() { X.load(Relaxed); } }";
        let expected = [
            ("QSpin::lock", "P::order(Release)"),
            ("QSpin::lock", "wait().load(Acquire)"),
            ("Raw::f", "compiler_fence(SeqCst)"),
            ("inner", "X.load(Relaxed)"),
        ];
        assert_eq!(found(text), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn silent_orderings_may_have_a_tag() {
        let text = "fn f() { let mark = P::store_then_load(&self.locked, 0, &self.head); other(); }";
        let (sites, _) = walked(text);
        assert_eq!(sites.len(), 1);
        assert_eq!((sites[0].op.as_str(), sites[0].required), ("P::store_then_load()", false));
    }

    #[test]
    fn macro_rules_bodies_are_read_as_tokens() {
        let text = "macro_rules! take { ($x:expr) => { $x.lock.swap(1, Acquire) }; }";
        assert_eq!(found(text), [("(file)".to_owned(), "swap(Acquire)".to_owned())]);
    }
}
