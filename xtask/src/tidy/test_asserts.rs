//! `test-asserts`: a test that can not fail is none.
use crate::finding::Finding;
use crate::source::Source;
use crate::tokens::{each_level, group_at, is_ident, is_punct, line_of, path_sep_at};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

const RULE: &str = "test-asserts";
const ASSERTING_CALLS: [&str; 4] = ["assert", "check", "expect", "must_"];

/// Tests, those in macro bodies included, that assert nothing.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    each_level(&source.tokens, &mut |level| {
        let tests = (0..level.len()).filter(|&at| is_test_attribute(level, at));
        for (name, line) in tests.filter_map(|at| without_assertion(level, at)) {
            let message = format!("test `{name}` asserts nothing; assert what it shows");
            findings.push(Finding::new(&source.path, line, RULE, message));
        }
    });
    findings
}

/// Whether `#[test]` (or `#[some::test]`) stands at `at`.
fn is_test_attribute(level: &[TokenTree], at: usize) -> bool {
    is_punct(&level[at], '#')
        && group_at(level, at + 1, Delimiter::Bracket).is_some_and(|group| {
            let words: Vec<TokenTree> = group.stream().into_iter().collect();
            let plain = words.iter().all(|word| is_punct(word, ':') || matches!(word, TokenTree::Ident(_)));
            plain && words.last().is_some_and(|word| is_ident(word, "test"))
        })
}

/// Name and line of the function that follows the attribute at `at`, if it can not fail.
fn without_assertion(level: &[TokenTree], at: usize) -> Option<(String, usize)> {
    let offset = level[at..].iter().position(|token| is_ident(token, "fn"))?;
    let named = at + offset + 1;
    let name = level.get(named)?;
    let body = (named..level.len()).find(|&i| group_at(level, i, Delimiter::Brace).is_some())?;
    let should_panic = level[at..named].iter().any(|token| match token {
        TokenTree::Group(attribute) => crate::tokens::mentions(&attribute.stream(), "should_panic"),
        _ => false,
    });
    let returns_result = level[named..body].iter().any(|token| is_ident(token, "Result"));
    let asserting = group_at(level, body, Delimiter::Brace).is_some_and(|group| asserts(&group.stream()));
    if should_panic || returns_result || asserting {
        return None;
    }
    // In a macro the name may be a `$name`.
    let name = if is_punct(name, '$') { format!("${}", level.get(named + 1)?) } else { name.to_string() };
    Some((name, line_of(&level[named - 1])))
}

/// Whether a body holds an asserting macro or calls something whose name says that it asserts.
fn asserts(body: &TokenStream) -> bool {
    let mut found = false;
    each_level(body, &mut |level| {
        for (at, token) in level.iter().enumerate() {
            let TokenTree::Ident(ident) = token else { continue };
            let name = ident.to_string();
            let next = level.get(at + 1);
            if next.is_some_and(|next| is_punct(next, '!')) {
                found |= name.contains("assert") || name == "panic" || name == "unreachable";
            } else if group_at(level, at + 1, Delimiter::Parenthesis).is_some() || path_sep_at(level, at + 1)
            {
                let defined = at.checked_sub(1).is_some_and(|before| is_ident(&level[before], "fn"));
                let turbofish =
                    !path_sep_at(level, at + 1) || level.get(at + 3).is_some_and(|t| is_punct(t, '<'));
                found |= !defined && turbofish && ASSERTING_CALLS.iter().any(|start| name.starts_with(start));
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings(check, "a.rs", text)
    }

    #[test]
    fn a_test_without_assertion_is_found() {
        assert_eq!(
            found("#[test]\nfn takes_the_lock() {\n    lock.lock();\n}\n"),
            ["a.rs:2: [test-asserts] test `takes_the_lock` asserts nothing; assert what it shows"]
        );
    }

    #[test]
    fn tests_in_macros_are_found() {
        assert_eq!(
            found("macro_rules! conformance { ($n:ident) => { #[test] fn $n() { run::<$n>(); } }; }"),
            ["a.rs:1: [test-asserts] test `$n` asserts nothing; assert what it shows"]
        );
    }

    #[test]
    fn every_way_of_asserting_passes() {
        let bodies = [
            "fn a() { assert_eq!(1, 1); }",
            "fn a() { let f = || { debug_assert!(x); }; }",
            "fn a() { if x { panic!() } }",
            "fn a() -> Result<(), E> { Ok(()) }",
            "fn a() -> io::Result<()> { Ok(()) }",
            "fn a() { check_exclusion(&lock); }",
            "fn a() { stage.must_finish::<u8>(); }",
            "#[should_panic(expected = \"twice\")] fn a() { lock.unlock(); }",
        ];
        for body in bodies {
            assert!(found(&format!("#[test]\n{body}")).is_empty(), "{body}");
        }
    }

    #[test]
    fn paths_and_definitions_are_no_assertions() {
        assert_eq!(found("#[test]\nfn a() { checks::run(); fn check_it() {} }").len(), 1);
        assert!(found("fn plain() { run(); }").is_empty());
    }
}
