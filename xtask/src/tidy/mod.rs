//! `cargo xtask tidy`: the rules of the tree that no compiler knows.
//!
//! Each rule is a function from what was read to findings, so that it can be tested on a few lines of
//! text without any file.
mod arrows;
mod circles;
mod comment_width;
mod core_world;
mod ordering_rules;
mod test_asserts;
mod text;
mod unsafe_confined;
mod unsafe_justified;

use crate::finding::Finding;
use crate::orderings;
use crate::source::Source;
use crate::workspace::{self, Workspace};
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

/// A rule that looks at one file at a time.
type FileRule = fn(&Source) -> Vec<Finding>;

const FILE_RULES: &[FileRule] = &[
    core_world::check,
    unsafe_justified::check,
    test_asserts::check,
    unsafe_confined::check,
    comment_width::check,
    text::file_size,
    text::module_told,
    text::markers,
    text::invariant_ids,
];

/// Every finding in the workspace, sorted by place.
fn check(root: &Path, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = workspace.refused.clone();
    for source in &workspace.sources {
        findings.extend(FILE_RULES.iter().flat_map(|rule| rule(source)));
    }
    let orderings = orderings::collect_all(workspace);
    findings.extend(orderings.iter().flat_map(ordering_rules::tagged));
    findings.extend(ordering_rules::ids_unique(&orderings));
    findings.extend(ordering_rules::pairs_meet(&orderings));
    let table = fs::read_to_string(root.join(orderings::table::PATH)).ok();
    findings.extend(ordering_rules::table_current(&orderings::render(&orderings, root), table.as_deref()));
    findings.extend(arrows::check(&workspace.manifests));
    findings.extend(circles::check(&workspace.sources));
    findings.sort();
    findings.dedup();
    findings
}

/// Prints every finding and a count.
pub(crate) fn run(root: &Path) -> io::Result<ExitCode> {
    let workspace = workspace::read(root)?;
    let findings = check(root, &workspace);
    for finding in &findings {
        println!("{finding}");
    }
    let files = workspace.sources.len();
    println!(
        "tidy: {} finding{} in {files} files",
        findings.len(),
        if findings.len() == 1 { "" } else { "s" }
    );
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Wraps comments that are wider than code may be.
pub(crate) fn wrap(root: &Path) -> io::Result<ExitCode> {
    for source in workspace::read(root)?.sources {
        let wrapped = comment_width::wrapped(&source);
        if wrapped != source.text {
            fs::write(root.join(&source.path), wrapped)?;
            println!("{}", source.path);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the tests of the rules share.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// The findings of `rule` on one snippet, printed.
    pub(crate) fn findings(rule: FileRule, path: &str, text: &str) -> Vec<String> {
        let source = Source::parse(path, text).expect("the snippet parses");
        rule(&source).iter().map(ToString::to_string).collect()
    }
}
