//! `cargo xtask tidy`: the rules of the tree that no compiler knows. Each is a function from what was read to
//! findings, so that it can be tested on a few lines of text without any file.
mod arrows;
mod circles;
mod comment_width;
mod ordering_rules;
mod text;
mod unsafe_code;

use crate::orderings;
use crate::workspace::{self, Finding, Source};
use anyhow::Result;
use lab_kit::units::plural;
use std::fs;
use std::path::Path;

/// A line, and what is wrong there.
type Wrong = (usize, String);
/// A rule that looks at one file at a time.
type FileRule = fn(&Source) -> Vec<Wrong>;

const FILE_RULES: &[(&str, FileRule)] = &[
    ("core-names-no-world", text::core_world),
    ("unsafe-justified", unsafe_code::justified),
    ("test-asserts", text::test_asserts),
    ("unsafe-confined", unsafe_code::confined),
    ("comment-width", comment_width::check),
    ("file-size", text::file_size),
    ("module-told", text::module_told),
    ("no-marker-words", text::markers),
    ("invariant-ids", text::invariant_ids),
];

fn of_file(source: &Source) -> impl Iterator<Item = Finding> {
    FILE_RULES.iter().flat_map(|(rule, look)| {
        look(source).into_iter().map(|(line, message)| Finding::new(&source.path, line, rule, message))
    })
}

pub(crate) fn run(root: &Path) -> Result<bool> {
    let workspace = workspace::read(root)?;
    let mut findings = workspace.refused.clone();
    findings.extend(workspace.sources.iter().flat_map(of_file));
    findings.extend(ordering_rules::check(root, &orderings::collect_all(&workspace)));
    findings.extend(workspace.manifests.iter().flat_map(|(path, text)| arrows::check(path, text)));
    findings.extend(circles::check(&workspace.sources));
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} in {} files", plural(findings.len(), "finding"), workspace.sources.len());
    Ok(findings.is_empty())
}

pub(crate) fn wrap(root: &Path) -> Result<bool> {
    for source in workspace::read(root)?.sources {
        let wrapped = comment_width::wrapped(&source);
        if wrapped != source.text {
            fs::write(root.join(&source.path), wrapped)?;
            println!("{}", source.path);
        }
    }
    Ok(true)
}

/// What the tests of the rules share.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// The findings of one rule on one snippet, printed.
    pub(crate) fn findings(rule: &str, path: &str, text: &str) -> Vec<String> {
        assert!(FILE_RULES.iter().any(|(name, _)| *name == rule), "{rule}");
        let source = Source::parse(path, text).expect("the snippet parses");
        of_file(&source).filter(|finding| finding.rule == rule).map(|finding| finding.to_string()).collect()
    }
}
