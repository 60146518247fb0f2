//! Rules about the text of a file and its words.
//!
//! - `file-size`: a Rust file has 400 lines at most.
//! - `module-told`: each file starts by saying what it is for.
//! - `no-marker-words`: unfinished work is not left in comments.
//! - `invariant-ids`: ids of invariants start with I, and those of ordering tags with another letter.
//! - `core-names-no-world`: the core and the family name neither std nor atomics nor a model checker. Their
//!   locks are generic over the machine beneath them; one that named a world could be checked there only.
//! - `test-asserts`: a test that can not fail is none.
use super::Wrong;
use crate::orderings::tag::id_key;
use crate::tokens::{Comment, Token, reads};
use crate::workspace::Source;

const LINES: usize = 400;
const MARKERS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

pub(super) fn file_size(source: &Source) -> Vec<Wrong> {
    let lines = source.text.lines().count();
    let message = format!("{lines} lines, {LINES} are allowed; split it by what its parts do");
    if lines > LINES { vec![(LINES + 1, message)] } else { Vec::new() }
}

pub(super) fn module_told(source: &Source) -> Vec<Wrong> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()) {
        return Vec::new();
    }
    vec![(1, "the file does not start with `//!`; say in a line what it is for".to_owned())]
}

pub(super) fn markers(source: &Source) -> Vec<Wrong> {
    let wrong = |(&line, comment): (&usize, &Comment)| {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let word = words.find(|word| MARKERS.contains(word))?;
        Some((line, format!("`{word}` in a comment; do it, drop it, or say plainly what is missing")))
    };
    source.comments.iter().filter_map(wrong).collect()
}

/// Invariants, listed as `- **I1** ...` at the head of a file, and tags whose ids could be the other's.
pub(super) fn invariant_ids(source: &Source) -> Vec<Wrong> {
    let wrong = |(line, text): (usize, &str)| {
        let text = text.trim_start();
        let (id, advice) = if let Some(text) = text.strip_prefix("//! - **") {
            let id = text.split("**").next().filter(|id| !id.starts_with('I'))?;
            (id, format!("an ordering tag may be called {id}; call the invariant I{id}"))
        } else {
            let id = text.strip_prefix("// ord: I")?.split(' ').next().unwrap_or_default();
            (id, format!("an invariant may be called I{id}; choose a tag that starts with another letter"))
        };
        id_key(id).map(|_| (line, advice))
    };
    (1..).zip(source.text.lines()).filter_map(wrong).collect()
}

/// Words of worlds, whether tests may have them, and what is said of each.
const WORDS: &[(&str, bool, &str)] = &[
    ("std", true, "the core names `std`; use `core`, or take it from the platform"),
    ("atomic", true, "the core names atomics; use the platform's atomic types"),
    ("loom", false, "the core asks whether it runs under loom; make it a type parameter instead"),
];

pub(super) fn core_world(source: &Source) -> Vec<Wrong> {
    if !["crates/core/src/", "crates/family/src/"].iter().any(|locks| source.path.starts_with(locks)) {
        return Vec::new();
    }
    let wrong = |token: &Token| {
        let (_, in_tests, message) = WORDS.iter().find(|(word, ..)| token.text == *word)?;
        (!in_tests || !source.in_tests(token.start.line)).then(|| (token.start.line, (*message).to_owned()))
    };
    source.tokens.iter().filter_map(wrong).collect()
}

const ASSERTING_CALLS: [&str; 4] = ["assert", "check", "expect", "must_"];

pub(super) fn test_asserts(source: &Source) -> Vec<Wrong> {
    let tokens = &source.tokens;
    // `#[test]`, or `#[some::test]`.
    let begins =
        |at: &usize| reads(tokens, *at, &["#", "["]) && tokens[tokens[at + 1].end - 1].text == "test";
    (0..tokens.len()).filter(begins).filter_map(|at| without_assertion(tokens, at)).collect()
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

    #[test]
    fn long_files_are_found() {
        assert_eq!(
            findings("file-size", "a.rs", &"\n".repeat(401)),
            ["a.rs:401: [file-size] 401 lines, 400 are allowed; split it by what its parts do"]
        );
        assert!(findings("file-size", "b.rs", &"\n".repeat(400)).is_empty());
    }

    #[test]
    fn an_untold_module_is_found() {
        let expected =
            "a.rs:1: [module-told] the file does not start with `//!`; say in a line what it is for";
        assert_eq!(findings("module-told", "a.rs", "// Not it.\nfn f() {}\n"), [expected]);
        assert_eq!(findings("module-told", "a.rs", "//!\nfn f() {}\n"), [expected]);
        assert_eq!(findings("module-told", "a.rs", ""), [expected]);
    }

    #[test]
    fn a_told_module_passes() {
        assert!(findings("module-told", "a.rs", "//! The queue node.\nfn f() {}\n").is_empty());
    }

    #[test]
    fn markers_in_comments_are_found() {
        assert_eq!(
            findings("no-marker-words", "a.rs", "//! Doc.\nfn f() {} // TODO: more\n/* FIXME */\n"),
            [
                "a.rs:2: [no-marker-words] `TODO` in a comment; do it, drop it, or say plainly what is missing",
                "a.rs:3: [no-marker-words] `FIXME` in a comment; do it, drop it, or say plainly what is missing",
            ]
        );
    }

    #[test]
    fn strings_and_other_words_pass() {
        assert!(
            findings(
                "no-marker-words",
                "a.rs",
                "//! A hack, todo.\nconst A: &str = \"// TODO\";\n// MYTODOS\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn ids_that_may_collide_are_found() {
        let head = "//! A lock.\n//!\n//! - **I1** It excludes.\n//! - **IN1** A node is one wait's.\n//! - **Cost**: low.\n";
        assert!(findings("invariant-ids", "a.rs", head).is_empty());
        assert_eq!(
            findings("invariant-ids", "a.rs", "//! A lock.\n//!\n//! - **N1** A node is one wait's.\n"),
            ["a.rs:3: [invariant-ids] an ordering tag may be called N1; call the invariant IN1"]
        );
        let tag = "fn f() {\n    // ord: I1 alone: a hint and no more\n    x.load(Relaxed);\n}\n";
        assert_eq!(
            findings("invariant-ids", "a.rs", tag),
            [
                "a.rs:2: [invariant-ids] an invariant may be called I1; choose a tag that starts with another letter"
            ]
        );
    }

    fn worlds(text: &str) -> Vec<String> {
        findings("core-names-no-world", "crates/core/src/mcs.rs", text)
    }

    #[test]
    fn std_is_found() {
        let expected = "crates/core/src/mcs.rs:1: [core-names-no-world] the core names `std`; use `core`, or take it \
                        from the platform";
        assert_eq!(worlds("use std::hint;\n"), [expected]);
        assert_eq!(worlds("extern crate std;\nfn f() { std::hint::spin_loop() }").len(), 2);
    }

    #[test]
    fn atomics_are_found_in_every_spelling() {
        let expected = "crates/core/src/mcs.rs:2: [core-names-no-world] the core names atomics; use the platform's \
                        atomic types";
        assert_eq!(worlds("//! Doc.\nuse core::sync::atomic::AtomicU32;\n"), [expected]);
        assert_eq!(worlds("use core::{sync::{atomic::{AtomicU8}, Exclusive}};").len(), 1);
        assert_eq!(worlds("fn f(x: &core::sync::atomic::AtomicBool) {}").len(), 1);
    }

    #[test]
    fn loom_is_found_even_in_tests() {
        let expected = "crates/core/src/mcs.rs:1: [core-names-no-world] the core asks whether it runs under loom; \
                        make it a type parameter instead";
        assert_eq!(worlds("#[cfg(not(loom))]\nmod a {}"), [expected]);
        assert_eq!(worlds("#[cfg(test)]\nmod a { fn f() { if cfg!(loom) {} } }").len(), 1);
    }

    #[test]
    fn clean_code_tests_and_other_crates_pass() {
        let clean = "//! Never std::sync::atomic.\n#![no_std]\nuse core::sync::Exclusive;\n#[cfg(feature = \"std\")]\n\
                     fn f(standard: f64) -> f64 { standard }\n#[cfg(test)]\nmod tests { use std::sync::atomic::AtomicU8; }\n";
        assert_eq!(worlds(clean), Vec::<String>::new());
        assert!(
            findings("core-names-no-world", "crates/stanchion/src/lib.rs", "use std::thread;").is_empty()
        );
    }

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
