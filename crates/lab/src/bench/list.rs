//! The text of `--list`.
use super::contender::Kind;
use super::contenders::registry;
use super::profiles;
use core::fmt::Write;
use lab_kit::export::grid::WIDTH;

/// All that can be named: mutexes or reader-writer locks, profiles, tunables.
pub(crate) fn list(rw: bool) -> String {
    let mut text = String::new();
    let titles = [
        ("locks", Kind::Stanchion, false),
        ("variants", Kind::Stanchion, true),
        ("peers", Kind::Peer, false),
    ];
    for (title, kind, variant) in titles {
        text.push_str(title);
        text.push('\n');
        for entry in registry(rw).filter(|entry| entry.kind == kind && entry.variant == variant) {
            let width = if variant && !rw { 27 } else { 17 };
            let (name, bytes, about) = (entry.name, entry.bytes, entry.about);
            wrap(&mut text, format!("  {name:<width$} {bytes:>2} bytes "), about);
        }
    }
    text.push_str("memory beside the lock itself\n");
    for entry in registry(rw).filter(|entry| !entry.memory.description().is_empty()) {
        let _ = writeln!(text, "  {:<27} {}", entry.name, entry.memory.description());
    }
    text.push_str("profiles\n");
    for (name, critical_ns, think_ns, _, about) in profiles::NAMED {
        let times = format!("cs={critical_ns}ns,think={think_ns}ns");
        let _ = writeln!(text, "  {name:<17} {times:<24}  {about}");
    }
    list_tunables(&mut text);
    text
}

/// What can be set for locks.
fn list_tunables(text: &mut String) {
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
            line = " ".repeat(indent.max(1));
        }
        let gap = if line.is_empty() { "" } else { " " };
        line = line + gap + word;
    }
    let _ = writeln!(text, "{line}");
}
