//! `stanchion fit` and `stanchion reproduce`, through the real program: what a fit may not open, and stale
//! fits.
use crate::common::{refused, stanchion, text};
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
}

#[test]
fn whole_cells_of_whole_tables_are_registered() {
    assert!(refused(&["reproduce", "--register", "--quick"]).contains("--quick"));
    assert!(refused(&["reproduce", "--register", "--cell", "qspin"]).contains("--cell"));
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
    let fit = |how: &str| stanchion(&["fit", how, "--table", "xen-percpu", "--seeds", "1", "--dir", dir]);
    let sound = fit("--check");
    assert_eq!(sound.status.code(), Some(0), "{sound:?}");
    assert!(text(&sound.stdout).ends_with("fits: 1; stale: none\n"), "{sound:?}");

    let workload = fs::read_to_string(at("workloads/grant-table.toml")).expect("it was copied");
    let line = workload.lines().find(|line| line.starts_with("bytes = ")).expect("what is fitted");
    fs::write(at("workloads/grant-table.toml"), workload.replacen(line, "bytes = 3000", 1))
        .expect("it is ours");
    let stale = fit("--check");
    let text = text(&stale.stdout);
    assert_eq!(stale.status.code(), Some(1), "{text}");
    assert!(text.contains("stale: the workload changed since the fit of "), "{text}");
    assert!(text.ends_with("fits: 1; stale: xen-percpu\n"), "{text}");

    assert_eq!(fit("--record").status.code(), Some(0));
    assert_eq!(fit("--check").status.code(), Some(0));
}

#[test]
fn cells_and_parameters_of_a_fit_are_in_its_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().to_str().expect("a name in ASCII");
    let words = ["fit", "--table", "xen-percpu", "--seeds", "1", "--steps", "0", "--dry-run", "--out", out];
    let told = stanchion(&words);
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let text = text(&told.stdout);
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_str(&read("fit.json")).expect("JSON");
    assert_eq!((&json["complete"], &json["passed"]), (&true.into(), &true.into()), "{json}");
    let (cell, parameter) = (&json["cells"][0], &json["parameters"][0]);
    assert_eq!((&cell["table"], &cell["column"]), (&"xen-percpu".into(), &"rw-simple".into()), "{cell}");
    let [published, simulated, error] =
        ["published", "simulated", "error"].map(|name| cell[name].as_f64().expect("a number"));
    assert!((simulated / published - 1.0 - error).abs() < 1e-9, "{cell}");
    assert_eq!(parameter["value"], parameter["before"], "nothing moved: {parameter}");
    let name = parameter["parameter"].as_str().expect("a name");
    for place in [&text, &read("fit.html")] {
        assert!(place.contains(name) && place.contains("missed") != place.contains("passed"), "{place}");
    }
    let csv = read("fit.csv");
    let rows: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows[0], "row,table,column,published,simulated,error,error_before");
    assert!(rows.len() == 2 && rows[1].contains(",xen-percpu,rw-simple,"), "{csv}");
}
