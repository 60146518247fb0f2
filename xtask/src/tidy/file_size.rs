//! `file-size`: a Rust file has 400 lines at most; what is longer stands on a list that only shrinks.
use crate::finding::Finding;
use crate::workspace::RATCHET;

const RULE: &str = "file-size";
/// Lines a file may have.
const LIMIT: usize = 400;
/// Lines no list can allow.
const HARD_CAP: usize = 800;

struct Allowed<'a> {
    path: &'a str,
    lines: usize,
    at: usize,
}

/// Files that are too long, and lines of the ratchet that are not needed.
pub(crate) fn check(sizes: &[(&str, usize)], ratchet: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut allowed = Vec::new();
    for (number, line) in ratchet.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parsed = line.rsplit_once(' ').and_then(|(path, lines)| Some((path.trim(), lines.parse().ok()?)));
        match parsed {
            Some((path, lines)) => allowed.push(Allowed { path, lines, at: number + 1 }),
            None => findings.push(Finding::new(
                RATCHET,
                number + 1,
                RULE,
                "the line is not `path lines`; write it so or remove it",
            )),
        }
    }
    for entry in &allowed {
        let size = sizes.iter().find(|(path, _)| *path == entry.path).map(|&(_, lines)| lines);
        if let Some(message) = needless(entry, size) {
            findings.push(Finding::new(RATCHET, entry.at, RULE, message));
        }
    }
    for &(path, lines) in sizes {
        let limit = allowed.iter().find(|entry| entry.path == path).map_or(LIMIT, |entry| entry.lines);
        if lines > limit.clamp(LIMIT, HARD_CAP) {
            let limit = limit.clamp(LIMIT, HARD_CAP);
            let message = format!("{lines} lines, {limit} are allowed; split it by what its parts do");
            findings.push(Finding::new(path, limit + 1, RULE, message));
        }
    }
    findings
}

fn needless(entry: &Allowed<'_>, size: Option<usize>) -> Option<String> {
    let path = entry.path;
    match size {
        None => Some(format!("{path} does not exist; remove the line")),
        Some(lines) if lines <= LIMIT => Some(format!("{path} has only {lines} lines; remove the line")),
        Some(lines) if lines < entry.lines => {
            Some(format!("{path} has shrunk to {lines} lines; lower the number to that"))
        }
        Some(_) if entry.lines > HARD_CAP => {
            Some(format!("no file may have over {HARD_CAP} lines; split {path}"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sizes: &[(&str, usize)], ratchet: &str) -> Vec<String> {
        check(sizes, ratchet).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(
            found(&[("a.rs", 401), ("b.rs", 400)], ""),
            ["a.rs:401: [file-size] 401 lines, 400 are allowed; split it by what its parts do"]
        );
    }

    #[test]
    fn the_ratchet_allows_exactly_what_it_lists() {
        assert!(found(&[("a.rs", 450)], "# why\na.rs 450\n").is_empty());
        assert_eq!(
            found(&[("a.rs", 451)], "a.rs 450\n"),
            ["a.rs:451: [file-size] 451 lines, 450 are allowed; split it by what its parts do"]
        );
    }

    #[test]
    fn the_ratchet_only_shrinks() {
        let ratchet = "a.rs 450\nb.rs 500\nc.rs 500\nd.rs\n";
        assert_eq!(
            found(&[("a.rs", 100), ("c.rs", 460)], ratchet),
            [
                "xtask/file-size-ratchet.txt:4: [file-size] the line is not `path lines`; write it so or remove it",
                "xtask/file-size-ratchet.txt:1: [file-size] a.rs has only 100 lines; remove the line",
                "xtask/file-size-ratchet.txt:2: [file-size] b.rs does not exist; remove the line",
                "xtask/file-size-ratchet.txt:3: [file-size] c.rs has shrunk to 460 lines; lower the number to that",
            ]
        );
    }

    #[test]
    fn the_hard_cap_holds() {
        assert_eq!(
            found(&[("a.rs", 900)], "a.rs 900\n"),
            [
                "xtask/file-size-ratchet.txt:1: [file-size] no file may have over 800 lines; split a.rs",
                "a.rs:801: [file-size] 900 lines, 800 are allowed; split it by what its parts do",
            ]
        );
    }
}
