//! `ordering-tagged`, `ordering-pairs-meet` and `ordering-table-current`.
use crate::orderings::tag::{LEAST_WORDS, Tag};
use crate::orderings::{self, FileOrderings};
use crate::workspace::{Finding, stale};
use std::collections::BTreeMap;
use std::path::Path;

const TAGGED: &str = "ordering-tagged";

pub(super) fn check(root: &Path, files: &[FileOrderings]) -> Vec<Finding> {
    let tagged = files.iter().flat_map(tagged);
    let whole = [ids_unique(files), pairs_meet(files)].into_iter().flatten();
    let stale = stale(root, orderings::PATH, &orderings::render(files, root));
    let message = "the table is not what the tags say; run `cargo xtask orderings`";
    let stale = stale.map(|line| Finding::new(orderings::PATH, line, "ordering-table-current", message));
    tagged.chain(whole).chain(stale).collect()
}

/// Sites without a tag, tags without a site, tags that do not parse.
fn tagged(file: &FileOrderings) -> Vec<Finding> {
    let finding = |line: usize, message: String| Finding::new(&file.path, line, TAGGED, message);
    let bad = file.malformed.iter().map(|(line, what)| finding(*line, what.clone()));
    let bare = file.sites.iter().filter(|(site, tags)| site.required && tags.is_empty()).map(|(site, _)| {
        let op = &site.op;
        let advice = "put `// ord: ID pairs ID: why` or `// ord: ID alone: why` directly above the statement";
        finding(site.line, format!("`{op}` in `{}` has no ordering tag; {advice}", site.function))
    });
    let is_stray = |at: &usize| !file.sites.iter().any(|(_, tags)| tags.contains(at));
    let stray = (0..file.tags.len()).filter(is_stray).map(|at| {
        let Tag { id, line, .. } = &file.tags[at];
        let why = if file.opted_out {
            "this file defines orderings and has no tags"
        } else {
            "move it directly above its statement or remove it"
        };
        finding(*line, format!("tag {id} covers no ordering; {why}"))
    });
    let short = file.tags.iter().filter(|tag| tag.why.split_whitespace().count() < LEAST_WORDS);
    let advice = format!("give the reason in {LEAST_WORDS} words or more");
    let short = short.map(|tag| finding(tag.line, format!("tag {} does not say why; {advice}", tag.id)));
    bad.chain(short).chain(bare).chain(stray).collect()
}

fn ids_unique(files: &[FileOrderings]) -> Vec<Finding> {
    let mut first: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, Tag { id, line, .. }) in all_tags(files) {
        let (at, of) = *first.entry(id).or_insert((path, *line));
        if (at, of) != (path, *line) {
            let message = format!("tag id {id} is taken at {at}:{of}; choose a free one");
            findings.push(Finding::new(path, *line, TAGGED, message));
        }
    }
    findings
}

/// Tags that pair with what is not there or does not answer.
fn pairs_meet(files: &[FileOrderings]) -> Vec<Finding> {
    let by_id: BTreeMap<&str, &Tag> = all_tags(files).map(|(_, tag)| (tag.id.as_str(), tag)).collect();
    let mut findings = Vec::new();
    for (path, Tag { id, pairs, line, .. }) in all_tags(files) {
        for pair in pairs {
            let wrong = match by_id.get(pair.as_str()) {
                None => ", which does not exist; name the other end".to_owned(),
                Some(other) if other.pairs.contains(id) => continue,
                Some(_) => format!(", but {pair} does not name {id}; name each other or neither"),
            };
            let message = format!("tag {id} pairs {pair}{wrong}");
            findings.push(Finding::new(path, *line, "ordering-pairs-meet", message));
        }
    }
    findings
}

fn all_tags(files: &[FileOrderings]) -> impl Iterator<Item = (&str, &Tag)> {
    files.iter().flat_map(|file| file.tags.iter().map(|tag| (file.path.as_str(), tag)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderings::collect;
    use crate::workspace::Source;
    use std::fs;

    fn file(path: &str, text: &str) -> FileOrderings {
        collect(&Source::parse(path, text).expect("the snippet parses"))
    }

    fn printed(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    const LOCK: &str = "//! A lock.
        impl Tas {
            fn lock(&self) {
                // ord: T1 pairs T2: the taker sees what the holder wrote
                while self.word.swap(1, Acquire) == 1 {}
            }
            fn unlock(&self) {
                // ord: T2 pairs T1: what the holder wrote goes out first
                self.word.store(0, Release);
            }
        }";

    #[test]
    fn a_tagged_lock_is_clean() {
        let files = [file("crates/core/src/tas.rs", LOCK)];
        assert!(
            tagged(&files[0]).is_empty() && ids_unique(&files).is_empty() && pairs_meet(&files).is_empty()
        );
    }

    #[test]
    fn a_bare_site_is_found() {
        let bare = file("crates/core/src/a.rs", "fn f(a: &A) {\n    a.word.load(Acquire);\n}\n");
        assert_eq!(
            printed(&tagged(&bare)),
            [
                "crates/core/src/a.rs:2: [ordering-tagged] `word.load(Acquire)` in `f` has no ordering tag; put `// \
                 ord: ID pairs ID: why` or `// ord: ID alone: why` directly above the statement"
            ]
        );
    }

    #[test]
    fn stray_and_malformed_tags_are_found() {
        let stray =
            file("crates/core/src/a.rs", "// ord: Q1 alone: nothing is here\nfn f() {}\n// ord: Q2 alone\n");
        assert_eq!(
            printed(&tagged(&stray)),
            [
                "crates/core/src/a.rs:3: [ordering-tagged] the tag has no `: why`; write `// ord: Q1 pairs Q2: why` or \
                 `// ord: Q1 alone: why`",
                "crates/core/src/a.rs:1: [ordering-tagged] tag Q1 covers no ordering; move it directly above its \
                 statement or remove it",
            ]
        );
    }

    #[test]
    fn a_reason_has_three_words() {
        let with = |why: &str| {
            let text =
                format!("fn f(a: &A) {{\n    // ord: Q1 alone: {why}\n    a.word.load(Relaxed);\n}}\n");
            printed(&tagged(&file("crates/core/src/a.rs", &text)))
        };
        assert!(with("only a hint").is_empty());
        assert_eq!(
            with("a hint"),
            [
                "crates/core/src/a.rs:2: [ordering-tagged] tag Q1 does not say why; give the reason in 3 words or more"
            ]
        );
    }

    #[test]
    fn ids_are_unique_over_files() {
        let files = [file("crates/core/src/a.rs", LOCK), file("crates/stanchion/src/b.rs", LOCK)];
        assert_eq!(
            printed(&ids_unique(&files))[0],
            "crates/stanchion/src/b.rs:4: [ordering-tagged] tag id T1 is taken at crates/core/src/a.rs:4; choose a \
             free one"
        );
    }

    #[test]
    fn pairs_name_each_other() {
        let text = "fn f() {
            // ord: A1 pairs A2, A9: one two three
            x.load(Acquire);
            // ord: A2 alone: one two three
            x.load(Relaxed);
        }";
        assert_eq!(
            printed(&pairs_meet(&[file("a.rs", text)])),
            [
                "a.rs:2: [ordering-pairs-meet] tag A1 pairs A2, but A2 does not name A1; name each other or neither",
                "a.rs:2: [ordering-pairs-meet] tag A1 pairs A9, which does not exist; name the other end",
            ]
        );
    }

    #[test]
    fn a_stale_or_missing_table_is_found() {
        let root = std::env::temp_dir().join(format!("stanchion-orderings-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).expect("a directory");
        let files = [file("crates/core/src/tas.rs", LOCK)];
        let rendered = orderings::render(&files, &root);
        let found = |current: Option<&str>| {
            let path = root.join(orderings::PATH);
            current.map_or(Ok(()), |text| fs::write(path, text)).expect("it can be written");
            printed(&check(&root, &files))
        };
        let at = |line| {
            let told = "the table is not what the tags say; run `cargo xtask orderings`";
            vec![format!("docs/orderings.md:{line}: [ordering-table-current] {told}")]
        };
        assert_eq!(found(None), at(1));
        assert_eq!(found(Some("# Memory orderings\n\nold\n")), at(3));
        assert!(found(Some(&rendered)).is_empty());
        fs::remove_dir_all(root).expect("it is there");
    }
}
