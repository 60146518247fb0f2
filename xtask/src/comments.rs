//! Reads comments from raw source text, because a parsed file no longer has them.
//!
//! The scanner knows strings, raw strings, character literals and lifetimes, so that a `//` inside a
//! string is not taken for a comment.

/// What kind of comment a line holds.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// One-based line.
    pub(crate) line: usize,
    /// Which form of comment it is.
    pub(crate) kind: Kind,
    /// Nothing but blanks stands before it on its line.
    pub(crate) alone: bool,
    /// The text without the comment marker, trimmed.
    pub(crate) text: String,
}

/// All comments of `source`, in order.
pub(crate) fn scan(source: &str) -> Vec<Comment> {
    let mut scanner = Scanner { rest: source, line: 1, alone: true, found: Vec::new(), previous: ' ' };
    while scanner.step() {}
    scanner.found
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    alone: bool,
    previous: char,
    found: Vec<Comment>,
}

impl Scanner<'_> {
    /// Consumes one lexical piece; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.line_comment(end);
        } else if self.rest.starts_with("/*") {
            let end = block_comment_end(self.rest);
            self.block_comment(end);
        } else if let Some(length) = raw_string_length(self.rest).filter(|_| !is_word(self.previous)) {
            self.advance(length);
        } else if first == '"' {
            self.advance(quoted_length(self.rest, '"'));
        } else if first == '\'' {
            self.advance(quote_length(self.rest));
        } else {
            self.advance(first.len_utf8());
        }
        true
    }

    /// Moves past `length` bytes that are no comment.
    fn advance(&mut self, length: usize) {
        for character in self.rest[..length].chars() {
            if character == '\n' {
                self.line += 1;
                self.alone = true;
            } else if !character.is_whitespace() {
                self.alone = false;
            }
            self.previous = character;
        }
        self.rest = &self.rest[length..];
    }

    fn line_comment(&mut self, end: usize) {
        let whole = &self.rest[..end];
        let outer = whole.strip_prefix("///").filter(|text| !text.starts_with('/'));
        let (kind, text) = match whole.strip_prefix("//!").or(outer) {
            Some(text) => (Kind::Doc, text),
            None => (Kind::Line, whole.trim_start_matches('/')),
        };
        self.push(kind, text.trim().to_owned());
        self.rest = &self.rest[end..];
        self.previous = ' ';
    }

    fn block_comment(&mut self, end: usize) {
        let whole = self.rest[..end].to_owned();
        for (number, text) in whole.split('\n').enumerate() {
            if number > 0 {
                self.line += 1;
                self.alone = true;
            }
            self.push(Kind::Block, text.trim_matches(|c: char| "/*! \t\r".contains(c)).to_owned());
        }
        self.rest = &self.rest[end..];
        self.previous = ' ';
    }

    fn push(&mut self, kind: Kind, text: String) {
        self.found.push(Comment { line: self.line, kind, alone: self.alone, text });
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Length of the block comment `text` starts with; block comments nest.
fn block_comment_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of the raw string (`r"`, `r#"`, `br"`, `cr"`) `text` starts with, if it starts with one.
fn raw_string_length(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r"].into_iter().find(|prefix| text.starts_with(prefix))?;
    let hashes = text[prefix.len()..].chars().take_while(|&c| c == '#').count();
    let open = prefix.len() + hashes;
    if !text[open..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    Some(text[open + 1..].find(&close).map_or(text.len(), |at| open + 1 + at + close.len()))
}

/// Length of the literal between `quote`s that `text` starts with, escapes minded.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the character literal, or of the mark alone when a lifetime follows.
fn quote_length(text: &str) -> usize {
    let mut characters = text.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted_length(text, '\''),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(usize, Kind, bool, String)> {
        scan(source).into_iter().map(|c| (c.line, c.kind, c.alone, c.text)).collect()
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
        assert_eq!(scan(source).len(), 2);
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
        assert_eq!(scan(source).len(), 1);
    }
}
