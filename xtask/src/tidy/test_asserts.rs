//! `test-asserts`: a test that can not fail is none.
use super::Wrong;
use crate::source::Source;
use crate::tokens::{Token, reads};

const ASSERTING_CALLS: [&str; 4] = ["assert", "check", "expect", "must_"];

pub(super) fn check(source: &Source) -> Vec<Wrong> {
    let tokens = &source.tokens;
    let tests = (0..tokens.len()).filter(|&at| is_test_attribute(tokens, at));
    tests.filter_map(|at| without_assertion(tokens, at)).collect()
}

/// Whether `#[test]` (or `#[some::test]`) stands at `at`.
fn is_test_attribute(tokens: &[Token], at: usize) -> bool {
    reads(tokens, at, &["#", "["]) && tokens[tokens[at + 1].end - 1].text == "test"
}

/// The function that follows the attribute at `at`, if it can not fail.
fn without_assertion(tokens: &[Token], at: usize) -> Option<Wrong> {
    let find = |from: usize, text: &str| (from..tokens.len()).find(|&at| tokens[at].text == text);
    let function = find(at, "fn")?;
    let body = find(function, "{")?;
    let should_panic = tokens[at..function].iter().any(|token| token.text == "should_panic");
    let returns_result = tokens[function..body].iter().any(|token| token.text == "Result");
    if should_panic || returns_result || asserts(&tokens[body..tokens[body].end]) {
        return None;
    }
    // In a macro the name may be a `$name`.
    let name = &tokens[function + 1..function + 3];
    let name = if name[0].text == "$" { format!("${}", name[1].text) } else { name[0].text.clone() };
    Some((tokens[function].start.line, format!("test `{name}` asserts nothing; assert what it shows")))
}

/// Whether a body holds an asserting macro or calls something whose name says that it asserts.
fn asserts(body: &[Token]) -> bool {
    (0..body.len()).filter(|&at| body[at].is_word).any(|at| {
        let name = body[at].text.as_str();
        if reads(body, at + 1, &["!"]) {
            return name.contains("assert") || name == "panic" || name == "unreachable";
        }
        let is_call = reads(body, at + 1, &["("]) || reads(body, at + 1, &[":", ":", "<"]);
        let is_defined = body[at - 1].text == "fn";
        is_call && !is_defined && ASSERTING_CALLS.iter().any(|start| name.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::findings;

    fn found(text: &str) -> Vec<String> {
        findings("test-asserts", "a.rs", text)
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
