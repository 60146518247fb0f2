//! The tokens of a file in a row, brackets among them, for what the syntax tree leaves unparsed, macros above
//! all; and its comments, which are what is left when the tokens are blanked out.
use core::ops::Range;
use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;

/// A word, a literal, a bracket, or a character of punctuation.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) is_word: bool,
    /// Where the closing bracket is of an opening one; anything else ends where it is.
    pub(crate) end: usize,
    pub(crate) start: LineColumn,
    /// Its bytes in the file.
    pub(crate) place: Range<usize>,
}

/// The tokens of `text`, of which `stream` was made.
pub(crate) fn flat(stream: TokenStream, text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    add(stream, text, &mut found);
    found
}

fn add(stream: TokenStream, text: &str, found: &mut Vec<Token>) {
    let token = |span: Span, is_word: bool, end: usize| {
        let place = span.byte_range();
        Token { text: text[place.clone()].to_owned(), is_word, end, start: span.start(), place }
    };
    for tree in stream {
        let at = found.len();
        let first = match &tree {
            TokenTree::Group(group) => token(group.span_open(), false, at),
            _ => token(tree.span(), matches!(tree, TokenTree::Ident(_)), at),
        };
        // A comment for the documentation is some tokens, all of which stand where it does.
        let rest = &text[first.place.start..];
        if rest.starts_with("//") || rest.starts_with("/*") {
            continue;
        }
        found.push(first);
        if let TokenTree::Group(group) = tree {
            add(group.stream(), text, found);
            found[at].end = found.len();
            found.push(token(group.span_close(), false, found.len()));
        }
    }
}

/// Whether the tokens from `at` on begin with these.
pub(crate) fn reads(tokens: &[Token], at: usize, begin: &[&str]) -> bool {
    let rest = tokens.get(at..).unwrap_or_default();
    rest.len() >= begin.len() && rest.iter().zip(begin).all(|(token, text)| token.text == *text)
}

/// Where the comma-separated parts begin that stand in the bracket at `open`.
pub(crate) fn parts(tokens: &[Token], open: usize) -> Vec<usize> {
    let (mut at, mut found) = (open + 1, vec![open + 1]);
    while at < tokens[open].end {
        if tokens[at].text == "," {
            found.push(at + 1);
        }
        at = tokens[at].end + 1;
    }
    found
}

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
pub(crate) fn comments(source: &str, tokens: &[Token]) -> BTreeMap<usize, Comment> {
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

    fn tokens(text: &str) -> Vec<Token> {
        flat(text.parse().expect("tokens"), text)
    }

    #[test]
    fn brackets_know_their_ends_and_comments_are_left_out() {
        let found = tokens("/// Ü.\na /* b */ { // c\n ( 'd' ) }");
        let texts: Vec<&str> = found.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["a", "{", "(", "'d'", ")", "}"]);
        assert_eq!(found.iter().map(|token| token.end).collect::<Vec<_>>(), [0, 5, 4, 3, 4, 5]);
        assert_eq!((found[3].start.line, found[3].start.column), (3, 3));
        assert!(reads(&found, 1, &["{", "("]) && !reads(&found, 5, &["}", "e"]) && !reads(&found, 7, &["f"]));
        assert!(found[0].is_word && !found[3].is_word);
    }

    #[test]
    fn commas_split_the_top_level_only() {
        assert_eq!(parts(&tokens("(a, all(b, c))"), 0), [1, 3]);
        assert_eq!(parts(&tokens("(a, )"), 0), [1, 3]);
    }

    fn found(source: &str) -> Vec<Comment> {
        comments(source, &tokens(source)).into_values().collect()
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
