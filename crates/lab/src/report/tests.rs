//! Results that are compared, and those that are not.
use super::compare::Report;
use super::forms::{Results, plain_name};
use super::told::{doubts, page, text};
use lab_kit::export::json;

fn results(command: &str, text: &str) -> Results {
    let mut value: serde_json::Value = serde_json::from_str(text).expect("JSON");
    value["provenance"]["arguments"] =
        serde_json::json!([command, "--seed=1", "--out", "x", "--json=y", "-q"]);
    Results::parse(command, &value.to_string()).expect("a result")
}

#[test]
fn files_that_fuzzing_begins_with_are_results() {
    for path in crate::tests::corpus("report") {
        assert!(Results::read(&path).is_ok(), "{}", path.display());
    }
}

#[test]
fn a_round_that_is_no_number_is_refused_in_one_line() {
    for (file, place, figure) in [
        ("bench", "/cells/0/throughput/rounds/0", "throughput of "),
        ("bench", "/cells/0/throughput", "throughput of "),
        ("sim", "/cells/0/figures/fairness/values/0", "fairness of "),
        ("run", "/locks/0/runs/1", "wall of "),
        ("run", "/locks/0/runs/1/cpu_s", "cpu of "),
        ("advise", "/cells/0/rate/values", "throughput of "),
        ("guest", "/runs/0/work/elapsed_ns", "throughput of "),
        ("torture", "/results/0/finished/jain", "fairness of "),
        ("explore", "/results/0/steps", "steps of "),
        ("calibrate", "/figures/0/rounds/0", "values of "),
        ("reproduce", "/cells/0/values/0", "simulated of "),
        ("fit", "/cells/0/simulated", "simulated of "),
    ] {
        let path =
            crate::tests::corpus("report").into_iter().find(|path| path.ends_with(format!("{file}.json")));
        let text = std::fs::read_to_string(path.expect("a file of each")).expect("readable");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        *value.pointer_mut(place).unwrap_or_else(|| panic!("{file}: {place}")) = "1e3\n".into();
        let refusal =
            Results::parse("x", &value.to_string()).err().unwrap_or_else(|| panic!("{file}: {place}"));
        assert!(refusal.contains(figure) && !refusal.contains('\n'), "{refusal}");
        assert!(refusal.ends_with("has '1e3 ' in place of a number"), "{refusal}");
    }
}

#[test]
fn what_is_no_row_is_refused_by_its_number() {
    let mut value = serde_json::to_value(crate::bench::tests::full()).expect("JSON");
    value["provenance"]["arguments"] = serde_json::json!(["bench"]);
    value["cells"][1] = 5.into();
    let refusal = Results::parse("x", &value.to_string()).err().expect("refused");
    assert_eq!(refusal, "x: number 2 of its cells is no row");
}

#[test]
fn an_error_counts_by_its_size_and_nothing_else_loses_its_sign() {
    let mut value: serde_json::Value =
        serde_json::from_str(&json(&crate::bench::tests::full())).expect("JSON");
    value["schema"] = 3.into();
    value["cells"] = serde_json::json!([
        { "table": "t", "row": "r", "lock": "l", "values": [-2.0], "relative_error": -0.5 }
    ]);
    let results = results("reproduce", &value.to_string());
    assert_eq!(results.rows.into_values().collect::<Vec<_>>(), [[[-2.0], [0.5]]]);
}

#[test]
fn ratios_of_rounds_or_seeds_of_two_kinds_are_a_range_as_the_values_are() {
    let told = |simulated: bool, values: [f64; 2]| {
        let command = if simulated { "advise" } else { "guest" };
        let file = |values: [f64; 2]| {
            let rows = if simulated {
                serde_json::json!([{ "lock": "l", "rate": { "values": values } }])
            } else {
                let row = |value: f64| serde_json::json!({ "lock": "l", "work": { "operations": value, "elapsed_ns": 1e9 } });
                values.map(row).into()
            };
            let mut value: serde_json::Value =
                serde_json::from_str(&json(&crate::bench::tests::full())).expect("JSON");
            value["cells"] = rows.clone();
            value["runs"] = rows;
            results(command, &value.to_string())
        };
        let report = Report::of(vec![file([100.0, 101.0]), file(values)], &[], &[]).expect("alike");
        assert!(report.figures[0].overall[0].is_some(), "files have numbers");
        let (text, page) = (text(&report, true), page(&report));
        let row = text.lines().find(|line| line.trim_start().starts_with("l ")).expect("a row").to_owned();
        let verdict = text.lines().find(|line| line.contains(" times A ")).expect("a verdict").to_owned();
        let pointed = page.split("<title>B to A, l: ").nth(1).expect("a mark");
        let pointed = pointed.split("</title>").next().expect("its end").to_owned();
        assert!(row.trim_end().ends_with(&format!(" {pointed}")), "{row}: {pointed}");
        (row, verdict)
    };
    let (row, verdict) = told(true, [400.0, 700.0]);
    assert!(row.contains("400 /s..700 /s") && row.trim_end().ends_with(" 4.00..6.93"), "{row}");
    assert!(verdict.contains("B is 4.00..6.93 times A in 1 row"), "{verdict}");
    let (row, verdict) = told(false, [400.0, 700.0]);
    assert!(row.contains("400 /s..700 /s") && row.trim_end().ends_with(" 3.96..7.00"), "{row}");
    assert!(verdict.contains("B is 3.96..7.00 times A in 1 row"), "{verdict}");
    for simulated in [false, true] {
        let (row, verdict) = told(simulated, [400.0, 410.0]);
        assert!(!row.contains("..") && row.trim_end().ends_with(')') && verdict.contains("–"), "{row}");
    }
}

#[test]
fn a_tree_with_changes_is_told_with_its_commit() {
    let text = json(&crate::bench::tests::full());
    let doubts = |commit: &str, tree: &str| {
        let mut file = results("bench", &text);
        file.provenance.commit = commit.to_owned();
        file.provenance.tree = tree.to_owned();
        let doubts = doubts(&Report::of(vec![file], &[], &[]).expect("a file"));
        doubts.into_iter().filter(|doubt| doubt.contains("commit")).collect::<Vec<_>>()
    };
    assert_eq!(doubts("abc", "clean"), [""; 0]);
    assert_eq!(doubts("abc", "dirty"), ["bench was built from a tree with changes, of commit abc"]);
    for (commit, tree) in [("unknown", "dirty"), ("abc", "unknown"), ("unknown", "unknown")] {
        assert_eq!(doubts(commit, tree), ["bench does not say which commit it is of"], "{commit}, {tree}");
    }
}

#[test]
fn help_lists_no_lock_and_breaks_no_line_of_exit_codes() {
    use clap::Args as _;
    let mut command = super::Args::augment_args(clap::Command::new("report"));
    let help = command.render_long_help().to_string();
    assert!(!help.to_lowercase().contains("possible values"), "{help}");
    let (_, codes) = help.split_once("Exit codes: ").expect("they are told");
    assert!(codes.lines().all(|line| line.chars().count() <= 88), "{codes}");
    assert!(codes.contains("; 2 bad input:\na file is no result, or they are unlike"), "{codes}");
}

#[test]
fn files_that_changed_are_unlike() {
    let text = json(&crate::bench::tests::full());
    let with = |files: &[(&str, &str)]| {
        let mut results = results("bench", &text);
        let files = files.iter().map(|&(name, digest)| (name.to_owned(), digest.to_owned()));
        results.provenance.files = files.collect();
        results
    };
    let first = || with(&[("machine x", "1"), ("workload short", "shipped")]);
    let compared = |other, unlike: &[String]| Report::of(vec![first(), other], unlike, &[]);
    assert!(compared(first(), &[]).is_ok() && compared(with(&[]), &[]).is_ok(), "older ones know none");
    assert!(compared(with(&[("machine x", "1"), ("machine y", "2")]), &[]).is_ok(), "it has more rows");
    let other = || with(&[("machine x", "2"), ("workload short", "shipped")]);
    let refusal = compared(other(), &[]).err().expect("refused");
    assert!(refusal.contains("differ in files, machine x '1' and '2'; --unlike files"), "{refusal}");
    let allowed = compared(other(), &["files".to_owned()]).expect("allowed");
    assert!(doubts(&allowed).iter().any(|doubt| doubt == "the files differ in files"));
}

#[test]
fn a_boot_of_the_guest_is_a_round() {
    let mut report = crate::guest::tests::report();
    report.runs.push(report.runs[0].clone());
    let text = json(&report);
    let report = Report::of(vec![results("guest", &text), results("guest", &text)], &[], &[]).expect("alike");
    for figure in &report.figures {
        assert!(figure.rows.iter().any(|line| line.values[0].is_some()), "{}", figure.name);
    }
    let most = report.figures.iter().flat_map(|figure| &figure.rows).flat_map(|line| &line.values).flatten();
    assert_eq!(most.map(|value| value.rounds.len()).max(), Some(2));
}

#[test]
fn files_are_alike_whatever_was_written_and_unlike_on_another_machine() {
    let text = json(&crate::bench::tests::full());
    let first = || results("bench", &text);
    let mut other = first();
    other.provenance.arguments = ["bench", "--html", "z", "--sort=cpu"].map(String::from).to_vec();
    assert!(Report::of(vec![first(), other], &[], &[]).is_ok());
    let mut other = first();
    other.asked.insert("time_ms".to_owned(), "7".to_owned());
    let refusal = Report::of(vec![first(), other], &[], &[]).err().expect("refused");
    assert!(refusal.contains("arguments, time_ms '") && refusal.contains("and '7'"), "{refusal}");
    let mut other = first();
    other.provenance.cpus += 1;
    let refusal = Report::of(vec![first(), other], &[], &[]).err().expect("refused");
    assert!(refusal.contains("differ in machine") && refusal.contains("--unlike machine"), "{refusal}");
}

#[test]
fn every_figure_of_the_benchmark_is_found() {
    let mut found: Vec<&str> = Vec::new();
    for report in [crate::bench::tests::full(), crate::bench::tests::full_rw()] {
        let text = json(&report);
        let report =
            Report::of(vec![results("bench", &text), results("bench", &text)], &[], &[]).expect("alike");
        found.extend(report.figures.iter().map(|figure| figure.name));
    }
    for figure in ["throughput", "cpu", "p999", "reads", "writes"] {
        assert!(found.contains(&figure), "{figure}: {found:?}");
    }
}

#[test]
fn what_ablate_measured_and_simulated_is_as_of_the_benchmark_and_the_simulator() {
    for path in crate::tests::corpus("report") {
        let command = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        if !["bench", "sim"].contains(&command) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let files = ["ablate", command].map(|command| results(command, &text));
        let names = files.each_ref().map(|file| file.names.clone());
        assert!(!names[0].is_empty() && names[0] == names[1]);
        let report = Report::of(files.into(), &[], &[]).expect("alike");
        assert!(report.figures.iter().any(|figure| figure.name == "throughput"));
    }
}

#[test]
fn a_broken_lock_has_no_figures() {
    let text = json(&crate::bench::tests::full());
    let broken = text.replacen("\"state\": \"measured\"", "\"state\": \"broken\"", 1);
    assert_ne!(text, broken);
    let report =
        Report::of(vec![results("bench", &broken), results("bench", &broken)], &[], &[]).expect("alike");
    let doubts = doubts(&report);
    assert!(doubts.iter().any(|doubt| doubt.contains("1 row left out")), "{doubts:?}");
    let name = &report.files[0].unsound[0];
    let lines = report.figures.iter().flat_map(|figure| &figure.rows);
    assert!(lines.into_iter().all(|line| plain_name(&line.name) != *name), "{name}");
}
