//! `invariant-ids`: ids of invariants start with I, and those of ordering tags with another letter.
use crate::finding::Finding;
use crate::source::Source;

const RULE: &str = "invariant-ids";

/// Invariants, listed as `- **I1** ...` at the head of a file, and tags whose ids could be the other's.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let finding = |(at, line): (usize, &str)| {
        let line = line.trim_start();
        let (id, advice) = if let Some(text) = line.strip_prefix("//! - **") {
            let id = text.split("**").next().filter(|id| is_id(id) && !id.starts_with('I'))?;
            (id, format!("an ordering tag may be called {id}; call the invariant I{id}"))
        } else {
            let id = line.strip_prefix("// ord: I")?.split(' ').next().unwrap_or_default();
            (id, format!("an invariant may be called I{id}; choose a tag that starts with another letter"))
        };
        is_id(id).then(|| Finding::new(&source.path, at + 1, RULE, advice))
    };
    source.text.lines().enumerate().filter_map(finding).collect()
}

/// Some capital letters, and a number.
fn is_id(id: &str) -> bool {
    let number = id.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    #[test]
    fn ids_that_may_collide_are_found() {
        let head = "//! A lock.\n//!\n//! - **I1** It excludes.\n//! - **IN1** A node is one wait's.\n//! - **Cost**: low.\n";
        assert!(findings(check, "a.rs", head).is_empty());
        assert_eq!(
            findings(check, "a.rs", "//! A lock.\n//!\n//! - **N1** A node is one wait's.\n"),
            ["a.rs:3: [invariant-ids] an ordering tag may be called N1; call the invariant IN1"]
        );
        let tag = "fn f() {\n    // ord: I1 alone: a hint and no more\n    x.load(Relaxed);\n}\n";
        assert_eq!(
            findings(check, "a.rs", tag),
            [
                "a.rs:2: [invariant-ids] an invariant may be called I1; choose a tag that starts with another letter"
            ]
        );
    }
}
