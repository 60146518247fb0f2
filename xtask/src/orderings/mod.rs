//! Memory orderings and the tags that explain them.
//!
//! [`tag`] reads tags, [`crate::sites`] finds the orderings, this module brings both together, [`table`]
//! prints.
pub(crate) mod table;
pub(crate) mod tag;

use crate::comments::{Comment, Kind};
use crate::sites::Site;
use crate::source::Source;
use crate::witness::record;
use crate::workspace::{self, Workspace};
use anyhow::Result;
use std::path::Path;
use tag::{LEAST_WORDS, Tag};

/// How a file that implements the orderings themselves says so.
const OPT_OUT: &str = "tidy: ordering-definitions:";
/// The opt-out must stand within this many lines of the top.
const NEAR_TOP: usize = 40;
/// The crates that the ordering rules look at.
const CRATES: &[&str] = &["core", "family", "stanchion", "capi", "preload", "guest"];

pub(crate) struct FileOrderings {
    pub(crate) path: String,
    /// Tags in source order.
    pub(crate) tags: Vec<Tag>,
    /// Comments that look like tags but are none: the line, and what is wrong.
    pub(crate) malformed: Vec<(usize, String)>,
    /// Each site with the indices into `tags` of the tags that speak for it.
    pub(crate) sites: Vec<(Site, Vec<usize>)>,
    /// The file defines orderings; false reason lines are in `malformed`.
    pub(crate) opted_out: bool,
}

pub(crate) fn collect_all(workspace: &Workspace) -> Vec<FileOrderings> {
    let in_scope =
        |source: &&Source| CRATES.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
    workspace.sources.iter().filter(in_scope).map(collect).collect()
}

/// Brings tags and sites of one file together. Several tags over as many operations are taken in order;
/// otherwise each of them speaks for all.
pub(crate) fn collect(source: &Source) -> FileOrderings {
    let (mut tags, mut malformed) = (Vec::new(), Vec::new());
    for found in line_comments(source).flat_map(|comment| tags_that_end_at(source, comment)) {
        match found {
            Ok(tag) => tags.push(tag),
            Err(bad) => malformed.push(bad),
        }
    }
    let mut near_top = line_comments(source).take_while(|comment| comment.line <= NEAR_TOP);
    let opt_out = near_top.find_map(|comment| Some((comment.line, comment.text.strip_prefix(OPT_OUT)?)));
    if let Some((line, _)) = opt_out.filter(|(_, reason)| reason.split_whitespace().count() < LEAST_WORDS) {
        let what = "the opt-out gives no reason; say in three words or more why this file needs no tags";
        malformed.push((line, what.to_owned()));
    }
    let is_meant = |site: &&Site| opt_out.is_none() && !source.in_tests(site.line);
    let found: Vec<&Site> = source.sites.iter().filter(is_meant).collect();
    let covering = |site: &&Site| {
        let at = |line: &usize| -> Vec<usize> {
            (0..tags.len()).filter(|&tag| tags[tag].covers == *line).collect()
        };
        site.lines.iter().map(at).find(|tags| !tags.is_empty()).unwrap_or_default()
    };
    let shared: Vec<Vec<usize>> = found.iter().map(covering).collect();
    let of_site = |at: usize| {
        let tags = &shared[at];
        let is_same = |other: &&Vec<usize>| *other == tags;
        if shared.iter().filter(is_same).count() == tags.len() {
            vec![tags[shared[..at].iter().filter(is_same).count()]]
        } else {
            tags.clone()
        }
    };
    let sites = found.iter().enumerate().map(|(at, site)| (Site::clone(site), of_site(at))).collect();
    FileOrderings { path: source.path.clone(), tags, malformed, sites, opted_out: opt_out.is_some() }
}

fn line_comments(source: &Source) -> impl Iterator<Item = &Comment> {
    source.comments.values().filter(|comment| comment.kind == Kind::Line)
}

/// The tags of the comment whose last line is this one. One that goes wrong is an error, with its line.
fn tags_that_end_at(source: &Source, comment: &Comment) -> Vec<Result<Tag, (usize, String)>> {
    let below = comment.line + 1;
    if source.in_tests(comment.line) || comment.alone && source.comment_alone_at(below).is_some() {
        Vec::new()
    } else if comment.alone {
        tag::read(&source.block_above(below), below)
    } else {
        tag::read(&[comment], comment.line)
    }
}

/// The table as the tags, the witnesses and the arguments make it. A record that does not parse is as none;
/// that is for `cargo xtask witness --check` to find.
pub(crate) fn render(files: &[FileOrderings], root: &Path) -> String {
    let (witnesses, arguments) = record::read(root).unwrap_or_default();
    table::render(files, |id| record::column(id, &witnesses, &arguments))
}

/// `cargo xtask orderings`: writes the table, or only compares it.
pub(crate) fn run(root: &Path, check: bool) -> Result<bool> {
    let text = render(&collect_all(&workspace::read(root)?), root);
    Ok(workspace::generate(root, table::PATH, &text, check, "orderings")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(text: &str) -> FileOrderings {
        collect(&Source::parse("crates/core/src/qspin.rs", text).expect("parses"))
    }

    fn coverage(text: &str) -> Vec<(String, Vec<String>)> {
        let file = collected(text);
        let name = |at: &usize| file.tags[*at].id.clone();
        file.sites.iter().map(|(site, tags)| (site.op.clone(), tags.iter().map(name).collect())).collect()
    }

    #[test]
    fn a_tag_above_the_statement_covers_the_call() {
        let found = coverage(
            "fn f(&self) {
                // The fast path.
                // ord: Q1 pairs Q2: the taker sees what the last
                // holder wrote
                if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                    return;
                }
            }",
        );
        assert_eq!(found, [("locked.compare_exchange(Acquire, Relaxed)".into(), vec!["Q1".into()])]);
    }

    #[test]
    fn a_tag_within_a_chain_covers_the_chain() {
        let found = coverage(
            "fn f(&self) {
                self.tail
                    // ord: Q1 alone: the exchange below decides this
                    .swap(me, AcqRel);
            }",
        );
        assert_eq!(found, [("tail.swap(AcqRel)".into(), vec!["Q1".into()])]);
    }

    #[test]
    fn a_trailing_tag_covers_its_line() {
        let found = coverage(
            "fn f(&self) {
                self.a.load(Relaxed); // ord: Q1 alone: a hint and nothing more
                self.b.load(Acquire);
            }",
        );
        assert_eq!(
            found,
            [("a.load(Relaxed)".into(), vec!["Q1".into()]), ("b.load(Acquire)".into(), vec![])]
        );
    }

    #[test]
    fn a_tag_above_a_loop_does_not_reach_its_body() {
        let found = coverage(
            "fn f(&self) {
                // ord: Q1 pairs Q2: waits for the release below
                while self.locked.load(Acquire) != 0 {
                    let next = 1;
                    self.seen.store(next, Relaxed);
                }
            }",
        );
        assert_eq!(found[0].1, ["Q1"]);
        assert!(found[1].1.is_empty());
    }

    #[test]
    fn match_arms_guards_and_macros_are_sites() {
        let found = coverage(
            "fn f(&self) {
                match x {
                    // ord: Q1 alone: the guard only reads a hint
                    1 if self.a.load(Relaxed) == 0 => {}
                    // ord: Q2 alone: a fence orders nothing here
                    2 => P::fence(SeqCst),
                    _ => {}
                }
                // ord: Q3 alone: debug builds look at it
                debug_assert!(self.b.load(Relaxed) == 0);
                // ord: Q4 alone: debug builds look at it
                assert!(matches!(self.c.load(Relaxed), 0 | 1));
            }",
        );
        let ops: Vec<&str> = found.iter().map(|(op, _)| op.as_str()).collect();
        assert_eq!(ops, ["a.load(Relaxed)", "P::fence(SeqCst)", "b.load(Relaxed)", "c.load(Relaxed)"]);
        assert!(found.iter().all(|(_, tags)| tags.len() == 1), "{found:?}");
    }

    #[test]
    fn use_items_patterns_types_and_tests_are_no_sites() {
        let found = coverage(
            "use core::sync::atomic::Ordering::{Acquire, Release};
            enum Order { Acquire, Release }
            struct S<T = Acquire>(T);
            impl Order { fn f(o: Order) -> u8 { match o { Order::Acquire => 1, Order::Release => 2 } } }
            #[cfg(test)]
            mod tests { fn f() { x.load(Acquire); } }",
        );
        assert_eq!(found, []);
    }

    #[test]
    fn an_opted_out_file_has_no_sites() {
        let file = collected(
            "//! Doc.\n// tidy: ordering-definitions: it wraps the native atomics\nfn f() { x.load(Acquire); }\n",
        );
        assert!(file.opted_out && file.sites.is_empty() && file.malformed.is_empty());
        let file = collected("//! Doc.\n// tidy: ordering-definitions:\nfn f() { x.load(Acquire); }\n");
        assert_eq!(file.malformed.len(), 1);
    }

    #[test]
    fn constants_and_bare_orderings_are_sites() {
        let found = coverage(
            "// ord: Q1 alone: every hint is read so
            const HINT: Ordering = Ordering::Relaxed;
            fn f() {
                let order = if strong { Acquire } else { Relaxed };
            }",
        );
        assert_eq!(found[0], ("Relaxed".into(), vec!["Q1".into()]));
        assert_eq!(found.len(), 3);
    }
}
