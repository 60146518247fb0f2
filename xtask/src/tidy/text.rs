//! Rules about the text of a file.
//!
//! - `file-size`: a Rust file has 400 lines at most.
//! - `module-told`: each file starts by saying what it is for.
//! - `no-marker-words`: unfinished work is not left in comments.
//! - `invariant-ids`: ids of invariants start with I, and those of ordering tags with another letter.
use super::Wrong;
use crate::comments::Comment;
use crate::orderings::tag::id_key;
use crate::source::Source;

/// Lines a file may have.
const LINES: usize = 400;
const MARKERS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

pub(super) fn file_size(source: &Source) -> Vec<Wrong> {
    let lines = source.text.lines().count();
    let message = format!("{lines} lines, {LINES} are allowed; split it by what its parts do");
    if lines > LINES { vec![(LINES + 1, message)] } else { Vec::new() }
}

pub(super) fn module_told(source: &Source) -> Vec<Wrong> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()) {
        return Vec::new();
    }
    vec![(1, "the file does not start with `//!`; say in a line what it is for".to_owned())]
}

pub(super) fn markers(source: &Source) -> Vec<Wrong> {
    let wrong = |(&line, comment): (&usize, &Comment)| {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let word = words.find(|word| MARKERS.contains(word))?;
        Some((line, format!("`{word}` in a comment; do it, drop it, or say plainly what is missing")))
    };
    source.comments.iter().filter_map(wrong).collect()
}

/// Invariants, listed as `- **I1** ...` at the head of a file, and tags whose ids could be the other's.
pub(super) fn invariant_ids(source: &Source) -> Vec<Wrong> {
    let wrong = |(line, text): (usize, &str)| {
        let text = text.trim_start();
        let (id, advice) = if let Some(text) = text.strip_prefix("//! - **") {
            let id = text.split("**").next().filter(|id| !id.starts_with('I'))?;
            (id, format!("an ordering tag may be called {id}; call the invariant I{id}"))
        } else {
            let id = text.strip_prefix("// ord: I")?.split(' ').next().unwrap_or_default();
            (id, format!("an invariant may be called I{id}; choose a tag that starts with another letter"))
        };
        id_key(id).map(|_| (line, advice))
    };
    (1..).zip(source.text.lines()).filter_map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::findings;

    #[test]
    fn long_files_are_found() {
        assert_eq!(
            findings("file-size", "a.rs", &"\n".repeat(401)),
            ["a.rs:401: [file-size] 401 lines, 400 are allowed; split it by what its parts do"]
        );
        assert!(findings("file-size", "b.rs", &"\n".repeat(400)).is_empty());
    }

    #[test]
    fn an_untold_module_is_found() {
        let expected =
            "a.rs:1: [module-told] the file does not start with `//!`; say in a line what it is for";
        assert_eq!(findings("module-told", "a.rs", "// Not it.\nfn f() {}\n"), [expected]);
        assert_eq!(findings("module-told", "a.rs", "//!\nfn f() {}\n"), [expected]);
        assert_eq!(findings("module-told", "a.rs", ""), [expected]);
    }

    #[test]
    fn a_told_module_passes() {
        assert!(findings("module-told", "a.rs", "//! The queue node.\nfn f() {}\n").is_empty());
    }

    #[test]
    fn markers_in_comments_are_found() {
        assert_eq!(
            findings("no-marker-words", "a.rs", "//! Doc.\nfn f() {} // TODO: more\n/* FIXME */\n"),
            [
                "a.rs:2: [no-marker-words] `TODO` in a comment; do it, drop it, or say plainly what is missing",
                "a.rs:3: [no-marker-words] `FIXME` in a comment; do it, drop it, or say plainly what is missing",
            ]
        );
    }

    #[test]
    fn strings_and_other_words_pass() {
        assert!(
            findings(
                "no-marker-words",
                "a.rs",
                "//! A hack, todo.\nconst A: &str = \"// TODO\";\n// MYTODOS\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn ids_that_may_collide_are_found() {
        let head = "//! A lock.\n//!\n//! - **I1** It excludes.\n//! - **IN1** A node is one wait's.\n//! - **Cost**: low.\n";
        assert!(findings("invariant-ids", "a.rs", head).is_empty());
        assert_eq!(
            findings("invariant-ids", "a.rs", "//! A lock.\n//!\n//! - **N1** A node is one wait's.\n"),
            ["a.rs:3: [invariant-ids] an ordering tag may be called N1; call the invariant IN1"]
        );
        let tag = "fn f() {\n    // ord: I1 alone: a hint and no more\n    x.load(Relaxed);\n}\n";
        assert_eq!(
            findings("invariant-ids", "a.rs", tag),
            [
                "a.rs:2: [invariant-ids] an invariant may be called I1; choose a tag that starts with another letter"
            ]
        );
    }
}
