//! One Rust file, read three ways: as text, as comments by line, as syntax.
use crate::comments::{self, Comment, Kind};
use crate::finding::Finding;
use crate::statements::{self, Extent};
use crate::tokens;
use proc_macro2::TokenStream;
use std::collections::BTreeMap;
use syn::Attribute;

/// A parsed file of the workspace.
pub(crate) struct Source {
    /// Path relative to the workspace root, with forward slashes.
    pub(crate) path: String,
    /// The text as it is on disk.
    pub(crate) text: String,
    /// All tokens; positions are those of `text`.
    pub(crate) tokens: TokenStream,
    /// The syntax tree of `tokens`.
    pub(crate) file: syn::File,
    /// The whole file belongs to a `#[cfg(test)] mod name;` of another file.
    pub(crate) test_only: bool,
    comments: BTreeMap<usize, Vec<Comment>>,
    extents: Vec<Extent>,
}

impl Source {
    /// Parses `text`; a file that does not parse is a finding.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, Finding> {
        let refuse = |error: syn::Error| {
            let line = error.span().start().line;
            Finding::new(path, line, "file-parses", format!("{error}; make it compile first"))
        };
        let tokens: TokenStream = text.parse().map_err(|error| refuse(syn::Error::from(error)))?;
        let file: syn::File = syn::parse2(tokens.clone()).map_err(refuse)?;
        let mut comments: BTreeMap<usize, Vec<Comment>> = BTreeMap::new();
        for comment in comments::scan(text, &tokens) {
            comments.entry(comment.line).or_default().push(comment);
        }
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            extents: statements::extents(&file),
            tokens,
            file,
            test_only: false,
            comments,
        })
    }

    /// Every comment of the file, in order.
    pub(crate) fn comments(&self) -> impl Iterator<Item = &Comment> {
        self.comments.values().flatten()
    }

    /// The contiguous comment lines that end directly above `line`, top to bottom.
    pub(crate) fn block_above(&self, line: usize) -> Vec<&Comment> {
        let mut block: Vec<&Comment> =
            (1..line).rev().map_while(|above| self.comment_alone_at(above)).collect();
        block.reverse();
        block
    }

    /// The `//` comment that has `line` to itself.
    pub(crate) fn comment_alone_at(&self, line: usize) -> Option<&Comment> {
        self.comments.get(&line)?.iter().find(|comment| comment.alone && comment.kind == Kind::Line)
    }

    /// First line of the innermost statement, match arm, field or item around a position.
    pub(crate) fn statement_line(&self, line: usize, column: usize) -> Option<usize> {
        let around = self.extents.iter().filter(|extent| extent.covers(line, column));
        around.max_by_key(|extent| extent.start).filter(|extent| extent.anchors).map(|extent| extent.start.0)
    }

    /// Whether `line` is test code: inside an item under `#[cfg(test)]`, or a whole file of it.
    pub(crate) fn in_tests(&self, line: usize) -> bool {
        self.test_only || self.extents.iter().any(|e| e.test && e.start.0 <= line && line <= e.end.0)
    }
}

/// Whether the attributes hold `#[cfg(test)]`, alone or in an `all(...)`.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| demands_test(&list.tokens))
    })
}

fn demands_test(condition: &TokenStream) -> bool {
    let condition: Vec<_> = condition.clone().into_iter().collect();
    match condition.as_slice() {
        [word] => tokens::is_ident(word, "test"),
        [all, proc_macro2::TokenTree::Group(inside)] if tokens::is_ident(all, "all") => {
            tokens::split_commas(inside.stream()).iter().any(demands_test)
        }
        _ => false,
    }
}

/// Where the modules of the file `path` are, to which their names are added.
pub(crate) fn module_base(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => format!("{directory}/"),
        _ => format!("{}/", path.trim_end_matches(".rs")),
    }
}

/// Paths (without `.rs`) that the `#[cfg(test)] mod name;` declarations of `source` may mean.
pub(crate) fn test_module_paths(source: &Source) -> Vec<String> {
    let base = module_base(&source.path);
    let outer = source.file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_test_only(&module.attrs) => Some(module),
        _ => None,
    });
    outer.map(|module| format!("{base}{}", module.ident)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Source {
        Source::parse("crates/core/src/qspin.rs", text).expect("the snippet parses")
    }

    #[test]
    fn blocks_above_are_contiguous() {
        let source = parse("// far\n\n// one\n// two\nfn f() {}\n");
        let texts: Vec<&str> = source.block_above(5).iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["one", "two"]);
        assert!(source.block_above(2).len() == 1 && source.block_above(3).is_empty());
    }

    #[test]
    fn the_innermost_statement_counts() {
        let source = parse("fn f() {\n    let a = {\n        g(\n            1,\n        )\n    };\n}\n");
        assert_eq!(source.statement_line(4, 12), Some(3));
        assert_eq!(source.statement_line(2, 8), Some(2));
    }

    #[test]
    fn test_modules_are_known_by_their_condition() {
        let source = parse("#[cfg(test)]\nmod a {\n fn f() {}\n}\n#[cfg(not(test))]\nmod b {}\n");
        assert!(source.in_tests(3));
        assert!(!source.in_tests(6));
        let source =
            parse("#[cfg(all(test, feature = \"std\"))]\nmod a {}\n#[cfg(any(test, unix))]\nmod b {}\n");
        assert!(source.in_tests(2) && !source.in_tests(4));
    }

    #[test]
    fn out_of_line_test_modules_are_found() {
        let source = parse("#[cfg(test)]\nmod tests;\nmod node;\n");
        assert_eq!(test_module_paths(&source), ["crates/core/src/qspin/tests"]);
    }

    #[test]
    fn what_does_not_parse_is_a_finding() {
        let refused = Source::parse("a.rs", "fn f( {}\n").err().expect("refused");
        assert_eq!((refused.rule, refused.line), ("file-parses", 1));
    }
}
