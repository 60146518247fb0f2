//! The comments of a file, which its tokens do not have: they are what is left when these are blanked out.
use crate::tokens::Token;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `// ...`
    Line,
    /// `/// ...`, `//! ...`
    Doc,
    /// `/* ... */` and its documentation forms; one entry for each line it spans.
    Block,
}

/// The comment on one line of a file.
pub(crate) struct Comment {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    /// Nothing but blanks stands before it on its line.
    pub(crate) alone: bool,
    /// The text without the comment marker, trimmed.
    pub(crate) text: String,
}

/// The comments of the `source` of these tokens, by line.
pub(crate) fn scan(source: &str, tokens: &[Token]) -> BTreeMap<usize, Comment> {
    let mut blanked = source.as_bytes().to_vec();
    for token in tokens {
        blanked[token.place.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let blanked = String::from_utf8_lossy(&blanked);
    let mut found = BTreeMap::new();
    for (line, (left, whole)) in (1..).zip(blanked.lines().zip(source.lines())) {
        let comment = left.trim();
        let outer = comment.strip_prefix("///").filter(|text| !text.starts_with('/'));
        let (kind, text) = if let Some(text) = comment.strip_prefix("//!").or(outer) {
            (Kind::Doc, text.trim())
        } else if comment.starts_with("//") {
            (Kind::Line, comment.trim_start_matches('/').trim())
        } else if !comment.is_empty() {
            (Kind::Block, comment.trim_matches(|c: char| "/*! \t".contains(c)))
        } else {
            continue;
        };
        let before = left.len() - left.trim_start().len();
        let alone = whole[..before].trim().is_empty();
        found.insert(line, Comment { line, kind, alone, text: text.to_owned() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens;

    fn found(source: &str) -> Vec<Comment> {
        let tokens = tokens::flat(source.parse().expect("tokens"), source);
        scan(source, &tokens).into_values().collect()
    }

    fn texts(source: &str) -> Vec<(usize, Kind, bool, String)> {
        found(source).into_iter().map(|c| (c.line, c.kind, c.alone, c.text)).collect()
    }

    #[test]
    fn line_comments_know_whether_they_stand_alone() {
        assert_eq!(
            texts("// one\nlet a = 1; // two\n/// three\n"),
            [
                (1, Kind::Line, true, "one".to_owned()),
                (2, Kind::Line, false, "two".to_owned()),
                (3, Kind::Doc, true, "three".to_owned()),
            ]
        );
    }

    #[test]
    fn strings_hide_their_slashes() {
        let source = "let a = \"// no \\\" // no\";\nlet b = r#\"// no \" // no\"#;\nlet c = '\"'; // yes\n";
        assert_eq!(texts(source), [(3, Kind::Line, false, "yes".to_owned())]);
    }

    #[test]
    fn lifetimes_open_no_literal() {
        let source = "fn f<'a>(x: &'a str) -> &'a str { x } // yes\nlet q = '\\''; // also";
        assert_eq!(found(source).len(), 2);
    }

    #[test]
    fn block_comments_nest_and_count_lines() {
        let found = texts("/* a /* b */\n c */ x\n// d");
        assert_eq!(found[0], (1, Kind::Block, true, "a /* b".to_owned()));
        assert_eq!(found[1], (2, Kind::Block, true, "c".to_owned()));
        assert_eq!(found[2].0, 3);
    }

    #[test]
    fn a_word_ending_in_r_before_a_string_is_no_raw_string() {
        let source = "concat!(for\"a\\\"\" , 1) // yes";
        assert_eq!(found(source).len(), 1);
    }
}
