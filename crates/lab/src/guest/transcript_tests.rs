//! What transcripts of good and bad guests come to.
use super::*;

const BOOT: &str = r#"{"record":"boot","version":1,"vcpus":4,"nodes":1,"hypervisor":"TCG","tsc_hz":1,"x2apic":true,"steal_time":false,"kick_hypercall":false,"yield_hypercall":false,"boot_ns":5}"#;
const OVER: &str = r#"{"record":"end","ok":true}"#;

fn transcript(lines: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for line in lines {
        transcript.take(&Line { text: (*line).to_owned(), cut: false, torn: false });
    }
    transcript
}

fn result(finished: bool, correct: bool) -> String {
    format!(
        r#"{{"record":"result","workload":"build","lock":"byte","elapsed_ns":5,"operations":2,"finished":{finished},"correct":{correct}}}"#
    )
}

fn state(transcript: &Transcript, ending: Ending, code: i32) -> (State, Option<String>) {
    transcript.state(ending, Some(code), &format!("exit code {code}"))
}

fn reason(transcript: &Transcript, ending: Ending) -> String {
    state(transcript, ending, 0).1.expect("a reason")
}

#[test]
fn a_sound_run_is_finished_or_unfinished_by_its_own_word() {
    let own =
        |finished, end| state(&transcript(&[BOOT, "log", &result(finished, true), end]), Ending::Own, 33).0;
    assert_eq!(own(true, OVER), State::Finished);
    assert_eq!(own(false, OVER), State::Unfinished);
    assert_eq!(own(false, r#"{"record":"end","ok":false}"#), State::Unfinished);
    assert_eq!(state(&transcript(&[BOOT, OVER]), Ending::Own, 33), (State::Finished, None));
}

#[test]
fn a_guest_that_was_killed_after_its_last_word_is_sound() {
    assert_eq!(state(&transcript(&[BOOT, OVER]), Ending::Overdue, 0), (State::Finished, None));
    assert_eq!(state(&transcript(&[BOOT]), Ending::Overdue, 0).0, State::Killed);
}

#[test]
fn no_bad_end_passes_for_a_good_one() {
    let own = |lines: &[&str]| reason(&transcript(lines), Ending::Own);
    assert!(own(&[]).contains("did not come up: exit code 0"));
    assert!(own(&[BOOT, "last words"]).contains("died without a word"));
    assert_eq!(own(&[BOOT, OVER]), "the guest said that all is well, but exit code 0");
    assert!(own(&[BOOT, BOOT, OVER]).contains("booted twice"));
    assert!(own(&[BOOT, r#"{"record":"end","ok":false}"#]).contains("not why"));
    assert!(own(&[BOOT, "{\"record\":", OVER]).contains("cannot be read"));
    let panicked = own(&[BOOT, r#"{"record":"panic","message":"no\nway"}"#]);
    assert!(panicked.contains("panicked: no") && !panicked.contains('\n'), "{panicked}");
    let failed = r#"{"record":"test","name":"a","outcome":"failed"}"#;
    let content = |lines: &[&str]| {
        let (state, reason) = state(&transcript(lines), Ending::Own, 33);
        assert_eq!(state, State::Failed);
        reason.expect("a reason")
    };
    assert!(content(&[OVER]).contains("without having booted"));
    assert!(content(&[BOOT, &result(true, false), OVER]).contains("byte is BROKEN"));
    assert!(content(&[BOOT, failed, OVER]).contains("1 of 1 tests failed, the first: a"));
    assert!(own(&[BOOT, failed, r#"{"record":"end","ok":false}"#]).contains("1 of 1 tests"));
    assert!(own(&[&BOOT.replace("\"version\":1", "\"version\":2"), OVER]).contains("cargo xtask guest"));
    assert!(reason(&transcript(&[]), Ending::NotUp).contains("--boot-limit"));
}

#[test]
fn files_that_fuzzing_begins_with_are_understood() {
    for path in crate::tests::corpus("serial") {
        let text = std::fs::read_to_string(&path).expect("readable");
        let transcript = transcript(&text.lines().collect::<Vec<_>>());
        assert!(transcript.told.boot.is_some() && transcript.end.is_some(), "{}", path.display());
        assert!(transcript.failure.is_none_or(|what| what.starts_with("exclusion: ")), "{}", path.display());
    }
}

#[test]
fn torn_and_endless_records_are_named() {
    let mut transcript = Transcript::default();
    transcript.take(&Line { text: "{\"record\":\"e".to_owned(), cut: false, torn: true });
    transcript.take(&Line { text: format!("{{{}", "x".repeat(9000)), cut: true, torn: false });
    let printed = reason(&transcript, Ending::Own);
    assert!(printed.contains("only a part of a record") && printed.ends_with("(and 1 more)"), "{printed}");
}

#[test]
fn a_flood_of_records_is_not_kept() {
    let test = r#"{"record":"test","name":"a","outcome":"ok"}"#;
    let mut lines = vec![BOOT.to_owned()];
    for number in 0..10_000 {
        lines.extend([test.to_owned(), "{".to_owned()]);
        lines.push(format!(r#"{{"record":"stat","lock":"a","line":"{number}: 1"}}"#));
    }
    lines.push(OVER.to_owned());
    let transcript = transcript(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(transcript.end.is_some() && transcript.told.tests.len() < RECORDS_MOST);
    assert_eq!(transcript.told.stats.len(), STATS_MOST);
    let printed = reason(&transcript, Ending::Own);
    assert!(printed.contains("cannot be read") && printed.ends_with("more)"), "{printed}");
}

#[test]
fn the_last_lines_are_kept_and_the_last_of_each_stat() {
    let mut lines = vec![BOOT.to_owned()];
    lines.extend((0..100).map(|number| format!("line {number}")));
    for number in 1..3 {
        for kind in ["Writes", "Reads "] {
            lines.push(format!(r#"{{"record":"stat","lock":"qrw","line":"{kind}: Total: {number}"}}"#));
        }
    }
    let transcript = transcript(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(transcript.log.last().map(String::as_str), Some("line 99"));
    assert_eq!(transcript.log.len(), LAST_LINES);
    assert_eq!(transcript.told.stats, ["Writes: Total: 2", "Reads : Total: 2"]);
}

#[test]
fn caught_is_only_what_the_guest_has_found_itself() {
    let found = r#"{"record":"failure","what":"exclusion","detail":"two inside"}"#;
    let failed = r#"{"record":"end","ok":false}"#;
    assert!(transcript(&[BOOT, found, failed]).has_caught());
    assert!(transcript(&[BOOT, &result(true, false), failed]).has_caught());
    let panic = r#"{"record":"panic","message":"two inside"}"#;
    let test = r#"{"record":"test","name":"a","outcome":"failed","detail":"two inside"}"#;
    assert!(transcript(&[BOOT, test, panic]).has_caught());
    assert!(!transcript(&[BOOT, panic]).has_caught(), "the kernel may be at fault");
    assert!(!transcript(&[BOOT, found]).has_caught(), "it died");
    assert!(!transcript(&[BOOT, "{", failed]).has_caught(), "its records are broken");
    assert!(!transcript(&[BOOT, failed]).has_caught(), "it does not say why");
    for what in ["order", "exception"] {
        let other = found.replace("exclusion", what);
        assert!(!transcript(&[BOOT, &other, failed]).has_caught(), "{what} is no fault of the lock");
    }
}
