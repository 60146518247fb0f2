//! `no-file-circles`: no files of the product, of the family, of the laboratory's kit or of its benchmark
//! need each other in a circle, and neither do the commands of the laboratory.
//!
//! A file needs another one if it names what that one declares. Names are followed through `use`, so a module
//! that only hands a name on is not what is needed, and `lib.rs` or `main.rs` never is. Implementations of
//! traits need no name. Tests may name whatever they test.
//!
//! A command is a module of `main.rs`. It needs another one if a file of it needs a file of that one.
use crate::tokens::{Token, parts, reads};
use crate::workspace::{Finding, Source, module_files};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use syn::Item;

/// The files that declare the modules of a crate.
const ROOTS: &[&str] = &[
    "crates/core/src/lib.rs",
    "crates/family/src/lib.rs",
    "crates/lab-kit/src/lib.rs",
    LAB,
    "crates/stanchion/src/lib.rs",
];
/// The crate whose modules are commands.
const LAB: &str = "crates/lab/src/main.rs";
/// The only one of them whose files are looked at: others have some circles of two.
const BENCH: &str = "crates/lab/src/bench/";

type Path = Vec<String>;
type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// A file and the paths outside its tests, single names included.
struct Module<'a> {
    file: &'a Source,
    /// What it brings in by `use`, by the name that it has here.
    uses: BTreeMap<String, Vec<Path>>,
    /// What it names otherwise than to hand it on.
    names: BTreeSet<Path>,
}

/// The modules of a crate by their paths. Several files may stand for one, by `cfg`.
#[derive(Default)]
struct Tree<'a>(BTreeMap<Path, Vec<Module<'a>>>);

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in ROOTS {
        let needs = needs(sources, root);
        let files = circles(&needs, "file");
        findings.extend(files.into_iter().filter(|found| *root != LAB || found.path.starts_with(BENCH)));
        if *root == LAB {
            findings.extend(circles(&commands(&needs), "command"));
        }
    }
    findings
}

/// Each circle, told once, of its first place.
fn circles(needs: &Needs, what: &str) -> Vec<Finding> {
    let ways = needs.keys().filter_map(|place| {
        let way = way_around(needs, place).filter(|way| way.iter().min() == Some(place))?;
        let message =
            format!("the {what} needs itself by way of {}; move what they share", way[1..].join(", "));
        Some(Finding::new(place, 1, "no-file-circles", message))
    });
    ways.collect()
}

/// What commands need of each other, each by the path of its module without `.rs` and `/mod.rs`.
fn commands<'a>(needs: &Needs<'a>) -> Needs<'a> {
    let mut commands = Needs::new();
    for (file, needed) in needs {
        let own = command(file);
        let others = needed.iter().map(|file| command(file)).filter(|other| *other != own);
        commands.entry(own).or_default().extend(others);
    }
    commands
}

fn command(file: &str) -> &str {
    let directory = LAB.trim_end_matches("main.rs");
    let within = file.strip_prefix(directory).unwrap_or(file);
    let name = within.split('/').next().unwrap_or(within);
    file[..file.len() - within.len() + name.len()].trim_end_matches(".rs")
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
    tree.add(sources, root, Path::new());
    let mut needs = Needs::new();
    for (at, files) in &tree.0 {
        for module in files {
            let mut needed = BTreeSet::new();
            let is_ours = |path: &&Path| {
                matches!(path[0].as_str(), "crate" | "super" | "self")
                    || tree.0.contains_key(&child(at, &path[0]))
                    || module.uses.contains_key(&path[0])
            };
            for path in module.names.iter().filter(is_ours) {
                tree.resolve(at, path, &mut BTreeSet::new(), &mut needed);
            }
            needed.retain(|path| files.iter().all(|own| own.file.path != *path));
            needs.insert(module.file.path.as_str(), needed);
        }
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
                for path in module_files(file, item) {
                    self.add(sources, &path, child(&at, &item.ident.to_string()));
                }
            }
        }
        self.0.entry(at).or_default().push(Module::read(file));
    }

    /// Puts the files into `found` that declare what `path` means in the module `at`.
    fn resolve(
        &self,
        at: &[String],
        mut path: &[String],
        seen: &mut BTreeSet<(Path, Path)>,
        found: &mut BTreeSet<&'a str>,
    ) {
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
        // Modules may hand on all that they have to each other.
        if !seen.insert((at.clone(), path.to_vec())) {
            return;
        }
        for module in self.0.get(&at).into_iter().flatten() {
            let brought = |name: &str| module.uses.get(name).into_iter().flatten();
            let mut to: Vec<Path> = brought(name).map(|to| [to.as_slice(), rest].concat()).collect();
            if to.is_empty() {
                to = brought("*").map(|glob| [&glob[..glob.len() - 1], path].concat()).collect();
            }
            if name == "*" || to.is_empty() {
                if !at.is_empty() {
                    found.insert(&module.file.path);
                }
            } else {
                for to in to {
                    self.resolve(&at, &to, seen, found);
                }
            }
        }
    }
}

impl<'a> Module<'a> {
    fn read(file: &'a Source) -> Self {
        let mut module = Self { file, uses: BTreeMap::new(), names: BTreeSet::new() };
        let tokens = &file.tokens;
        // The modules within the file that are around, by their ends.
        let mut around: Vec<usize> = Vec::new();
        // Within a `use`: whether it is public.
        let (mut at, mut handed_on) = (0, None);
        while let Some(token) = tokens.get(at) {
            around.retain(|&end| at < end);
            let is_within_path = at > 1 && reads(tokens, at - 2, &[":", ":"]);
            match token.text.as_str() {
                ";" => handed_on = None,
                "{" => {
                    handed_on = None;
                    around.extend((at > 1 && tokens[at - 2].text == "mod").then_some(token.end));
                }
                "use" => {
                    let last = tokens[..at].iter().rposition(|token| token.text == "pub");
                    handed_on =
                        Some(last.is_some_and(|last| [last, tokens[last + 1].end].contains(&(at - 1))));
                }
                _ if token.is_word && !is_within_path && !file.in_tests(token.start.line) => {
                    let mut paths = Vec::new();
                    at = branches(tokens, at, &[], &mut paths);
                    // What a module within the file brings in, it uses.
                    let handed_on = handed_on.filter(|_| around.is_empty());
                    for (path, name) in paths {
                        module.take(path, name, handed_on, around.len());
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        module
    }

    /// Takes a path, as seen from so many modules within the file.
    fn take(&mut self, mut path: Path, name: String, handed_on: Option<bool>, depth: usize) {
        let outside = path.iter().take_while(|part| *part == "super").count().min(depth);
        let is_self = path.get(outside).is_some_and(|part| part == "self");
        path.drain(..outside + usize::from(is_self));
        if path.is_empty() {
            return;
        }
        if handed_on != Some(true) {
            self.names.insert(path.clone());
        }
        if handed_on.is_some() {
            self.uses.entry(name).or_default().push(path);
        }
    }
}

/// Finds the path at `at` behind `before`, or those that its braces list, and their names; where it ends.
fn branches(tokens: &[Token], mut at: usize, before: &[String], found: &mut Vec<(Path, String)>) -> usize {
    let mut path = before.to_vec();
    loop {
        match &tokens[at] {
            part if part.is_word || part.text == "*" => path.push(part.text.clone()),
            open if open.text == "{" => {
                for part in parts(tokens, at) {
                    branches(tokens, part, &path, found);
                }
                return open.end + 1;
            }
            _ => return at,
        }
        at += 1;
        if !reads(tokens, at, &[":", ":"]) {
            break;
        }
        at += 2;
    }
    let name = match tokens.get(at..at + 2) {
        Some([word, name]) if word.text == "as" && name.is_word => name.text.clone(),
        _ => path.iter().rfind(|part| *part != "self").cloned().unwrap_or_default(),
    };
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    found.push((path, name));
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let parse = |&(path, text): &(&str, &str)| {
            Source::parse(&format!("crates/{path}"), text).expect("the snippet parses")
        };
        let sources: Vec<Source> = files.iter().map(parse).collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_through_a_name_that_is_handed_on_is_found_once() {
        let files = [
            ("core/src/lib.rs", "mod deep;\nmod ring;\npub use ring::Ring;\n"),
            ("core/src/deep/mod.rs", "mod low;\npub(crate) use self::low::{Low as Lowest, other};\n"),
            ("core/src/deep/low.rs", "pub(crate) struct Low(crate::Ring);\n"),
            ("core/src/ring.rs", "use crate::deep;\nuse deep::Lowest;\npub struct Ring;\n"),
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
            ("core/src/lib.rs", "mod os;\nmod user;\nmacro_rules! m { () => { $crate::user::f() } }\n"),
            (
                "core/src/os/mod.rs",
                "#[cfg_attr(unix, path = \"unix/mod.rs\")]\nmod here;\npub(crate) use here::*;\n",
            ),
            (
                "core/src/os/unix/mod.rs",
                "macro_rules! g { () => { crate::user::f() } }\npub(crate) fn wait() {}\n",
            ),
            ("core/src/user.rs", "use crate::os;\npub(crate) fn f() { os::wait() }\n"),
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
            ("core/src/lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
            (
                "core/src/a.rs",
                "pub struct A;\nmod sealed { use super::A; }\n#[cfg(test)]\nmod tests { use crate::b::B; }\n",
            ),
            ("core/src/b.rs", "use super::A;\npub struct B(A);\n"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn commands_that_need_each_other_by_different_files_are_found() {
        let files = [
            ("lab/src/main.rs", "mod ablate;\nmod bench;\n"),
            (
                "lab/src/ablate/mod.rs",
                "mod table;\npub(crate) use table::Sample;\nfn run() { crate::bench::check() }\n",
            ),
            ("lab/src/ablate/table.rs", "pub(crate) struct Sample;\n"),
            ("lab/src/bench/mod.rs", "mod run;\npub(crate) fn check() {}\n"),
            ("lab/src/bench/run.rs", "use crate::ablate::Sample;\n"),
        ];
        assert_eq!(
            found(&files),
            ["crates/lab/src/ablate:1: [no-file-circles] the command needs itself by way of \
                 crates/lab/src/bench; move what they share"]
        );
        let above = [files[0], files[1], files[2], files[3]];
        assert_eq!(found(&above), Vec::<String>::new());
    }
}
