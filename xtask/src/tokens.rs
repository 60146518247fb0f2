//! The tokens of a file in a row, brackets among them and comments not: for what the syntax tree leaves
//! unparsed, macros above all.
use core::ops::Range;
use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};

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
}
