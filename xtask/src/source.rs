//! One Rust file, read four ways: as text, as tokens, as comments by line, as syntax.
use crate::comments::{self, Comment, Kind};
use crate::finding::Finding;
use crate::sites::{self, Extent, Site};
use crate::tokens::{self, Token, parts, reads};
use core::ops::RangeInclusive;
use proc_macro2::{LineColumn, TokenStream};
use std::collections::BTreeMap;

pub(crate) struct Source {
    /// Path relative to the workspace root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    pub(crate) file: syn::File,
    /// The whole file belongs to a `#[cfg(test)] mod name;` of another file.
    pub(crate) test_only: bool,
    /// What may have an ordering tag, in tests too.
    pub(crate) sites: Vec<Site>,
    pub(crate) comments: BTreeMap<usize, Comment>,
    extents: Vec<Extent>,
    /// The lines of what is under `#[cfg(test)]`.
    tests: Vec<RangeInclusive<usize>>,
}

impl Source {
    /// Parses `text`; a file that does not parse is a finding.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, Finding> {
        let refuse = |error: syn::Error| {
            let line = error.span().start().line;
            Finding::new(path, line, "file-parses", format!("{error}; make it compile first"))
        };
        let stream: TokenStream = text.parse().map_err(|error| refuse(syn::Error::from(error)))?;
        let file: syn::File = syn::parse2(stream.clone()).map_err(refuse)?;
        let tokens = tokens::flat(stream, text);
        let (sites, extents) = sites::walk(&file);
        let tests = extents.iter().filter(|extent| is_test_only(&tokens, extent.start));
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            test_only: false,
            comments: comments::scan(text, &tokens),
            tests: tests.map(|extent| extent.start.line..=extent.end.line).collect(),
            tokens,
            file,
            sites,
            extents,
        })
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
        self.comments.get(&line).filter(|comment| comment.alone && comment.kind == Kind::Line)
    }

    /// First line of the innermost statement, match arm, field or item around a token.
    pub(crate) fn statement_line(&self, token: &Token) -> Option<usize> {
        let covers = |extent: &&Extent| extent.start <= token.start && token.start <= extent.end;
        let innermost = self.extents.iter().filter(covers).max_by_key(|extent| extent.start)?;
        innermost.anchors.then_some(innermost.start.line)
    }

    /// Whether `line` is test code: under `#[cfg(test)]`, or in a whole file of it.
    pub(crate) fn in_tests(&self, line: usize) -> bool {
        self.test_only || self.tests.iter().any(|lines| lines.contains(&line))
    }
}

/// Whether what begins at `start` has the attribute `#[cfg(test)]`, alone or in an `all(...)`.
fn is_test_only(tokens: &[Token], start: LineColumn) -> bool {
    let mut at = tokens.partition_point(|token| token.start < start);
    while reads(tokens, at, &["#", "["]) {
        if reads(tokens, at + 2, &["cfg", "("]) && demands_test(tokens, at + 4) {
            return true;
        }
        at = tokens[at + 1].end + 1;
    }
    false
}

fn demands_test(tokens: &[Token], condition: usize) -> bool {
    let within = |open: usize| parts(tokens, open).into_iter().any(|part| demands_test(tokens, part));
    tokens[condition].text == "test" || reads(tokens, condition, &["all", "("]) && within(condition + 1)
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
        syn::Item::Mod(module) if module.content.is_none() => Some(&module.ident),
        _ => None,
    });
    let tested = outer.filter(|name| source.in_tests(name.span().start().line));
    tested.map(|name| format!("{base}{name}")).collect()
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
        let line_of = |text: &str| {
            let token = source.tokens.iter().find(|token| token.text == text);
            token.and_then(|token| source.statement_line(token))
        };
        assert_eq!(line_of("1"), Some(3));
        assert_eq!(line_of("a"), Some(2));
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
