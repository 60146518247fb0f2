//! What `cargo test` printed, test by test.
use std::collections::BTreeMap;

/// The target that a test is in, and its name.
pub(super) type Test = (String, String);

/// Whether each test that ran passed.
pub(super) type Outcome = BTreeMap<Test, bool>;

/// Reads both outputs of `cargo test`, mixed as they came.
pub(super) fn read(text: &str) -> Outcome {
    let mut outcome = Outcome::new();
    let mut target = String::new();
    for line in text.lines() {
        if let Some(running) = line.trim_start().strip_prefix("Running ") {
            // `unittests src/lib.rs (target/debug/deps/a-0123)` is `src/lib.rs`.
            let path = running.split(" (").next().unwrap_or(running);
            path.trim_start_matches("unittests ").clone_into(&mut target);
        } else if line.trim_start().starts_with("Doc-tests ") {
            "documentation".clone_into(&mut target);
        } else if let Some((name, passed)) = test_of(line) {
            outcome.insert((target.clone(), name), passed);
        }
    }
    outcome
}

/// `test a::b - should panic ... ok`. What a test prints itself may come between.
fn test_of(line: &str) -> Option<(String, bool)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let passed = match end.split([',', ' ']).next()? {
        "ok" => true,
        "FAILED" => false,
        _ => return None,
    };
    Some((name.strip_suffix(" - should panic").unwrap_or(name).to_owned(), passed))
}

/// How many passed, and how many failed.
pub(super) fn counts(outcome: &Outcome) -> [usize; 2] {
    [true, false].map(|passed| outcome.values().filter(|&&found| found == passed).count())
}

/// Those that pass `without` the drop-in and not `with` it, but those that are left out by name.
pub(super) fn lost(without: &Outcome, with: &Outcome, left_out: &[String]) -> Vec<Test> {
    let is_left_out = |name: &str| left_out.iter().any(|out| name.rsplit("::").next() == Some(out));
    let is_lost = |key: &&Test| passes(without, key) && !passes(with, key) && !is_left_out(&key.1);
    without.keys().filter(is_lost).cloned().collect()
}

pub(super) fn passes(outcome: &Outcome, test: &Test) -> bool {
    outcome.get(test) == Some(&true)
}

/// What came of running a lost test again and again, with and without the drop-in in turn.
#[derive(Clone, Debug)]
pub(super) struct Again {
    pub(super) test: Test,
    pub(super) runs: u32,
    /// How often it failed without the drop-in, and with it.
    pub(super) failed: [u32; 2],
}

impl Again {
    /// It is lost unless it fails without the drop-in, too, and passes with it: then chance decides in both.
    pub(super) fn is_lost(&self) -> bool {
        self.failed[0] == 0 || self.failed[1] == self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)

running 4 tests
test once::tests::poison_bad ... ok
test condvar::tests::two_mutexes - should panic ... ok
test mutex::tests::smoke ... FAILED
test mutex::tests::long ... ignored, takes long
test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s
     Running tests/issue_203.rs (target/debug/deps/issue_203-0123456789abcdef)
test main ... ok
   Doc-tests a
test src/mutex.rs - mutex::Mutex (line 42) ... ok
";

    fn key(target: &str, name: &str) -> (String, String) {
        (target.to_owned(), name.to_owned())
    }

    #[test]
    fn tests_are_read_by_target() {
        let outcome = read(PRINTED);
        assert!(outcome[&key("src/lib.rs", "condvar::tests::two_mutexes")]);
        assert!(!outcome[&key("src/lib.rs", "mutex::tests::smoke")]);
        assert!(outcome[&key("tests/issue_203.rs", "main")]);
        assert!(outcome[&key("documentation", "src/mutex.rs - mutex::Mutex (line 42)")]);
        assert!(!outcome.contains_key(&key("src/lib.rs", "mutex::tests::long")), "it was not run");
        assert_eq!(counts(&outcome), [4, 1]);
    }

    #[test]
    fn what_fails_or_is_missing_is_lost() {
        let without = read(PRINTED);
        assert_eq!(lost(&without, &without, &[]), []);
        let with = read(&PRINTED.replace("two_mutexes - should panic ... ok", "two_mutexes ... FAILED"));
        assert_eq!(lost(&without, &with, &[]), [key("src/lib.rs", "condvar::tests::two_mutexes")]);
        assert_eq!(lost(&without, &with, &["two_mutexes".to_owned()]), []);
        assert_eq!(lost(&without, &Outcome::new(), &[]).len(), 4);
    }

    #[test]
    fn a_lost_test_is_left_to_chance_only_if_chance_decides_on_both_sides() {
        let is_lost = |failed| Again { test: key("src/lib.rs", "a"), runs: 30, failed }.is_lost();
        assert!(is_lost([0, 1]) && is_lost([0, 0]), "it never fails without the drop-in");
        assert!(is_lost([1, 30]), "it never passes with it");
        assert!(!is_lost([1, 29]));
    }
}
