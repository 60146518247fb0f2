//! Finds every expression that names a memory ordering, and where a tag for it may stand.
use crate::source::Source;
use crate::statements::{Arguments, arguments};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Expr, ExprCall, ExprMethodCall, ExprPath, FieldValue, ImplItem, Item, Macro, Pat, Stmt};
use syn::{ItemFn, ItemImpl, ItemTrait, TraitItem, Type};

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

/// One operation that orders memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The operation as in `locked.compare_exchange(Acquire, Relaxed)`.
    pub(crate) op: String,
    /// The function around it, `Type::name` in an impl.
    pub(crate) function: String,
    /// It names an ordering and so must have a tag.
    pub(crate) required: bool,
    /// One-based line of the first ordering.
    pub(crate) line: usize,
    /// One-based line of the operation's name, where the operation itself thinks that it is called.
    pub(crate) called: usize,
    /// Lines a tag may cover to speak for this site, nearest first.
    pub(crate) lines: Vec<usize>,
}

/// The ordering sites of `source`, test code left out.
pub(crate) fn find(source: &Source) -> Vec<Site> {
    let mut finder = Finder { scope: Vec::new(), frame: Frame::default(), found: Vec::new() };
    finder.visit_file(&source.file);
    let mut found = finder.found;
    found.retain(|site| !source.in_tests(site.line));
    found.sort_by_key(|site| site.line);
    found
}

/// What has been entered since the innermost statement began.
#[derive(Default)]
struct Frame {
    /// First lines of the statement, of its expressions and of links of method chains.
    anchors: Vec<usize>,
    /// Calls whose arguments are being read.
    calls: Vec<Call>,
}

struct Call {
    name: String,
    orderings: Vec<(String, usize)>,
}

struct Finder {
    scope: Vec<String>,
    frame: Frame,
    found: Vec<Site>,
}

impl Finder {
    /// Reads a statement-like node: only comments from its first line on count.
    fn statement(&mut self, line: usize, read: impl FnOnce(&mut Self)) {
        let fresh = Frame { anchors: vec![line], calls: Vec::new() };
        let outer = core::mem::replace(&mut self.frame, fresh);
        read(self);
        self.frame = outer;
    }

    fn anchored(&mut self, line: usize, read: impl FnOnce(&mut Self)) {
        self.frame.anchors.push(line);
        read(self);
        self.frame.anchors.pop();
    }

    /// Reads an item, or with `outer` a member of it. An item in an item is told by its own name.
    fn scoped(&mut self, outer: Vec<String>, name: &impl ToString, read: impl FnOnce(&mut Self)) {
        let scope = [outer, vec![name.to_string()]].concat();
        let before = core::mem::replace(&mut self.scope, scope);
        read(self);
        self.scope = before;
    }

    /// Reads the arguments of a call; the orderings among them make one site.
    fn call(&mut self, name: String, line: usize, read: impl FnOnce(&mut Self)) {
        self.frame.calls.push(Call { name, orderings: Vec::new() });
        read(self);
        let Some(call) = self.frame.calls.pop() else { return };
        if !call.orderings.is_empty() {
            self.site(Some(&call.name), &call.orderings, line);
        } else if call.name.rsplit([':', '.']).next().is_some_and(|name| SILENT.contains(&name)) {
            self.site(Some(&call.name), &[(String::new(), line)], line);
        }
    }

    fn ordering(&mut self, name: String, line: usize) {
        match self.frame.calls.last_mut() {
            Some(call) => call.orderings.push((name, line)),
            None => self.site(None, &[(name, line)], line),
        }
    }

    fn site(&mut self, call: Option<&str>, orderings: &[(String, usize)], called: usize) {
        let names = orderings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let mut lines: Vec<usize> = orderings.iter().map(|&(_, line)| line).collect();
        let line = lines[0];
        for &anchor in self.frame.anchors.iter().rev() {
            if !lines.contains(&anchor) {
                lines.push(anchor);
            }
        }
        let op = call.map_or_else(|| names.clone(), |call| format!("{call}({names})"));
        let function = if self.scope.is_empty() { "(file)".to_owned() } else { self.scope.join("::") };
        self.found.push(Site { op, function, required: !names.is_empty(), line, called, lines });
    }

    /// Reads tokens that are no expressions; `before` is the word in front of their bracket.
    fn opaque(&mut self, stream: TokenStream, before: String, line: usize) {
        let level: Vec<TokenTree> = stream.into_iter().collect();
        let word = |at: usize| match level.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
            _ => None,
        };
        self.call(before, line, |finder| {
            for (at, token) in level.iter().enumerate() {
                match token {
                    TokenTree::Ident(ident) if ORDERINGS.iter().any(|name| ident == name) => {
                        finder.ordering(ident.to_string(), ident.span().start().line);
                    }
                    TokenTree::Group(group) => {
                        let call = at.checked_sub(1).and_then(word);
                        let call = call.filter(|_| group.delimiter() == Delimiter::Parenthesis);
                        let name = call.unwrap_or_else(|| "(tokens)".to_owned());
                        finder.opaque(group.stream(), name, group.span_open().start().line);
                    }
                    _ => {}
                }
            }
        });
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_stmt(&mut self, node: &'ast Stmt) {
        self.statement(line(node), |finder| visit::visit_stmt(finder, node));
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        self.statement(line(node), |finder| visit::visit_arm(finder, node));
    }

    fn visit_item(&mut self, node: &'ast Item) {
        if !matches!(node, Item::Use(_)) {
            self.statement(line(node), |finder| visit::visit_item(finder, node));
        }
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        let read = |finder: &mut Self| visit::visit_impl_item(finder, node);
        self.statement(line(node), |finder| match node {
            ImplItem::Fn(function) => finder.scoped(finder.scope.clone(), &function.sig.ident, read),
            ImplItem::Const(item) => finder.scoped(finder.scope.clone(), &item.ident, read),
            _ => read(finder),
        });
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        let read = |finder: &mut Self| visit::visit_trait_item(finder, node);
        self.statement(line(node), |finder| match node {
            TraitItem::Fn(function) => finder.scoped(finder.scope.clone(), &function.sig.ident, read),
            TraitItem::Const(item) => finder.scoped(finder.scope.clone(), &item.ident, read),
            _ => read(finder),
        });
    }

    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.scoped(Vec::new(), &node.sig.ident, |finder| visit::visit_item_fn(finder, node));
    }

    fn visit_item_impl(&mut self, node: &'ast ItemImpl) {
        self.scoped(Vec::new(), &type_name(&node.self_ty), |finder| visit::visit_item_impl(finder, node));
    }

    fn visit_item_trait(&mut self, node: &'ast ItemTrait) {
        self.scoped(Vec::new(), &node.ident, |finder| visit::visit_item_trait(finder, node));
    }

    fn visit_field_value(&mut self, node: &'ast FieldValue) {
        self.anchored(line(node), |finder| visit::visit_field_value(finder, node));
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        self.anchored(line(node), |finder| visit::visit_expr(finder, node));
    }

    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        self.visit_expr(&node.func);
        self.call(name_of(&node.func), line(&node.func), |finder| {
            node.args.iter().for_each(|arg| finder.visit_expr(arg));
        });
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        self.visit_expr(&node.receiver);
        let name = match last_name(&node.receiver) {
            Some(receiver) => format!("{receiver}.{}", node.method),
            None => node.method.to_string(),
        };
        self.anchored(line(&node.dot_token), |finder| {
            finder.call(name, line(&node.dot_token), |finder| {
                node.args.iter().for_each(|arg| finder.visit_expr(arg));
            });
        });
    }

    fn visit_expr_path(&mut self, node: &'ast ExprPath) {
        if let Some(last) = node.path.segments.last() {
            let name = last.ident.to_string();
            if ORDERINGS.contains(&name.as_str()) {
                self.ordering(name, line(&last.ident));
            }
        }
    }

    fn visit_pat(&mut self, node: &'ast Pat) {
        if let Pat::Guard(guarded) = node {
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        let name = node.path.segments.last().map_or_else(String::new, |last| format!("{}!", last.ident));
        let line = line(&node.path);
        match arguments(node) {
            Arguments::Expressions(list) => {
                self.call(name, line, |finder| list.iter().for_each(|expr| finder.visit_expr(expr)));
            }
            Arguments::Statements(list) => list.iter().for_each(|stmt| self.visit_stmt(stmt)),
            Arguments::Opaque => self.opaque(node.tokens.clone(), name, line),
        }
    }
}

fn line(node: &impl Spanned) -> usize {
    node.span().start().line
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map_or_else(String::new, |last| last.ident.to_string()),
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
        Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => Some(name.to_string()),
            syn::Member::Unnamed(_) => last_name(&field.base),
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

    fn found(text: &str) -> Vec<(String, String)> {
        let source = Source::parse("crates/core/src/a.rs", text).expect("parses");
        find(&source).into_iter().map(|site| (site.function, site.op)).collect()
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
        let source = Source::parse("crates/core/src/a.rs", text).expect("parses");
        let sites = find(&source);
        assert_eq!(sites.len(), 1);
        assert_eq!((sites[0].op.as_str(), sites[0].required), ("P::store_then_load()", false));
    }

    #[test]
    fn macro_rules_bodies_are_read_as_tokens() {
        let text = "macro_rules! take { ($x:expr) => { $x.lock.swap(1, Acquire) }; }";
        assert_eq!(found(text), [("(file)".to_owned(), "swap(Acquire)".to_owned())]);
    }
}
