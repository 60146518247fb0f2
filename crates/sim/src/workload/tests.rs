//! Refusals, replacements and round trips of workload files, and a short run of each shipped one.
use super::*;
use crate::machine;
use crate::machine::file::Evidence;
use crate::run::{Spec, run};
use crate::time::{MS, NS, US};

const NAME: &str = "short";

fn text_of(name: &str) -> &'static str {
    library().iter().find(|(known, _)| *known == name).expect("a shipped workload").1
}

fn shipped(name: &str) -> WorkloadFile {
    read(text_of(name), name).unwrap_or_else(|error| panic!("{error}"))
}

/// What a file says after `old` was replaced, which must refuse it.
fn refusal(old: &str, new: &str) -> String {
    let text = text_of(NAME);
    assert!(text.contains(old), "{old}");
    read(&text.replacen(old, new, 1), "x.toml").expect_err(new).to_string()
}

#[test]
fn every_shipped_workload_reads_and_comes_back_from_what_is_written() {
    for (name, text) in library() {
        let file = read(text, name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.workload.name, *name);
        let written = write(&file);
        assert_eq!(read(&written, name).unwrap_or_else(|error| panic!("{error}")), file, "{written}");
        assert_eq!(load(name).expect("it is in the library"), file);
        let file = read(&format!("#\ta\tb\u{85}c\n{text}"), name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((file.head[0].as_str(), read(&write(&file), name).as_ref()), ("a b c", Ok(&file)));
    }
}

#[test]
fn numbers_arrive_in_picoseconds() {
    let Behaviour::Free(free) = shipped("short").workload.behaviour else { panic!("the free form") };
    assert_eq!(
        (free.critical, free.think, free.think_varies_percent, free.locks),
        (50 * NS, 200 * NS, 50, 1)
    );
    let torture = shipped("locktorture").workload;
    let Behaviour::Locktorture(parameters) = &torture.behaviour else { panic!("locktorture") };
    assert_eq!((parameters.short_delay, parameters.long_delay), (2 * US, 100 * MS));
    assert_eq!((torture.per, torture.job, torture.placement), (30_000 * MS, None, Placement::Spread));
    assert_eq!(shipped("kernbench-j3").workload.behaviour.name(), "build");
}

#[test]
fn a_refusal_names_file_line_field_and_range() {
    let line =
        text_of(NAME).lines().position(|line| line.starts_with("critical = ")).expect("it has one") + 1;
    let range = "must be a time from 0ns to 100ms";
    assert_eq!(
        refusal("critical = 50", "critical = \"3s\""),
        format!("x.toml:{line}: workload.critical = \"3s\": {range}")
    );
    let table = text_of(NAME).lines().position(|line| line == "[workload]").expect("it has one") + 1;
    assert_eq!(
        refusal("critical = 50\n", ""),
        format!("x.toml:{table}: workload.critical: missing; {range}")
    );
    let error = read_with(text_of(NAME), "x.toml", &["workload.critical=3s"]).expect_err("too long");
    assert_eq!(error.to_string(), format!("--set workload.critical=3s: {range}"));
}

#[test]
fn files_that_fuzzing_begins_with_are_workloads() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/workload");
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        assert!(read(&text, "x").is_ok(), "{}", path.display());
    }
}

#[test]
fn what_is_refused() {
    let cases = [
        ("behaviour = \"free\"", "behaviour = \"fre\"", "must be one of \"free\", \"locktorture\""),
        ("behaviour = \"free\"", "behaviour = \"fre\"", "nearest: free"),
        ("behaviour = \"free\"", "behaviour = \"build\"", "workload.burst: missing"),
        ("behaviour = \"free\"\n", "", "workload.behaviour: missing; must be one of"),
        ("placement = \"spread\"", "placement = \"wide\"", "\"cores-first\", \"random\""),
        ("think = 200", "thnik = 200", "workload.think: missing"),
        (
            "hot-percent = 0",
            "hot-precent = 0",
            "no such field of the behaviour free; nearest: workload.hot-percent",
        ),
        ("hot-percent = 0", "hot-percent = 101", "must be whole per cent from 0 to 100"),
        ("locks = 1", "locks = 0", "must be a whole number from 1 to 4096"),
        ("locks = 1", "locks = 1.5", "must be a whole number from 1 to 4096"),
        ("lines = 1", "lines = 65", "must be a whole number from 0 to 64"),
        ("think = 200", "think = -1", "must be a time from 0ns to 1s"),
        ("think = 200", "think = nan", "must be a time from"),
        ("per = \"1us\"", "per = 0", "must be a time from 1ns"),
        ("per = \"1us\"", "per = \"1us\"\njob = 5", "not both"),
        ("name = \"short\"", "name = \"\"", "must be a line of 1 to 64 ASCII characters"),
        ("unit = \"ops/us\"", "unit = \"ops/\u{b5}s\"", "ASCII"),
        ("[source.workload]", "[source.worklaod]", "no such table"),
        ("[workload]", "[worklaod]", "workload.behaviour: missing"),
        ("others = \"measured", "others = \"hearsay", "EVIDENCE one of measured, published"),
        ("others = \"measured", "others = \"measured: a\\nb", "ASCII characters, EVIDENCE one of measured"),
        ("[source.workload]", "[source]\nname = \"guess: x\"\n[source.workload]", "no such field"),
    ];
    for (old, new, expected) in cases {
        let refusal = refusal(old, new);
        assert!(refusal.contains(expected) && refusal.starts_with("x.toml:"), "{new}: {refusal}");
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
    }
    let unknown = load("shrot").expect_err("no such workload");
    assert!(unknown.contains("nearest are short"), "{unknown}");
}

#[test]
fn settings_replace_fields_and_become_their_source() {
    let file =
        load_with("open1", &["workload.think=3us", "workload.placement=random"]).expect("both are fields");
    assert_eq!(number(&file.workload, "workload.think"), Some(3000.0));
    assert_eq!(file.workload.placement, Placement::Random);
    let source = file.sources.iter().find(|source| source.field == "workload.think").expect("it has one");
    assert_eq!(source.evidence, Evidence::Set);
}

#[test]
fn a_fit_moves_numbers_within_their_ranges() {
    let mut workload = shipped("lock2").workload;
    assert!(number_fields(&workload).contains(&"workload.second-lines".to_owned()));
    assert!(
        set_number(&mut workload, "workload.critical", 12.345)
            && set_number(&mut workload, "workload.lines", 2.6)
    );
    assert_eq!(number(&workload, "workload.critical"), Some(12.345));
    assert_eq!(number(&workload, "workload.lines"), Some(3.0));
    assert!(set_number(&mut workload, "workload.lines", 1e9));
    assert_eq!(number(&workload, "workload.lines"), Some(16.0), "the most that is allowed");
    assert!(!set_number(&mut workload, "workload.job", 5.0), "its result is a rate");
    assert!(!set_number(&mut workload, "workload.burst", 5.0), "another behaviour has that");
    assert!(!set_number(&mut workload, "workload.critical", f64::NAN));
}

#[test]
fn each_shipped_workload_runs_and_repeats() {
    let machine = machine::load("haswell-ex-4x8").expect("a shipped machine").machine;
    for (name, _) in library() {
        let workload = shipped(name).workload;
        let spec = Spec {
            machine: &machine,
            workload: &workload,
            lock: if workload.takes() == Takes::Mutexes { "qspin" } else { "qrw" },
            tunings: &[],
            contexts: 4,
            seed: 7,
            time: 12 * MS,
            warm_up: MS,
            record: None,
            most_events: 3_000_000,
        };
        let outcome = run(&spec, &|| false).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        let acquisitions: u64 = outcome.acquisitions.iter().sum();
        assert!(acquisitions > 0, "{name} never used its lock");
        assert!(workload.score(&outcome).value.is_finite() || outcome.ops.iter().sum::<u64>() == 0, "{name}");
        let again = run(&spec, &|| false).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_eq!(outcome.hash, again.hash, "{name}");
    }
}

#[test]
fn jobs_beyond_the_vcpus_take_turns_and_missing_ones_idle() {
    let machine = machine::load("haswell-ex-4x8").expect("a shipped machine").machine;
    let busy = |jobs: &str| {
        let set = format!("workload.jobs={jobs}");
        let workload =
            load_with("kernbench-j3", &[set, "workload.blocks-for=50ms".into()]).expect("valid").workload;
        let spec = Spec {
            machine: &machine,
            workload: &workload,
            lock: "qspin",
            tunings: &[],
            contexts: 4,
            seed: 1,
            time: 300 * MS,
            warm_up: MS,
            record: None,
            most_events: u64::MAX,
        };
        run(&spec, &|| false).expect("it runs").ops
    };
    assert_eq!(busy("3").iter().filter(|&&ops| ops == 0).count(), 1, "a vCPU has no job");
    let (few, many): (u64, u64) = (busy("4").iter().sum(), busy("32").iter().sum());
    assert!(many > 2 * few, "32 jobs hide each other's waits: {many} against {few}");
}

#[test]
fn what_locktorture_leaves_out_is_added() {
    let workload = shipped("locktorture").workload;
    let alone = workload.behaviour.prepare().corrected(1.0 / 613e-9, 1);
    assert!((alone - 1.0 / 1113e-9).abs() < 1.0, "half a microsecond an operation: {alone}");
    assert!((workload.score_of_rate(alone).value / 2.695e7 - 1.0).abs() < 0.001);
}

#[test]
fn a_job_is_scored_by_its_time() {
    let mut workload = shipped("kernbench-j3").workload;
    workload.job = Some(1_000_000);
    let score = workload.score_of_rate(4000.0);
    assert!((score.value - 250.0).abs() < 1e-9 && score.lower_is_better);
}
