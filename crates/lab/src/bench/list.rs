//! The text of `--list`.
use super::contender::{Entry, Kind};
use super::study::Spec;
use super::{contenders, profiles};
use crate::tuned;
use core::fmt::Write;

/// All that can be named.
pub(crate) fn list() -> String {
    let registry: Vec<&'static Entry> = contenders::all().collect();
    let mut text = String::new();
    list_locks(&mut text, &registry, 27);
    list_profiles(&mut text);
    tuned::list(&mut text);
    text
}

/// The locks of a registry by kind.
pub(crate) fn list_locks<S: Spec>(text: &mut String, registry: &[&'static Entry<S>], variant_width: usize) {
    let titles = [
        ("locks", Kind::Stanchion, false),
        ("variants", Kind::Stanchion, true),
        ("peers", Kind::Peer, false),
    ];
    for (title, kind, variant) in titles {
        text.push_str(title);
        text.push('\n');
        for entry in registry.iter().filter(|entry| entry.kind == kind && entry.variant == variant) {
            let width = if variant { variant_width } else { 17 };
            let (name, bytes, about) = (entry.name, entry.bytes, entry.about);
            tuned::wrap(text, format!("  {name:<width$} {bytes:>2} bytes "), about);
        }
    }
}

pub(crate) fn list_profiles(text: &mut String) {
    text.push_str("profiles\n");
    for named in profiles::NAMED {
        let times = format!("cs={}ns,think={}ns", named.critical_ns, named.think_ns);
        let _ = writeln!(text, "  {:<17} {times:<24}  {}", named.name, named.about);
    }
}
