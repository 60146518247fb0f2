//! Small questions about token streams, for what the syntax tree leaves unparsed (macros above all).
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Calls `look` with the tokens of `stream` and of every group within, each level by itself.
pub(crate) fn each_level(stream: &TokenStream, look: &mut impl FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = stream.clone().into_iter().collect();
    look(&level);
    for token in &level {
        if let TokenTree::Group(group) = token {
            each_level(&group.stream(), look);
        }
    }
}

/// Whether the token is the identifier `name`.
pub(crate) fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

/// Whether the token is the punctuation `mark`.
pub(crate) fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// Whether `level[at..]` starts with `::`.
pub(crate) fn path_sep_at(level: &[TokenTree], at: usize) -> bool {
    matches!(level.get(at..at + 2), Some([a, b]) if is_punct(a, ':') && is_punct(b, ':'))
}

/// The group at `at`, when it has the given delimiter.
pub(crate) fn group_at(level: &[TokenTree], at: usize, delimiter: Delimiter) -> Option<&Group> {
    match level.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The comma-separated parts of `stream`.
pub(crate) fn split_commas(stream: TokenStream) -> Vec<TokenStream> {
    let level: Vec<TokenTree> = stream.into_iter().collect();
    level.split(|token| is_punct(token, ',')).map(|part| part.iter().cloned().collect()).collect()
}

/// Whether the identifier `name` occurs anywhere in `stream`.
pub(crate) fn mentions(stream: &TokenStream, name: &str) -> bool {
    let mut found = false;
    each_level(stream, &mut |level| found |= level.iter().any(|token| is_ident(token, name)));
    found
}

/// One-based line of a token.
pub(crate) fn line_of(token: &TokenTree) -> usize {
    token.span().start().line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_reach_into_groups() {
        let stream: TokenStream = "a { b ( c ) }".parse().expect("tokens");
        assert!(mentions(&stream, "c") && !mentions(&stream, "d"));
    }

    #[test]
    fn commas_split_the_top_level_only() {
        let parts = split_commas("a, all(b, c)".parse().expect("tokens"));
        assert_eq!(parts.len(), 2);
    }
}
