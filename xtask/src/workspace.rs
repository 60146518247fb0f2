//! The workspace: where it is, what is written into it, and its files. Each of Rust is read as text, as
//! tokens, as comments by line and as syntax; and what is found wrong in one.
use crate::files;
use crate::sites::{self, Extent, Site};
use crate::tokens::{self, Comment, Kind, Token, parts, reads};
use anyhow::Result;
use core::fmt;
use core::ops::RangeInclusive;
use lab_kit::provenance::Provenance;
use proc_macro2::{LineColumn, TokenStream};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use syn::spanned::Spanned as _;
use syn::{Item, ItemMod};

/// Everything the rules look at, read once.
pub(crate) struct Workspace {
    /// Parsed Rust files, sorted by path.
    pub(crate) sources: Vec<Source>,
    pub(crate) refused: Vec<Finding>,
    pub(crate) manifests: Vec<(String, String)>,
}

/// The workspace this program was started in: `cargo run` names the directory of this crate.
pub(crate) fn root() -> PathBuf {
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Where a result comes from that is measured with what is built at `root`.
pub(crate) fn provenance(root: &Path) -> Provenance {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let tree = |changes: String| if changes.is_empty() { "clean" } else { "dirty" };
    Provenance {
        build: "release".to_owned(),
        commit: git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".to_owned()),
        tree: git(&["status", "--porcelain"]).map_or("unknown", tree).to_owned(),
        ..Provenance::collect(0)
    }
}

pub(crate) fn read(root: &Path) -> Result<Workspace> {
    let (mut sources, mut refused) = (Vec::new(), Vec::new());
    for path in rust_files(root)? {
        let relative = path.strip_prefix(root)?.to_string_lossy();
        match Source::parse(&relative, &fs::read_to_string(&path)?) {
            Ok(source) => sources.push(source),
            Err(finding) => refused.push(finding),
        }
    }
    mark_test_files(&mut sources);
    Ok(Workspace { sources, refused, manifests: manifests(root)? })
}

fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let below = |directory: &str| files::below(&root.join(directory));
    let mut paths = [below("crates")?, below("fuzz")?, below("xtask")?].concat();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    Ok(paths)
}

/// Marks files that only a `#[cfg(test)] mod name;` brings in.
fn mark_test_files(sources: &mut [Source]) {
    let roots: Vec<String> = sources.iter().flat_map(test_module_paths).collect();
    for source in sources {
        source.test_only = roots.iter().any(|root| {
            source.path.strip_prefix(root.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
    }
}

pub(crate) fn manifests(root: &Path) -> Result<Vec<(String, String)>> {
    let manifest: toml::Table = files::read(root, "Cargo.toml")?;
    let members = manifest.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
    let members = members.into_iter().flatten().filter_map(toml::Value::as_str);
    let paths = members.map(|member| format!("{member}/Cargo.toml"));
    paths.map(|path| Ok((path.clone(), fs::read_to_string(root.join(path))?))).collect()
}

/// Writes a generated file, or says with `check` where it is not current. It is written `by` this command.
pub(crate) fn generate(root: &Path, path: &str, text: &str, check: bool, by: &str) -> io::Result<bool> {
    let Some(line) = stale(root, path, text) else { return Ok(true) };
    if check {
        println!("{path}:{line} is not current; run `cargo xtask {by}`");
        return Ok(false);
    }
    fs::write(root.join(path), text)?;
    println!("{path} is written");
    Ok(true)
}

/// What a generated file says of each name; nothing if it is not there.
pub(crate) fn record(root: &Path, path: &str) -> Result<BTreeMap<String, String>> {
    if root.join(path).exists() { files::read(root, path) } else { Ok(BTreeMap::new()) }
}

/// The first line in which a generated file, which need not be there, differs from `text`.
pub(crate) fn stale(root: &Path, path: &str, text: &str) -> Option<usize> {
    let old = fs::read_to_string(root.join(path)).unwrap_or_default();
    let same = old.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
    (old != text).then_some(same + 1)
}

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
            comments: tokens::comments(text, &tokens),
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
fn module_base(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => format!("{directory}/"),
        _ => format!("{}/", path.trim_end_matches(".rs")),
    }
}

/// The files that a `mod name;` in this one may mean.
pub(crate) fn module_files(file: &Source, item: &ItemMod) -> Vec<String> {
    let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let given = item.attrs.iter().filter_map(|attribute| {
        let text = file.text[attribute.span().byte_range()].strip_prefix("#[")?;
        let (_, given) = text.rsplit_once("path = \"")?;
        Some(format!("{directory}/{}", given.split('"').next()?))
    });
    let given: Vec<String> = given.collect();
    if given.is_empty() {
        let path = format!("{}{}", module_base(&file.path), item.ident);
        vec![format!("{path}.rs"), format!("{path}/mod.rs")]
    } else {
        given
    }
}

/// Paths (without `.rs` and `/mod.rs`) that the `#[cfg(test)] mod name;` declarations of `source` may mean.
fn test_module_paths(source: &Source) -> BTreeSet<String> {
    let outer = source.file.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module),
        _ => None,
    });
    let tested = outer.filter(|module| source.in_tests(module.ident.span().start().line));
    let stem = |path: String| path.trim_end_matches(".rs").trim_end_matches("/mod").to_owned();
    tested.flat_map(|module| module_files(source, module)).map(stem).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    /// What is wrong; what to do.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: [{}] {}", self.path, self.line, self.rule, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_test_modules_are_marked() {
        let parse = |path: &str, text: &str| Source::parse(path, text).expect("parses");
        let mut sources = [
            parse("crates/core/src/qspin/mod.rs", "#[cfg(test)]\nmod tests;\nmod node;\n"),
            parse("crates/core/src/qspin/tests.rs", ""),
            parse("crates/core/src/qspin/tests/deep.rs", ""),
            parse("crates/core/src/qspin/node.rs", ""),
        ];
        mark_test_files(&mut sources);
        assert_eq!(sources.map(|source| source.test_only), [false, true, true, false]);
    }

    #[test]
    fn this_workspace_is_found() {
        let root = root();
        let files = rust_files(&root).expect("readable");
        assert!(
            ["xtask/src/main.rs", "fuzz/targets/elf.rs"].iter().all(|file| files.contains(&root.join(file)))
        );
        assert!(files.iter().all(|path| path.extension().is_some_and(|extension| extension == "rs")));
        let manifests = manifests(&root).expect("readable");
        assert!(manifests.iter().any(|(path, _)| path == "xtask/Cargo.toml"));
    }

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
        assert_eq!(test_module_paths(&source).iter().collect::<Vec<_>>(), ["crates/core/src/qspin/tests"]);
        let source = parse("#[cfg(test)]\n#[path = \"qspin_tests.rs\"]\nmod tests;\n");
        assert_eq!(test_module_paths(&source).iter().collect::<Vec<_>>(), ["crates/core/src/qspin_tests"]);
    }

    #[test]
    fn what_does_not_parse_is_a_finding() {
        let refused = Source::parse("a.rs", "fn f( {}\n").err().expect("refused");
        assert_eq!((refused.rule, refused.line), ("file-parses", 1));
    }

    #[test]
    fn a_finding_is_one_line() {
        let finding = Finding::new("crates/core/src/a.rs", 3, "file-size", "too long; split it");
        assert_eq!(finding.to_string(), "crates/core/src/a.rs:3: [file-size] too long; split it");
    }
}
