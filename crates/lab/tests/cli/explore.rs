//! `stanchion explore` from the outside: the real binary, few schedules.
use crate::common::{json, refused, stanchion, text};
use std::process::Output;

fn explore(words: &[&str]) -> Output {
    stanchion(&[&["explore"], words].concat())
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

#[test]
fn sound_locks_pass_and_are_counted() {
    let output = explore(&["--schedules", "500", "--seed", "1"]);
    let text = stdout(&output);
    assert_eq!(code(&output), 0, "{text}");
    for lock in ["byte", "ticket", "qspin", "pv-qspin", "pv-qspin-kick-at-unlock"] {
        let row = text.lines().find(|line| line.split_whitespace().next() == Some(lock)).unwrap_or_default();
        assert!(row.contains(" 500 ") && row.ends_with("passed"), "{text}");
    }
}

#[test]
fn broken_locks_are_caught_as_stated() {
    let expected = explore(&["--lock", "busted", "--seed", "1", "--expect-failure"]);
    assert_eq!(code(&expected), 0, "{}", stdout(&expected));
    assert_eq!(code(&explore(&["--lock", "busted-try-lies", "--seed", "1"])), 1);
    let survived = explore(&["--lock", "byte", "--schedules", "50", "--seed", "1", "--expect-failure"]);
    assert_eq!(code(&survived), 1, "a sound lock is not caught");
    assert!(
        stdout(&survived).contains("expected to be caught as stated (see --list), and was not: byte"),
        "{}",
        stdout(&survived)
    );
}

#[test]
fn a_failure_comes_up_again_by_the_line_that_was_printed() {
    let found = explore(&["--lock", "busted-early-look", "--seed", "1", "--contexts", "3", "--jobs", "1"]);
    let text = stdout(&found);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("again, ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for line in lines {
        let args: Vec<&str> = line.split_whitespace().skip_while(|word| *word != "explore").skip(1).collect();
        let again = explore(&args);
        assert_eq!(code(&again), 1, "{line}\n{}", stdout(&again));
        assert!(stdout(&again).contains("busted-early-look: FAILED: nobody can run"), "{}", stdout(&again));
    }
}

#[test]
fn the_first_failure_does_not_depend_on_the_number_of_threads() {
    let verdict = |jobs| {
        let text = stdout(&explore(&["--lock", "busted-trusting", "--seed", "99", "--jobs", jobs]));
        let told = text.lines().filter_map(|line| line.split("FAILED").nth(1)).map(str::to_owned);
        told.collect::<Vec<_>>()
    };
    // When it is found, in the table, and below it.
    assert_eq!(verdict("1").len(), 3);
    assert_eq!(verdict("1"), verdict("4"));
}

#[test]
fn results_are_written_for_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("a plain name");
    let args = ["--lock", "qspin,busted-odd-word", "--schedules", "200", "--seed", "1", "--out", out];
    let output = explore(&args);
    assert_eq!(code(&output), 1);
    for ending in ["json", "csv", "html"] {
        let line = format!("written: {out}/explore.{ending}");
        assert!(stdout(&output).lines().any(|other| other == line), "{line}: {}", stdout(&output));
    }
    let file = json(&folder.path().join("explore.json"));
    assert_eq!(file["command"], "explore");
    assert_eq!(file["results"][0]["schedules"], 200);
    assert_eq!(file["results"][1]["failed"]["kind"], "transition");
    let page = std::fs::read_to_string(folder.path().join("explore.html")).expect("written");
    let seed = &file["results"][1]["failed"]["seed"];
    assert!(page.contains(&format!("<li>busted-odd-word: FAILED with seed {seed}: no row of ")), "{page}");
    let mut rows = csv::ReaderBuilder::new();
    let mut rows = rows.comment(Some(b'#')).from_path(folder.path().join("explore.csv")).expect("written");
    let names = rows.headers().expect("names").clone();
    let records: Vec<_> = rows.records().map(|row| row.expect("as long as the others")).collect();
    assert_eq!(records.len(), 2);
    for (record, result) in records.iter().zip(file["results"].as_array().expect("two")) {
        for name in ["lock", "schedules", "steps", "worst_overtaking", "bound", "seconds"] {
            let place = names.iter().position(|other| other == name).expect(name);
            let value = &result[name];
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(record[place], value, "{name}");
        }
    }
    let again = refused(&[&["explore"], &args[..]].concat());
    assert!(again.contains("exists already; use --force to replace it"), "{again}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    for (args, line) in [
        (&["--lock", "qspim"][..], "--lock: unknown lock 'qspim': nearest are qspin"),
        (&["--fault", "stave"], "unknown fault 'stave': nearest are starve"),
        (&["--contexts", "9"], "invalid value '9' for '--contexts <N>': must be a number from 1 to 8"),
        (
            &["--time", "5"],
            "invalid value '5' for '--time <TIME>': the time '5' has no unit: write for example",
        ),
        // Seeds that follow would run out of numbers, and the exploration would never end.
        (
            &["--schedules", "3", "--seed", "18446744073709551615"],
            "for '--seed <N>': must be a number from 0 to 9223372036854775807",
        ),
        (&["--replay", "5"], "--replay needs the lock"),
        (&["--lock", "byte", "--replay", "5", "--json", "x"], "--json"),
        (&["--lock", "byte", "--replay", "5", "--csv", "x"], "--csv"),
        (&["--lock", "byte", "--replay", "5", "--html", "x"], "--html"),
        (&["--lock", "byte", "--replay", "5", "--out", "x"], "--out"),
        (&["--lock", "byte", "--replay", "5", "--schedules", "2"], "--schedules"),
        (&["--lock", "byte", "--replay", "5", "--time", "2s"], "--time"),
        (&["--lock", "byte", "--replay", "5", "--jobs", "2"], "--jobs"),
        (&["--lock", "byte", "--replay", "5", "--seed", "2"], "--seed"),
        (&["--replay", "5", "--list"], "--list"),
        (&["--html", "/nonexistent/page"], "cannot write /nonexistent/page"),
        (&["--lock", "qspin", "--replay", "5/1/none/0x"], "'0x' is no turn"),
    ] {
        let told = refused(&[&["explore"], args].concat());
        assert!(told.contains(line), "{args:?}: {told}");
    }
}
