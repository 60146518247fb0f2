//! The text of `--list`.
use super::contender::{Kind, Memory};
use super::contenders::registry;
use super::profiles;
use core::fmt::Write;
use lab_kit::export::grid::wrap;
use stanchion_cells::scenes::once;

pub(crate) fn list() -> String {
    let mut text = String::new();
    let titles =
        [("", Kind::Stanchion, false), (", variants", Kind::Stanchion, true), (", peers", Kind::Peer, false)];
    for (what, rw) in [("mutexes", false), ("reader-writer locks", true)] {
        for (which, kind, variant) in titles {
            let _ = writeln!(text, "{what}{which}");
            let width = if variant && !rw { 27 } else { 17 };
            for entry in registry(rw).filter(|entry| entry.kind == kind && entry.variant == variant) {
                let begin = format!("  {:<width$} {:>2} bytes ", entry.name, entry.bytes);
                wrap(&mut text, begin, entry.about);
            }
        }
    }
    text.push_str("memory beside the lock itself\n");
    let needs = registry(false).chain(registry(true)).filter(|entry| entry.memory != Memory::NONE);
    text.extend(once(needs.map(|entry| format!("  {:<27} {}\n", entry.name, entry.memory.description()))));
    text.push_str("profiles\n");
    for (name, critical_ns, think_ns, _, about) in profiles::NAMED {
        let times = format!("cs={critical_ns}ns,think={think_ns}ns");
        let _ = writeln!(text, "  {name:<17} {times:<24}  {about}");
    }
    text.push_str("tunables, as in stanchion:turns=0\n");
    for tunable in stanchion_family::tunables::ALL {
        let begin = format!("  {:<24} {:>6} ", tunable.name(), tunable.default());
        wrap(&mut text, begin, tunable.meaning());
    }
    text
}
