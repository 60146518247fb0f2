//! Rules about the text of a file.
//!
//! - `file-size`: a Rust file has 400 lines at most.
//! - `module-told`: each file starts by saying what it is for.
//! - `no-marker-words`: unfinished work is not left in comments.
//! - `invariant-ids`: ids of invariants start with I, and those of ordering tags with another letter.
use crate::finding::Finding;
use crate::source::Source;

/// Lines a file may have.
const LINES: usize = 400;
const MARKERS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// A file that is too long.
pub(crate) fn file_size(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().count();
    if lines <= LINES {
        return Vec::new();
    }
    let message = format!("{lines} lines, {LINES} are allowed; split it by what its parts do");
    vec![Finding::new(&source.path, LINES + 1, "file-size", message)]
}

/// A file whose first line is no `//!` documentation.
pub(crate) fn module_told(source: &Source) -> Vec<Finding> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()) {
        return Vec::new();
    }
    let message = "the file does not start with `//!`; say in a line what it is for";
    vec![Finding::new(&source.path, 1, "module-told", message)]
}

/// Comments that hold a marker word.
pub(crate) fn markers(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comment in source.comments() {
        let words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.into_iter().find(|word| MARKERS.contains(word)) {
            let message = format!("`{word}` in a comment; do it, drop it, or say plainly what is missing");
            findings.push(Finding::new(&source.path, comment.line, "no-marker-words", message));
        }
    }
    findings
}

/// Invariants, listed as `- **I1** ...` at the head of a file, and tags whose ids could be the other's.
pub(crate) fn invariant_ids(source: &Source) -> Vec<Finding> {
    let finding = |(at, line): (usize, &str)| {
        let line = line.trim_start();
        let (id, advice) = if let Some(text) = line.strip_prefix("//! - **") {
            let id = text.split("**").next().filter(|id| is_id(id) && !id.starts_with('I'))?;
            (id, format!("an ordering tag may be called {id}; call the invariant I{id}"))
        } else {
            let id = line.strip_prefix("// ord: I")?.split(' ').next().unwrap_or_default();
            (id, format!("an invariant may be called I{id}; choose a tag that starts with another letter"))
        };
        is_id(id).then(|| Finding::new(&source.path, at + 1, "invariant-ids", advice))
    };
    source.text.lines().enumerate().filter_map(finding).collect()
}

/// Some capital letters, and a number.
fn is_id(id: &str) -> bool {
    let number = id.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    #[test]
    fn long_files_are_found() {
        assert_eq!(
            findings(file_size, "a.rs", &"\n".repeat(401)),
            ["a.rs:401: [file-size] 401 lines, 400 are allowed; split it by what its parts do"]
        );
        assert!(findings(file_size, "b.rs", &"\n".repeat(400)).is_empty());
    }

    #[test]
    fn an_untold_module_is_found() {
        let expected =
            "a.rs:1: [module-told] the file does not start with `//!`; say in a line what it is for";
        assert_eq!(findings(module_told, "a.rs", "// Not it.\nfn f() {}\n"), [expected]);
        assert_eq!(findings(module_told, "a.rs", "//!\nfn f() {}\n"), [expected]);
        assert_eq!(findings(module_told, "a.rs", ""), [expected]);
    }

    #[test]
    fn a_told_module_passes() {
        assert!(findings(module_told, "a.rs", "//! The queue node.\nfn f() {}\n").is_empty());
    }

    #[test]
    fn markers_in_comments_are_found() {
        assert_eq!(
            findings(markers, "a.rs", "//! Doc.\nfn f() {} // TODO: more\n/* FIXME */\n"),
            [
                "a.rs:2: [no-marker-words] `TODO` in a comment; do it, drop it, or say plainly what is missing",
                "a.rs:3: [no-marker-words] `FIXME` in a comment; do it, drop it, or say plainly what is missing",
            ]
        );
    }

    #[test]
    fn strings_and_other_words_pass() {
        assert!(
            findings(markers, "a.rs", "//! A hack, todo.\nconst A: &str = \"// TODO\";\n// MYTODOS\n")
                .is_empty()
        );
    }

    #[test]
    fn ids_that_may_collide_are_found() {
        let head = "//! A lock.\n//!\n//! - **I1** It excludes.\n//! - **IN1** A node is one wait's.\n//! - **Cost**: low.\n";
        assert!(findings(invariant_ids, "a.rs", head).is_empty());
        assert_eq!(
            findings(invariant_ids, "a.rs", "//! A lock.\n//!\n//! - **N1** A node is one wait's.\n"),
            ["a.rs:3: [invariant-ids] an ordering tag may be called N1; call the invariant IN1"]
        );
        let tag = "fn f() {\n    // ord: I1 alone: a hint and no more\n    x.load(Relaxed);\n}\n";
        assert_eq!(
            findings(invariant_ids, "a.rs", tag),
            [
                "a.rs:2: [invariant-ids] an invariant may be called I1; choose a tag that starts with another letter"
            ]
        );
    }
}
