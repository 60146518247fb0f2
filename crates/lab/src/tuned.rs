//! What can be set for locks, as lists show it.
use core::fmt::Write;
use lab_kit::export::grid::WIDTH;

pub(crate) use stanchion_cells::tuned::read;

/// What can be set, for `--list`.
pub(crate) fn list(text: &mut String) {
    text.push_str("tunables, as in stanchion:turns=0\n");
    for tunable in stanchion_family::tunables::ALL {
        wrap(text, format!("  {:<24} {:>6} ", tunable.name(), tunable.default()), tunable.meaning());
    }
}

/// Writes `begin` and the words behind it; lines that follow are indented as far.
pub(crate) fn wrap(text: &mut String, begin: String, words: &str) {
    let indent = begin.chars().count();
    let mut line = begin;
    for word in words.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(indent);
        }
        line = line + " " + word;
    }
    let _ = writeln!(text, "{line}");
}
