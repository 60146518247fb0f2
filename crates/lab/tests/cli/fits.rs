//! `stanchion fit` and `stanchion reproduce`, through the real program: what a fit may not open, and stale
//! fits.
use crate::common::{passed, refused, stanchion, text};
use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn columns_that_are_not_to_fit_are_refused() {
    let fit = |words: &[&str]| refused(&[&["fit"], words].concat());
    let seen = fit(&["--table", "locktorture", "--lock", "cna"]);
    assert_eq!(seen, "stanchion: a fit opens of locktorture the column qspin only, not cna");
    let blind = fit(&["--table", "litl-dedup-i48"]);
    assert_eq!(blind, "stanchion: litl-dedup-i48 has no column to fit");
    assert!(fit(&[]).contains("--table"));
    assert!(fit(&["--check", "--record"]).contains("--record"));
    let nowhere = fit(&["--table", "xen-percpu", "--dir", "/nonexistent"]);
    assert_eq!(nowhere, "stanchion: --dir /nonexistent: no directory");
}

#[test]
fn whole_cells_of_whole_tables_are_registered() {
    assert!(refused(&["reproduce", "--register", "--quick"]).contains("--quick"));
    assert!(refused(&["reproduce", "--register", "--cell", "qspin"]).contains("--cell"));
    let nowhere = refused(&["reproduce", "--table", "xen-percpu", "--register", "/nonexistent"]);
    assert!(nowhere.contains("--register: /nonexistent/published/predictions.toml"), "{nowhere}");
    assert!(refused(&["reproduce", "--cell", ""]).contains("cell '' names nothing"));
}

#[test]
fn a_stale_fit_is_named_until_it_is_recorded_anew() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |path: &str| directory.path().join(path);
    for path in ["published/fits.toml", "workloads/grant-table.toml"] {
        fs::create_dir_all(at(path).parent().expect("it has one")).expect("it can be made");
        fs::copy(Path::new(ROOT).join(path), at(path)).expect("it is in the tree");
    }
    let dir = directory.path().to_str().expect("a name in ASCII");
    let json = at("fit.json");
    let json = json.to_str().expect("a name in ASCII");
    let fit = |how: &str| {
        let table = ["--table", "xen-percpu", "--seeds", "1"];
        stanchion(&[&["fit", how, "--dir", dir, "--json", json, "--force"], &table[..]].concat())
    };
    let sound = fit("--check");
    assert_eq!(sound.status.code(), Some(0), "{sound:?}");
    assert!(text(&sound.stdout).ends_with("fits: 1; stale: none\n"), "{sound:?}");

    let workload = fs::read_to_string(at("workloads/grant-table.toml")).expect("it was copied");
    let line = workload.lines().find(|line| line.starts_with("critical = ")).expect("what is fitted");
    fs::write(at("workloads/grant-table.toml"), workload.replacen(line, "critical = 300", 1))
        .expect("it is ours");
    let stale = fit("--check");
    let text = text(&stale.stdout);
    assert_eq!(stale.status.code(), Some(1), "{text}");
    assert!(text.contains("stale: the workload changed since the fit of "), "{text}");
    let json = fs::read_to_string(at("fit.json")).expect("it was asked for");
    assert!(json.contains("\"xen-percpu: the workload changed since the fit of "), "{json}");
    assert!(text.ends_with("fits: 1; stale: xen-percpu\n"), "{text}");

    assert_eq!(fit("--record").status.code(), Some(0));
    assert_eq!(fit("--check").status.code(), Some(0));
}

#[test]
fn cells_and_parameters_of_a_fit_are_in_its_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().to_str().expect("a name in ASCII");
    let table = "pvq-westmere-ex-pinned";
    let words = ["fit", "--table", table, "--seeds", "1", "--steps", "0", "--dry-run", "--out", out];
    let told = stanchion(&words);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let text = text(&told.stdout);
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_str(&read("fit.json")).expect("JSON");
    assert_eq!((&json["complete"], &json["fits"][0]["passed"]), (&true.into(), &true.into()), "{json}");
    let (cell, parameter) = (&json["cells"][0], &json["parameters"][0]);
    assert_eq!((&cell["table"], &cell["lock"]), (&table.into(), &"byte-rmw".into()), "{cell}");
    let [published, simulated, error] =
        ["published", "simulated", "relative_error"].map(|name| cell[name].as_f64().expect("a number"));
    assert!((simulated / published - 1.0 - error).abs() < 1e-9, "{cell}");
    assert_eq!(parameter["value"], parameter["before"], "nothing moved: {parameter}");
    let name = parameter["parameter"].as_str().expect("a name");
    for place in [&text, &read("fit.html")] {
        assert!(place.contains(name) && place.contains("missed") != place.contains("passed"), "{place}");
    }
    let file = directory.path().join("fit.json").display().to_string();
    let side_by_side = passed(&["report", &file, &file]);
    assert!(side_by_side.contains("simulated") && side_by_side.contains(table), "{side_by_side}");
    let csv = read("fit.csv");
    let rows: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows[0], "table,lock,row,unit,published,simulated,relative_error,relative_error_before");
    assert!(rows.len() == 2 && rows[1].starts_with("pvq-westmere-ex-pinned,byte-rmw,32,s,165.4,"), "{csv}");
}

#[test]
fn a_fit_that_cannot_be_recorded_is_told_all_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let (dir, json) = (directory.path(), directory.path().join("fit.json"));
    fs::write(dir.join("published"), "no directory").expect("written");
    let (dir, json) = (dir.to_str().expect("a name in ASCII"), json.to_str().expect("a name in ASCII"));
    let words = ["fit", "--record", "--table", "xen-percpu", "--seeds", "1", "--dir", dir, "--json", json];
    let told = stanchion(&words);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    assert!(text(&told.stderr).contains("published/fits.toml"), "{told:?}");
    assert!(text(&told.stdout).contains("xen-percpu workload.critical"), "{told:?}");
    assert!(fs::read_to_string(json).expect("it was asked for").contains("\"xen-percpu\""));
}
