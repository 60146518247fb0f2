//! `no-marker-words`: unfinished work is not left in comments.
use crate::finding::Finding;
use crate::source::Source;

const RULE: &str = "no-marker-words";
const WORDS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// Comments that hold a marker word.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comment in source.comments() {
        let words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.into_iter().find(|word| WORDS.contains(word)) {
            let message = format!("`{word}` in a comment; do it, drop it, or say plainly what is missing");
            findings.push(Finding::new(&source.path, comment.line, RULE, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    #[test]
    fn markers_in_comments_are_found() {
        assert_eq!(
            findings(check, "a.rs", "//! Doc.\nfn f() {} // TODO: more\n/* FIXME */\n"),
            [
                "a.rs:2: [no-marker-words] `TODO` in a comment; do it, drop it, or say plainly what is missing",
                "a.rs:3: [no-marker-words] `FIXME` in a comment; do it, drop it, or say plainly what is missing",
            ]
        );
    }

    #[test]
    fn strings_and_other_words_pass() {
        assert!(
            findings(check, "a.rs", "//! A hack, todo.\nconst A: &str = \"// TODO\";\n// MYTODOS\n")
                .is_empty()
        );
    }
}
