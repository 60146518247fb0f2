//! Rust code as [`super::depends`] looks at it: tokens without comments, and names.
use crate::tokens::{self, Token, reads};
use proc_macro2::TokenStream;
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Names {
    pub(super) used: BTreeSet<String>,
    pub(super) declared: BTreeSet<String>,
}

/// The tokens of Rust code without comments, and its names. What is no Rust stays as it is, and has none.
pub(super) fn tokens(text: &str) -> (String, Names) {
    let mut names = Names::default();
    let Ok(stream) = text.parse::<TokenStream>() else { return (text.to_owned(), names) };
    let tokens = tokens::flat(stream, text);
    let (mut out, mut at, mut outermost) = (String::new(), 0, 0);
    while let Some(token) = tokens.get(at) {
        let bracket = at + 1 + usize::from(reads(&tokens, at + 1, &["!"]));
        if token.text == "#" && reads(&tokens, bracket, &["[", "doc", "="]) {
            at = tokens[bracket].end + 1;
            continue;
        }
        out.push_str(&token.text);
        if token.is_word {
            if at >= outermost && declares(&tokens[..at]) {
                names.declared.insert(token.text.clone());
            }
            names.used.insert(token.text.clone());
        }
        if token.end == at {
            out.push(' ');
        }
        outermost = outermost.max(token.end);
        at += 1;
    }
    (out, names)
}

/// Whether what follows is the name of an item that other modules can use.
fn declares(before: &[Token]) -> bool {
    const DECLARE: &[&str] = &["struct", "enum", "union", "trait", "type", "const", "static", "fn"];
    match before {
        [.., name, mark] if mark.text == "!" => name.text == "macro_rules",
        [.., word] => DECLARE.contains(&word.text.as_str()),
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
