//! The text of `--list`.
use super::contender::Kind;
use super::contenders::registry;
use super::profiles;
use crate::tuned;
use core::fmt::Write;

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
            tuned::wrap(&mut text, format!("  {name:<width$} {bytes:>2} bytes "), about);
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
    tuned::list(&mut text);
    text
}
