//! Refusals, replacements and round trips of machine files.
use super::check::MOST_CPUS;
use super::*;
use crate::machine::{Protocol, SchedulerKind, Topology, library};
use crate::time::{MS, NS, US};

const NAME: &str = "epyc-2s";

fn text_of(name: &str) -> &'static str {
    library().iter().find(|(known, _)| *known == name).expect("a shipped machine").1
}

fn shipped(name: &str) -> MachineFile {
    read(text_of(name), name).unwrap_or_else(|error| panic!("{error}"))
}

/// What a file says after `old` was replaced, which must refuse it.
fn refusal(old: &str, new: &str) -> String {
    let text = text_of(NAME);
    assert!(text.contains(old), "{old}");
    read(&text.replacen(old, new, 1), "x.toml").expect_err(new).to_string()
}

/// A shipped machine whose hypervisor notices spinning.
fn noticing() -> MachineFile {
    let sets =
        ["window=2us", "gap=500ns", "exit=3us", "guard=20us"].map(|set| format!("host.pause-loop.{set}"));
    read_with(text_of(NAME), "x.toml", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// The same with a field replaced by `--set`.
fn refusal_of_set(set: &str) -> String {
    read_with(text_of(NAME), "x.toml", &[set]).expect_err(set).to_string()
}

#[test]
fn numbers_arrive_in_picoseconds() {
    let machine = shipped("xeon-e7-8895v3-4x18x2").machine;
    // Fields that no fit moves.
    assert_eq!((machine.memory.hit, machine.memory.upgrade_per_socket), (1_500, 10_000));
    assert_eq!(machine.memory.protocol, Protocol::Mesif);
    assert_eq!(machine.topology.cpu_count(), 144);
    let host = noticing().machine.host;
    assert_eq!((host.wake_idle, host.halt, host.tick_period), (5 * US, 800 * NS, 4 * MS));
    let SchedulerKind::FairShare(fair) = host.scheduler else { panic!("a fair scheduler") };
    assert_eq!((fair.slice, fair.wake_preemption, fair.quota), (2_800 * US, Some(MS), None));
    assert_eq!(host.pause_loop.map(|exits| exits.guard), Some(20 * US));
}

#[test]
fn a_refusal_names_file_line_field_and_range() {
    let line = text_of(NAME).lines().position(|line| line.starts_with("hit = ")).expect("it has one") + 1;
    let range = "must be a time from 0.05ns to 100ns";
    assert_eq!(refusal("hit = 0.8", "hit = 500"), format!("x.toml:{line}: memory.hit = 500: {range}"));
    assert_eq!(refusal("hit = 0.8", "hit = true"), format!("x.toml:{line}: memory.hit = true: {range}"));
    let section =
        text_of(NAME).lines().position(|line| line.starts_with("[memory]")).expect("it has one") + 1;
    assert_eq!(refusal("hit = 0.8\n", ""), format!("x.toml:{section}: memory.hit: missing; {range}"));
    assert_eq!(refusal_of_set("memory.hit=500"), format!("--set memory.hit=500: {range}"));
}

#[test]
fn files_that_fuzzing_begins_with_are_machines() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/machine");
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        assert!(read(&text, "x").is_ok(), "{}", path.display());
    }
}

#[test]
fn what_is_refused() {
    let cases = [
        ("hit = 0.8", "hti = 1.5", "memory.hti = 1.5: no such field; nearest: memory.hit"),
        ("[memory]", "[memroy]", "no such table; nearest: memory"),
        ("hit = 0.8", "hit = 0.0001", "no finer than 0.001"),
        ("hit = 0.8", "hit = nan", "plain decimals"),
        ("hit = 0.8", "hit = -1", "must be a time from"),
        ("hit = 0.8", "hit = 0.8\nhit = 2", "not TOML: duplicate key"),
        ("hit = 0.8", "hit = 99999999999999999999999", "must be a time from"),
        ("wake-idle = \"5us\"", "wake-idle = \"40 hours\"", "with a unit as in \"2.5us\""),
        ("slice = \"2.8ms\"", "slice = 0", "must be a time from 1us to 10s"),
        (
            "scheduler = \"eevdf\"",
            "scheduler = \"fair\"",
            "must be \"pinned\", \"cfs\", \"eevdf\", \"round-robin\"",
        ),
        ("scheduler = \"eevdf\"", "scheduler = \"round-robin\"", "host.round-robin.slice: missing"),
        ("sockets = 2", "sockets = 0", "must be a whole number from 1 to 64"),
        ("sockets = 2", "sockets = 4.0", "must be a whole number from 1 to 64"),
        ("cores = 8", "cores = 200", "3200 cores (sockets x groups x cores) are more than 512"),
        ("name = \"epyc", "name = \"Epyc", "1 to 64 of a-z"),
        ("name = \"epyc", "name = \"\u{e4}pyc", "1 to 64 of a-z"),
        ("about = \"", "about = \"\u{2013}", "one line of 1 to 400 ASCII characters"),
        ("about = \"", "about = \"a\\n", "one line of 1 to 400 ASCII characters"),
        ("protocol = \"moesi\"", "protocol = 3", "must be \"mesi\", \"mesif\", \"moesi\", \"ll-sc\""),
        ("idle-pull = true", "idle-pull = 1", "must be true or false"),
        ("tick-cost = \"1.5us\"", "tick-cost = \"2.1ms\"", "must be a time from 0ns to 1ms"),
        ("jitter-percent = 10", "jitter-percent = 51", "must be whole per cent from 0 to 50"),
        ("[[1, 100], [17, 104]", "[[17, 104], [17, 100]", "ascending"),
        ("threads = 2", "threads = 2\nhops = [[0]]", "has 1 rows, must have one for each of the 2 sockets"),
        ("threads = 2", "threads = 2\nhops = [[0, 1], [2, 0]]", "square matrix"),
        ("threads = 2", "threads = 2\nhops = [[0, 1], [1]]", "square matrix"),
        ("threads = 2", "threads = 2\nhops = [[1]]", "0 on the diagonal"),
        ("threads = 2", "threads = 2\n\"a.b\" = 1", "\"a.b\" is no name of a field"),
        ("[source.host]", "[source.hosts]", "no such table; nearest: source.host"),
        (
            "others = \"guess: a current",
            "others = \"hearsay: a current",
            "EVIDENCE one of measured, published",
        ),
        ("wake-idle = 0.7", "wake-idle = 7.5", "relative width (log-normal sigma) from 0.001 to 3"),
        ("wake-idle = 0.7", "scheduler = 0.7", "only times and percentages can be fitted"),
    ];
    for (old, new, expected) in cases {
        let refusal = refusal(old, new);
        assert!(refusal.contains(expected) && refusal.starts_with("x.toml:"), "{new}: {refusal}");
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
    }
}

#[test]
fn machines_have_limits_of_size() {
    let refusal =
        read_with(text_of(NAME), "x", &["topology.cores=33"]).expect_err("too many cores").to_string();
    assert_eq!(refusal, "--set topology.cores=33: 528 cores (sockets x groups x cores) are more than 512");
    let sets = ["topology.cores=32", "topology.threads=64"];
    let refusal = read_with(text_of(NAME), "x", &sets).expect_err("too many CPUs").to_string();
    assert!(
        refusal.contains(&format!("32768 CPUs (cores x threads) are more than {MOST_CPUS}")),
        "{refusal}"
    );
    let largest = read_with(text_of(NAME), "x", &["topology.cores=32"]).expect("512 cores are allowed");
    assert_eq!(largest.machine.topology.core_count(), Topology::MOST_CORES);
}

#[test]
fn a_quota_is_at_most_what_the_cpus_have() {
    let quota = |budget: &str| {
        let sets = [
            "host.fair-share.quota.period=100ms".to_owned(),
            format!("host.fair-share.quota.budget={budget}"),
        ];
        read_with(text_of(NAME), "x", &sets)
    };
    let refusal = quota("25.7s").expect_err("more than 256 CPUs").to_string();
    assert!(refusal.ends_with("must be no more than 25.6s, what 256 CPUs have in a period"), "{refusal}");
    let file = quota("25.6s").expect("all of them");
    let SchedulerKind::FairShare(fair) = &file.machine.host.scheduler else { panic!("a fair scheduler") };
    assert_eq!(fair.quota.as_ref().map(|quota| quota.budget), Some(25_600 * MS));
    assert!(
        refusal_of_set("host.fair-share.quota.period=100ms")
            .contains("host.fair-share.quota.budget: missing")
    );
}

#[test]
fn settings_replace_fields_tables_and_sources() {
    let sets = [
        "memory.remote-dirty=120",
        "host.pause-loop=none",
        "host.heavy-barrier = \"3us\"",
        "host.tick-period=none",
    ];
    let file = read_with(text_of(NAME), "x", &sets).expect("all of them are fields");
    assert_eq!(file.machine.memory.remote_dirty, 120 * NS);
    assert_eq!((&file.machine.host.pause_loop, file.machine.host.heavy_barrier), (&None, Some(3 * US)));
    assert_eq!(file.machine.host.tick_period, 0);
    let evidence = |path| file.source_of(path).map(|source| source.evidence);
    assert_eq!(evidence("memory.remote-dirty"), Some(Evidence::Set));
    assert_eq!(evidence("memory.hop"), Some(Evidence::Guess));
    assert_eq!(
        apply_set(&shipped(NAME), "memory.remote-dirty=120").expect("a field").machine.memory,
        file.machine.memory
    );
    assert!(refusal_of_set("memory.remote_dirty=1").contains("nearest: memory.remote-dirty"));
    assert!(refusal_of_set("memory=1").ends_with("is a table, set its fields"));
    assert!(refusal_of_set("memory.hit").ends_with("must be KEY=VALUE, as in memory.hit=1.5"));
    let other = refusal_of_set("host.scheduler=round-robin");
    assert!(
        other.contains("host.round-robin.slice: missing")
            && other.ends_with("(with --set host.scheduler=round-robin)")
    );
}

#[test]
fn the_longest_source_reads_back_with_and_without_a_blank_behind_its_word() {
    let source =
        text_of(NAME).lines().find(|line| line.starts_with("fence = \"")).expect("fence has a source");
    for between in [":", ": "] {
        let with = |longest: usize| {
            let text = "x".repeat(longest - "guess: ".len());
            let line = format!("fence = \"guess{between}{text}\"");
            read(&text_of(NAME).replacen(source, &line, 1), "x.toml")
        };
        let file = with(400).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read(&write(&file), "x").as_ref(), Ok(&file));
        assert!(with(401).is_err_and(|error| error.to_string().contains("up to 400")));
    }
}

#[test]
fn every_number_of_the_memory_needs_its_source() {
    let source =
        text_of(NAME).lines().find(|line| line.starts_with("fence = \"")).expect("fence has a source");
    let refusal = refusal(source, "");
    assert!(refusal.contains("source.memory.fence: missing; must be \"EVIDENCE: text\""), "{refusal}");
}

#[test]
fn sources_of_tables_cover_what_has_none_of_its_own() {
    let file = shipped(NAME);
    let text = |path| file.source_of(path).map(|source| source.field.as_str());
    assert_eq!(text("host.wake-idle"), Some("host.wake-idle"));
    assert_eq!(text("host.switch"), Some("host.others"));
    assert_eq!(text("host.fair-share.idle-pull"), Some("host.fair-share.others"));
    assert_eq!(text("topology.cores"), None);
}

#[test]
fn what_is_written_reads_back_equal() {
    for (name, text) in library() {
        let text = format!("#\ta\tb\u{85}c\n{text}");
        let mut file = read(&text, name).unwrap_or_else(|error| panic!("{error}"));
        assert!(!file.head.is_empty() && !file.sources.is_empty());
        file.set_source("memory.hit", Evidence::Measured, "a \"quoted\" \\ word");
        file.set_source("host.pause-loop.others", Evidence::Guess, "a table's own");
        file.set_source("memory.rmw", Evidence::Measured, &"18\u{b5}s,\nabout ".repeat(100));
        let again = read(&write(&file), name).unwrap_or_else(|error| panic!("{error}\n{}", write(&file)));
        assert_eq!(again, file);
    }
}

#[test]
fn every_number_can_be_read_set_and_stays_in_its_range() {
    let machine = noticing().machine;
    let mut seen = 0;
    for path in number_fields() {
        let Some(value) = number(&machine, path) else { continue };
        seen += 1;
        let mut copy = machine.clone();
        assert!(set_number(&mut copy, path, value) && copy == machine, "{path}");
        for wild in [-1.0, 1e30, f64::INFINITY] {
            assert!(set_number(&mut copy, path, wild));
            let held = number(&copy, path).expect("it still has it");
            assert!(set_number(&mut copy, path, held) && number(&copy, path) == Some(held), "{path} {wild}");
        }
        assert!(!set_number(&mut copy, path, f64::NAN));
    }
    assert!(seen > 35, "{seen}");
    assert!(!set_number(&mut machine.clone(), "host.round-robin.slice", 1e6), "there is no such scheduler");
    assert_eq!(number(&machine, "topology.cores"), None);
}
