//! A finding: where, which rule, what is wrong and what to do about it.
use core::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path relative to the workspace root, with forward slashes.
    pub(crate) path: String,
    pub(crate) line: usize,
    /// Stable kebab-case name of the rule.
    pub(crate) rule: &'static str,
    /// What is wrong; what to do.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: [{}] {}", self.path, self.line, self.rule, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        let finding = Finding::new("crates/core/src/a.rs", 3, "file-size", "too long; split it");
        assert_eq!(finding.to_string(), "crates/core/src/a.rs:3: [file-size] too long; split it");
    }
}
