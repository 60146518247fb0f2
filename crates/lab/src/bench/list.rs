//! The text of `--list`.
use super::contender::Kind;
use super::{contenders, profiles};
use crate::tuned;
use core::fmt::Write;

/// All that can be named: mutexes or reader-writer locks, profiles, tunables.
pub(crate) fn list(rw: bool) -> String {
    let registry = contenders::registry(rw);
    let mut text = String::new();
    let titles = [
        ("locks", Kind::Stanchion, false),
        ("variants", Kind::Stanchion, true),
        ("peers", Kind::Peer, false),
    ];
    for (title, kind, variant) in titles {
        text.push_str(title);
        text.push('\n');
        for entry in registry.iter().filter(|entry| entry.kind == kind && entry.variant == variant) {
            let width = if variant && !rw { 27 } else { 17 };
            let (name, bytes, about) = (entry.name, entry.bytes, entry.about);
            tuned::wrap(&mut text, format!("  {name:<width$} {bytes:>2} bytes "), about);
        }
    }
    text.push_str("memory beside the lock itself\n");
    for entry in registry.iter().filter(|entry| !entry.memory.description().is_empty()) {
        let _ = writeln!(text, "  {:<27} {}", entry.name, entry.memory.description());
    }
    list_profiles(&mut text);
    tuned::list(&mut text);
    text
}

fn list_profiles(text: &mut String) {
    text.push_str("profiles\n");
    for named in profiles::NAMED {
        let times = format!("cs={}ns,think={}ns", named.critical_ns, named.think_ns);
        let _ = writeln!(text, "  {:<17} {times:<24}  {}", named.name, named.about);
    }
}
