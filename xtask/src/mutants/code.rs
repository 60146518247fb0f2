//! Rust code as [`super::depends`] looks at it: tokens without comments, and names.
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;

/// Names in a file.
#[derive(Default)]
pub(super) struct Names {
    pub(super) used: BTreeSet<String>,
    pub(super) declared: BTreeSet<String>,
}

/// The tokens of Rust code without comments, and its names. What is no Rust stays as it is, and has none.
pub(super) fn tokens(text: &str) -> (String, Names) {
    let mut names = Names::default();
    match text.parse::<TokenStream>() {
        Ok(stream) => {
            let mut out = String::new();
            write_tokens(stream, true, &mut out, &mut names);
            (out, names)
        }
        Err(_) => (text.to_owned(), names),
    }
}

/// At the `outermost` level a name may be declared.
fn write_tokens(stream: TokenStream, outermost: bool, out: &mut String, names: &mut Names) {
    let level: Vec<TokenTree> = stream.into_iter().collect();
    let is = |at: usize, mark: char| level.get(at).is_some_and(|token| crate::tokens::is_punct(token, mark));
    let mut at = 0;
    while let Some(token) = level.get(at) {
        if is(at, '#') {
            let group = at + 1 + usize::from(is(at + 1, '!'));
            if level.get(group).is_some_and(is_doc) {
                at = group + 1;
                continue;
            }
        }
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write_tokens(group.stream(), false, out, names);
                out.push_str(close);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if outermost && declares(&level[..at]) {
                    names.declared.insert(name.clone());
                }
                out.push_str(&name);
                names.used.insert(name);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => out.push_str(&token.to_string()),
        }
        out.push(' ');
        at += 1;
    }
}

/// Whether `[...]` is a comment for the documentation.
fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let mut within = group.stream().into_iter();
    within.next().is_some_and(|first| crate::tokens::is_ident(&first, "doc"))
        && within.next().is_some_and(|second| crate::tokens::is_punct(&second, '='))
}

/// Whether what follows is the name of an item that other modules can use.
fn declares(before: &[TokenTree]) -> bool {
    const DECLARE: &[&str] = &["struct", "enum", "union", "trait", "type", "const", "static", "fn"];
    match before {
        [.., name, mark] if crate::tokens::is_punct(mark, '!') => {
            crate::tokens::is_ident(name, "macro_rules")
        }
        [.., word] => DECLARE.iter().any(|declare| crate::tokens::is_ident(word, declare)),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_do_not_count_and_code_does() {
        let one = tokens("//! About.\n/// A type.\nstruct A { /* one */ b: u8 } // end").0;
        assert_eq!(one, tokens("struct A { b: u8 }").0);
        assert_ne!(one, tokens("struct A { b: u16 }").0);
        assert_ne!(tokens("#[must_use] fn f() {}").0, tokens("fn f() {}").0);
        assert_ne!(tokens("f(\"a\")").0, tokens("f(\"b\")").0);
    }
}
