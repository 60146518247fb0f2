//! Guests that fail, die, hang or babble: each must end in one clear line and exit code 1.
use super::fake::{BOOT, FAILED, Fake, OVER, Printed, say, work};
use crate::common::json;
use core::time::Duration;
use std::time::Instant;

fn run(script: &str, more: &[&str]) -> Printed {
    let arguments =
        [&["--lock", "byte", "--limit", "1s", "--boot-limit", "2s", "--seed", "1"], more].concat();
    Fake::new(script).run(&arguments)
}

/// The reason in the line about the failure.
fn reason(printed: &Printed) -> String {
    assert_eq!(printed.code, Some(1), "{printed:?}");
    let line = printed.out.lines().find(|line| line.starts_with("byte FAILED, run 1: "));
    line.unwrap_or_else(|| panic!("{printed:?}")).to_owned()
}

#[test]
fn what_a_guest_says_of_its_end_is_passed_on() {
    let failure = r#"{"record":"failure","what":"exclusion","detail":"vCPU 1 and 2 are inside"}"#;
    let printed = reason(&run(&format!("{} exit 35", say(&[BOOT, failure, FAILED])), &[]));
    assert!(printed.contains("exclusion: vCPU 1 and 2 are inside"), "{printed}");
    let panic = r#"{"record":"panic","message":"assertion failed"}"#;
    let printed = run(&format!("{} exit 37", say(&[BOOT, "a line for people", panic])), &[]);
    assert!(reason(&printed).contains("the guest panicked: assertion failed"), "{printed:?}");
    assert!(printed.out.contains("  | a line for people"), "{printed:?}");
}

#[test]
fn a_guest_without_a_last_word_has_failed_whatever_the_exit_code() {
    for code in [0, 33] {
        let printed = run(&format!("{} exit {code}", say(&[BOOT, "triple", &work("byte", 3, true)])), &[]);
        assert!(reason(&printed).contains("died without a word: QEMU ended with exit code"), "{printed:?}");
        assert!(printed.out.contains("  | triple"), "{printed:?}");
    }
    let printed = reason(&run("echo 'qemu: cannot load kernel' >&2; exit 1", &[]));
    assert!(
        printed.contains("did not come up: QEMU ended with exit code 1: qemu: cannot load kernel"),
        "{printed}"
    );
}

#[test]
fn a_guest_that_hangs_is_killed_at_the_limit() {
    let start = Instant::now();
    let fake = Fake::new(&format!("{} sleep 600", say(&[BOOT, "last words"])));
    let path = fake.path("r.json");
    let printed = fake.run(&["--lock", "byte", "--limit", "1s", "--json", path.to_str().expect("text")]);
    assert!(reason(&printed).contains("killed, as it did not end at --limit"), "{printed:?}");
    assert_eq!(json(&path)["runs"][0]["state"], "killed");
    let printed = run("trap '' TERM; while :; do sleep 1; done", &[]);
    assert!(reason(&printed).contains("--boot-limit"), "{printed:?}");
    assert!(start.elapsed() < Duration::from_mins(2));
}

#[test]
fn garbage_is_no_result() {
    let half = format!("{} printf '{{\"record\":\"res'", say(&[BOOT]));
    assert!(reason(&run(&half, &[])).contains("only a part of a record"));
    let bad = r#"{"record":"result","elapsed_ns":-1}"#;
    assert!(reason(&run(&say(&[BOOT, bad, OVER]), &[])).contains("cannot be read"));
    let endless = format!(
        "{} printf '{{'; head -c 5000000 /dev/zero | tr '\\0' x; echo; {}",
        say(&[BOOT]),
        say(&[OVER])
    );
    let printed = reason(&run(&endless, &[]));
    assert!(printed.contains("a record without end") && printed.len() < 400, "{printed}");
}

#[test]
fn odd_bytes_between_records_do_no_harm() {
    let odd = format!(
        "printf '\\377\\033[2J\\000\\n\\r\\n'; {} printf '\\376\\n'; {} exit 33",
        say(&[BOOT]),
        say(&[&work("byte", 3, true), OVER])
    );
    let printed = run(&odd, &[]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(!printed.out.contains('\u{1b}'), "nothing of it reaches the terminal");
    let dies = format!("printf '\\377\\033[2J\\n'; {} exit 0", say(&[BOOT]));
    assert!(!run(&dies, &[]).out.contains('\u{1b}'), "not even to explain a failure");
}

#[test]
fn neither_do_odd_texts_and_numbers_within_records() {
    let boot = BOOT.replace("TCG", "a\\u001b[2J");
    let stat = r#"{"record":"stat","lock":"a","line":"b\u001b[2J"}"#;
    let test = r#"{"record":"test","name":"c\u001b[2J","outcome":"failed"}"#;
    let most = work("d\\u001b[2J", 3, true).replace("3000000000,\"slow", "18446744073709551615,\"slow");
    assert!(most.contains("18446744073709551615"));
    for records in [&[boot.as_str(), stat, &most, OVER][..], &[&boot, test, OVER]] {
        let printed = run(&format!("{} exit 33", say(records)), &[]);
        assert_eq!(printed.code, Some(i32::from(records.contains(&test))), "{printed:?}");
        assert!(!printed.out.contains('\u{1b}') && !printed.err.contains('\u{1b}'), "{printed:?}");
    }
}

#[test]
fn one_that_fails_does_not_keep_the_others_from_running() {
    let script = format!(
        "case $words in *lock=byte*) exit 0;; esac\n{} exit 33",
        say(&[BOOT, &work("x", 3, true), OVER])
    );
    let printed = Fake::new(&script).run(&["--lock", "byte,qspin", "--limit", "1s"]);
    assert!(reason(&printed).contains("did not come up"), "{printed:?}");
    assert!(printed.out.lines().any(|line| line.contains("qspin") && line.contains("3.00")), "{printed:?}");
}

#[test]
fn an_expected_failure_must_be_found_by_the_guest_itself() {
    let failure = r#"{"record":"failure","what":"exclusion","detail":"two inside"}"#;
    let caught = format!("{} exit 35", say(&[BOOT, failure, FAILED]));
    assert_eq!(run(&caught, &["--expect-failure"]).code, Some(0));
    for survives in [format!("{} exit 33", say(&[BOOT, &work("byte", 3, true), OVER])), "exit 0".to_owned()] {
        let printed = run(&survives, &["--expect-failure"]);
        assert_eq!(printed.code, Some(1), "{printed:?}");
        assert!(printed.out.contains("survived: byte"), "{printed:?}");
    }
}
