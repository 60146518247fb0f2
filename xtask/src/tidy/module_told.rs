//! `module-told`: each file starts by saying what it is for.
use crate::finding::Finding;
use crate::source::Source;

const RULE: &str = "module-told";

/// A file whose first line is no `//!` documentation.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()) {
        return Vec::new();
    }
    let message = "the file does not start with `//!`; say in a line what it is for";
    vec![Finding::new(&source.path, 1, RULE, message)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    #[test]
    fn an_untold_module_is_found() {
        let expected =
            "a.rs:1: [module-told] the file does not start with `//!`; say in a line what it is for";
        assert_eq!(findings(check, "a.rs", "// Not it.\nfn f() {}\n"), [expected]);
        assert_eq!(findings(check, "a.rs", "//!\nfn f() {}\n"), [expected]);
        assert_eq!(findings(check, "a.rs", ""), [expected]);
    }

    #[test]
    fn a_told_module_passes() {
        assert!(findings(check, "a.rs", "//! The queue node.\nfn f() {}\n").is_empty());
    }
}
