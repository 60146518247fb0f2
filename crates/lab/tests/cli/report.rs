//! `stanchion report` as it is called, on results of the commands themselves.
use crate::common::{json, passed, refused, stanchion, text};
use std::fs;
use std::path::Path;

/// What a command wrote into this file as JSON.
fn result(dir: &Path, name: &str, words: &[&str]) -> String {
    let path = dir.join(name).display().to_string();
    passed(&[words, &["--json", &path]].concat());
    path
}

const SIM: &[&str] =
    &["sim", "-q", "--time", "1ms", "--seeds", "5", "--threads", "1,2", "--lock", "byte,ticket"];

#[test]
fn every_figure_has_a_verdict_and_a_table() {
    let dir = tempfile::tempdir().expect("a directory");
    for (words, figures, name) in [
        (SIM, &["throughput", "p999", "fairness"][..], "small-vm"),
        (
            &["ablate", "-q", "--machine", "small-vm", "--threads", "2", "--time", "1ms", "--rounds", "2"],
            &["throughput", "p999", "fairness"],
            "small-vm",
        ),
        (&["reproduce", "-q", "--quick", "--table", "locktorture"], &["simulated", "error"], "locktorture"),
        (
            &["torture", "-q", "--lock", "byte,qrw", "--time", "200ms"],
            &["writes", "reads", "fairness"],
            "qrw",
        ),
        (
            &["explore", "-q", "--lock", "byte,ticket", "--schedules", "100"],
            &["bypass", "schedules", "steps"],
            "ticket",
        ),
    ] {
        let file = result(dir.path(), words[0], words);
        let text = passed(&["report", &file, &file, "--figure", &figures.join(",")]);
        for figure in figures {
            assert!(text.contains(&format!("\n{figure} (")), "{figure}: {text}");
        }
        // Lines that name the file are as long as its name.
        let rows = text.lines().filter(|line| line.contains(name) && !line.contains(&file[..4])).count();
        assert!(rows > 0 && !text.contains("no row"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100 || line.contains(&file[..4])), "{text}");
    }
}

#[test]
fn the_same_simulation_has_ratios_of_one_and_another_one_has_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let [one, two] = ["1", "2"].map(|name| result(dir.path(), name, SIM));
    let slow = result(dir.path(), "3", &[SIM, &["--set", "workload.critical=2us"]].concat());
    let out = dir.path().join("out");
    let output = stanchion(&[
        "report",
        &one,
        &two,
        &slow,
        "--unlike",
        "arguments",
        "--out",
        &out.display().to_string(),
    ]);
    let (text, doubts) = (text(&output.stdout), text(&output.stderr));
    assert!(text.contains("B is 1.00 (1.00–1.00) times A in 4 rows"), "{text}");
    assert!(doubts.contains("warning: the files differ in arguments"), "{doubts}");
    assert!(text.contains(" times A in 4 rows: 0 more, 4 less, 0 unclear"), "{text}");
    let report = json(&out.join("report.json"));
    let throughput = &report["figures"][0];
    assert_eq!(
        (&throughput["name"], throughput["rows"].as_array().map(Vec::len)),
        (&"throughput".into(), Some(4))
    );
    assert!(throughput["overall"][1]["ratio"].as_f64().is_some_and(|ratio| ratio < 0.5), "{throughput}");
    let csv = fs::read_to_string(out.join("report.csv")).expect("written");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(csv.as_bytes());
    let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
    assert_eq!(rows.len(), 3 * 3 * 4);
    let page = fs::read_to_string(out.join("report.html")).expect("written");
    assert_eq!(page.matches("class=\"error\"").count(), 2 * 4 * 2, "B and C");
}

#[test]
fn a_machine_whose_file_has_changed_is_another_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let machine = dir.path().join("mine.toml").display().to_string();
    let shipped = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/small-vm.toml"));
    let shipped = shipped.expect("in the tree");
    let simulated = |name: &str, text: &str| {
        fs::write(&machine, text).expect("written");
        result(dir.path(), name, &[SIM, &["--machine", &machine]].concat())
    };
    let files = [simulated("one", &shipped), simulated("two", &shipped)];
    passed(&["report", &files[0], &files[1]]);
    let other = simulated("three", &(shipped + "# changed\n"));
    let refusal = refused(&["report", &files[0], &other]);
    assert!(refusal.contains("differ in files, machine small-vm '"), "{refusal}");
    passed(&["report", &files[0], &other, "--unlike", "files"]);
    let shipped = result(dir.path(), "four", SIM);
    assert!(refused(&["report", &files[0], &shipped]).contains("and 'shipped'"));
}

#[test]
fn unlike_results_and_what_is_none_are_refused_in_one_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let sim = result(dir.path(), "sim", SIM);
    let other = result(dir.path(), "other", &[SIM, &["--seed", "7"]].concat());
    let tiny = "bench -q --time 5ms --rounds 1 --threads 1 --profile short --peers std";
    let bench = result(dir.path(), "bench", &tiny.split(' ').collect::<Vec<_>>());
    let write = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).expect("written");
        dir.path().join(name).display().to_string()
    };
    let (text, nothing) = (write("text", "a,b"), write("nothing", "{}"));
    let newer = fs::read_to_string(&sim).expect("there").replacen("\"schema\": 1", "\"schema\": 99", 1);
    let newer = write("newer", &newer);
    let other_command = fs::read_to_string(&sim).expect("there").replacen("\"sim\"", "\"man\"", 1);
    let other_command = write("man", &other_command);
    for (words, told) in [
        (&[&*sim][..], "2 values required"),
        (&[&sim, "/no/such"], "/no/such: No such file"),
        (&[&sim, &text], "text: no JSON"),
        (&[&sim, &nothing], "nothing: no result of a command"),
        (&[&sim, &newer], "its schema is 99, and this stanchion knows 1"),
        (&[&sim, &other_command], "of 'man', which has no figures to compare"),
        (&[&sim, "/dev/zero"], "/dev/zero is no file of at most 256 MiB"),
        (&[&sim, &bench], "they have no figure in common"),
        (&[&sim, &other], "differ in arguments"),
        (&[&sim, &other, "--unlike", "machin"], "unknown part of a result 'machin': nearest are machine"),
        (&[&sim, &sim, "--figure", "troughput"], "unknown figure 'troughput'"),
        (&[&sim, &sim, "--lock", "qspin"], "unknown lock 'qspin'"),
        (&[&sim, &sim, "--json", &text], "exists already"),
    ] {
        let error = refused(&[&["report"], words].concat());
        assert!(error.contains(told), "{words:?}: {error}");
    }
}
