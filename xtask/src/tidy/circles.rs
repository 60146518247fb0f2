//! `no-file-circles`: no files of the product or of the family need each other in a circle.
//!
//! A file needs another one if it names what that one declares. Names are followed through `use`, so a module
//! that only hands a name on is not what is needed, and `lib.rs` never is. Implementations of traits need no
//! name. Tests may name whatever they test.
use crate::finding::Finding;
use crate::source::{Source, module_base};
use crate::tokens::{group_at, is_ident, is_punct, line_of, path_sep_at, split_commas};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, MetaNameValue};

const RULE: &str = "no-file-circles";
const ROOTS: &[&str] = &["crates/core/src", "crates/family/src", "crates/stanchion/src"];
/// A name is handed on so often at most.
const STEPS: usize = 16;

type Path = Vec<String>;
/// What each file needs.
type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// A file with what it brings in by `use`: the path, and the name that it has here.
struct Module<'a> {
    file: &'a Source,
    uses: Vec<(Path, String)>,
}

/// The modules of a crate by their paths. Several files may stand for one, by `cfg`.
#[derive(Default)]
struct Tree<'a>(BTreeMap<Path, Vec<Module<'a>>>);

/// A finding for each file that needs itself, with the way around.
pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in ROOTS {
        let needs = needs(sources, root);
        for file in needs.keys() {
            // Each circle is told once, of its first file.
            if let Some(way) = way_around(&needs, file).filter(|way| way.iter().min() == Some(file)) {
                let message =
                    format!("the file needs itself by way of {}; move what they share", way[1..].join(", "));
                findings.push(Finding::new(file, 1, RULE, message));
            }
        }
    }
    findings
}

/// The shortest way from `file` through what it needs back to it, which it begins with.
fn way_around<'a>(needs: &Needs<'a>, file: &'a str) -> Option<Vec<&'a str>> {
    let (mut ways, mut seen) = (VecDeque::from([vec![file]]), BTreeSet::new());
    while let Some(way) = ways.pop_front() {
        for &next in way.last().and_then(|last| needs.get(last)).into_iter().flatten() {
            if next == file {
                return Some(way);
            }
            if seen.insert(next) {
                ways.push_back([way.as_slice(), &[next]].concat());
            }
        }
    }
    None
}

fn needs<'a>(sources: &'a [Source], root: &str) -> Needs<'a> {
    let mut tree = Tree::default();
    tree.add(sources, &format!("{root}/lib.rs"), Path::new());
    let mut needs = Needs::new();
    for (at, module) in tree.0.iter().flat_map(|(at, files)| files.iter().map(move |file| (at, file))) {
        let (mut needed, mut seen) = (BTreeSet::new(), BTreeSet::new());
        each_path(module.file, &module.file.tokens, 0, &mut |path, _, by| {
            // A file does not need what it only hands on. Each path is resolved once.
            if by == By::PubUse || !seen.insert(path.to_vec()) {
                return;
            }
            let is_ours = matches!(path[0].as_str(), "crate" | "super" | "self")
                || tree.0.contains_key(&child(at, &path[0]))
                || module.uses.iter().any(|(_, name)| *name == path[0]);
            if is_ours {
                tree.resolve(at, path, STEPS, &mut needed);
            }
        });
        needed.retain(|path| tree.0[at].iter().all(|own| own.file.path != *path));
        needs.insert(&module.file.path, needed);
    }
    needs
}

fn child(at: &[String], name: &str) -> Path {
    [at, &[name.to_owned()]].concat()
}

impl<'a> Tree<'a> {
    /// The module `at` in `path`, and those that it declares.
    fn add(&mut self, sources: &'a [Source], path: &str, at: Path) {
        let Some(file) = sources.iter().find(|source| source.path == path && !source.test_only) else {
            return;
        };
        for item in &file.file.items {
            if let Item::Mod(item) = item {
                let name = item.ident.to_string();
                for path in files(path, &name, &item.attrs) {
                    self.add(sources, &path, child(&at, &name));
                }
            }
        }
        let mut uses = Vec::new();
        each_path(file, &file.tokens, 0, &mut |path, name, by| {
            if by != By::Name {
                uses.push((path.to_vec(), name.to_owned()));
            }
        });
        self.0.entry(at).or_default().push(Module { file, uses });
    }

    /// Puts the files into `found` that declare what `path` means in the module `at`.
    fn resolve(&self, at: &[String], mut path: &[String], steps: usize, found: &mut BTreeSet<&'a str>) {
        let mut at = at.to_vec();
        while let Some((first, rest)) = path.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name if self.0.contains_key(&child(&at, name)) => at.push(name.to_owned()),
                _ => break,
            }
            path = rest;
        }
        let Some((name, rest)) = path.split_first() else { return };
        for module in self.0.get(&at).into_iter().flatten() {
            let brought = |wanted: &str| -> Vec<&[String]> {
                module.uses.iter().filter(|(_, name)| name == wanted).map(|(to, _)| to.as_slice()).collect()
            };
            let mut to = brought(name);
            let mut rest = rest;
            if to.is_empty() {
                to = brought("*").iter().map(|glob| &glob[..glob.len() - 1]).collect();
                rest = path;
            }
            if name == "*" || to.is_empty() {
                if !at.is_empty() {
                    found.insert(&module.file.path);
                }
            } else if let Some(steps) = steps.checked_sub(1) {
                for to in to {
                    self.resolve(&at, &[to, rest].concat(), steps, found);
                }
            }
        }
    }
}

/// The files that `mod name;` in the file `path` may mean.
fn files(path: &str, name: &str, attributes: &[Attribute]) -> Vec<String> {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let given = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            Some(list.tokens.to_string().rsplit_once("path = \"")?.1.trim_end_matches('"').to_owned())
        }
        Meta::NameValue(MetaNameValue {
            path,
            value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }),
            ..
        }) if path.is_ident("path") => Some(text.value()),
        _ => None,
    });
    let given: Vec<String> = given.map(|given| format!("{directory}/{given}")).collect();
    if given.is_empty() {
        let base = module_base(path);
        vec![format!("{base}{name}.rs"), format!("{base}{name}/mod.rs")]
    } else {
        given
    }
}

/// How a path stands in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Name,
    Use,
    PubUse,
}

/// Shows `visit` each path outside tests, single names included, with the name that `use` gives it, and how
/// it stands there. `depth` is how many modules within the file are around it.
fn each_path(file: &Source, tokens: &TokenStream, depth: usize, visit: &mut impl FnMut(&[String], &str, By)) {
    let level: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut by = By::Name;
    for (at, token) in level.iter().enumerate() {
        match token {
            TokenTree::Group(_) if is_within_path(&level, at) => {}
            TokenTree::Group(group) => {
                let is_module = at > 1 && is_ident(&level[at - 2], "mod");
                each_path(file, &group.stream(), depth + usize::from(is_module), visit);
            }
            TokenTree::Punct(_) if is_punct(token, ';') => by = By::Name,
            TokenTree::Ident(_) if is_ident(token, "use") => {
                let before = level[..at].iter().rev().find(|token| !matches!(token, TokenTree::Group(_)));
                by = if before.is_some_and(|token| is_ident(token, "pub")) { By::PubUse } else { By::Use };
            }
            TokenTree::Ident(_) if !is_within_path(&level, at) && !file.in_tests(line_of(token)) => {
                branches(&level[at..], &Path::new(), &mut |path, name| {
                    let outside = path.iter().take_while(|part| *part == "super").count().min(depth);
                    let path = if path.get(outside).is_some_and(|part| part == "self") {
                        &path[outside + 1..]
                    } else {
                        &path[outside..]
                    };
                    // What a module within the file brings in, it uses.
                    let by = if depth > 0 { By::Name } else { by };
                    if !path.is_empty() {
                        visit(path, name, by);
                    }
                });
            }
            _ => {}
        }
    }
}

fn is_within_path(level: &[TokenTree], at: usize) -> bool {
    at > 1 && path_sep_at(level, at - 2)
}

/// Shows `visit` the path at the start of `level` behind `before`, or those that its braces list.
fn branches(level: &[TokenTree], before: &[String], visit: &mut impl FnMut(&[String], &str)) {
    let mut path = before.to_vec();
    let mut at = 0;
    loop {
        match level.get(at) {
            Some(TokenTree::Ident(part)) => path.push(part.to_string()),
            Some(token) if is_punct(token, '*') => path.push("*".to_owned()),
            _ => {
                for part in group_at(level, at, Delimiter::Brace)
                    .into_iter()
                    .flat_map(|group| split_commas(group.stream()))
                {
                    branches(&part.into_iter().collect::<Vec<_>>(), &path, visit);
                }
                return;
            }
        }
        if !path_sep_at(level, at + 1) {
            break;
        }
        at += 3;
    }
    let name = match level.get(at + 1..at + 3) {
        Some([word, TokenTree::Ident(name)]) if is_ident(word, "as") => name.to_string(),
        _ => path.iter().rfind(|part| *part != "self").cloned().unwrap_or_default(),
    };
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    visit(&path, &name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let parse = |&(path, text): &(&str, &str)| {
            Source::parse(&format!("crates/core/src/{path}"), text).expect("the snippet parses")
        };
        let sources: Vec<Source> = files.iter().map(parse).collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_through_a_name_that_is_handed_on_is_found_once() {
        let files = [
            ("lib.rs", "mod deep;\nmod ring;\npub use ring::Ring;\n"),
            ("deep/mod.rs", "mod low;\npub(crate) use self::low::{Low as Lowest, other};\n"),
            ("deep/low.rs", "pub(crate) struct Low(crate::Ring);\n"),
            ("ring.rs", "use crate::deep;\nuse deep::Lowest;\npub struct Ring;\n"),
        ];
        assert_eq!(
            found(&files),
            ["crates/core/src/deep/low.rs:1: [no-file-circles] the file needs itself by way of \
                 crates/core/src/ring.rs; move what they share"]
        );
    }

    #[test]
    fn files_that_stand_for_a_module_by_cfg_and_paths_in_macros_count() {
        let files = [
            ("lib.rs", "mod os;\nmod user;\nmacro_rules! m { () => { $crate::user::f() } }\n"),
            ("os/mod.rs", "#[cfg_attr(unix, path = \"unix/mod.rs\")]\nmod here;\npub(crate) use here::*;\n"),
            ("os/unix/mod.rs", "macro_rules! g { () => { crate::user::f() } }\npub(crate) fn wait() {}\n"),
            ("user.rs", "use crate::os;\npub(crate) fn f() { os::wait() }\n"),
        ];
        assert_eq!(
            found(&files),
            ["crates/core/src/os/unix/mod.rs:1: [no-file-circles] the file needs itself by way of \
                 crates/core/src/user.rs; move what they share"]
        );
    }

    #[test]
    fn trees_tests_and_modules_within_a_file_pass() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
            (
                "a.rs",
                "pub struct A;\nmod sealed { use super::A; }\n#[cfg(test)]\nmod tests { use crate::b::B; }\n",
            ),
            ("b.rs", "use super::A;\npub struct B(A);\n"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
