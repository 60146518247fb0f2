//! Guests that do what they should.
use super::fake::{BOOT, Fake, OVER, say, stanchion, work};
use crate::common::json;
use std::fs;

/// Takes longer under ticket, and is never done under byte.
fn build() -> Fake {
    let over =
        [("ticket", "9", true), ("byte", "30", false), ("qspin", "3", true)].map(|(lock, s, finished)| {
            let text = say(&[BOOT, &work(lock, s.parse().expect("a number"), finished), OVER]);
            format!("*lock={lock}\\ *) {text};;\n")
        });
    Fake::new(&format!(
        "echo \"$words\" >> \"$(dirname \"$0\")/words\"\ncase $words in\n{}esac\nexit 33",
        over.concat()
    ))
}

#[test]
fn a_build_is_told_by_lock_and_written_in_all_formats() {
    let fake = build();
    let out = fake.path("out");
    let printed = fake.run(&[
        "--lock",
        "qspin,ticket,byte",
        "--rounds",
        "2",
        "--seed",
        "7",
        "--limit",
        "30s",
        "--out",
        out.to_str().expect("text"),
    ]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    let line = |lock: &str| {
        printed
            .out
            .lines()
            .find(|line| line.trim_start().starts_with(lock))
            .unwrap_or_else(|| panic!("{printed:?}"))
    };
    assert!(
        line("qspin").contains("3.00 ±0.0%")
            && line("qspin").contains("12.0")
            && line("qspin").contains("2.50 µs")
    );
    assert!(line("byte").contains(">30.0"), "{printed:?}");
    assert!(printed.err.contains("seed 7") && printed.err.contains("100 %  build"), "{printed:?}");
    let report = json(&out.join("guest.json"));
    assert_eq!((&report["complete"], &report["setting"]["accel"]), (&true.into(), &"tcg".into()));
    assert_eq!(report["setting"]["qemu"], "QEMU emulator version 0.0 (fake)");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(6));
    assert_eq!(report["runs"][2]["state"], "unfinished");
    let rows = fs::read_to_string(out.join("guest.csv")).expect("written");
    assert_eq!(rows.lines().filter(|line| !line.starts_with('#')).count(), 1 + 6);
    assert!(fs::read_to_string(out.join("guest.html")).expect("written").contains("&gt;30"));
    let words = fs::read_to_string(fake.path("words")).expect("written");
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[0], "workload=build lock=qspin seed=7 limit=30000ms");
    assert_eq!(
        words[3], "workload=build lock=ticket seed=8 limit=30000ms rate=77",
        "rounds rotate, have seeds of their own, and do what the first boot did"
    );
}

#[test]
fn options_become_words_and_arguments_of_the_machine() {
    let boot = BOOT.replace("\"vcpus\":4,\"nodes\":1", "\"vcpus\":6,\"nodes\":2");
    let keep = "echo \"$words\" > \"$(dirname \"$0\")/words\"; echo \"$all\" > \"$(dirname \"$0\")/all\"";
    let fake = Fake::new(&format!("{keep}\n{} exit 33", say(&[&boot, &work("qrw", 2, true), OVER])));
    let guest = ["--workload", "rw", "--lock", "qrw", "--time", "2.5s", "--seed", "3", "--set", "inside=1us"];
    let cpu = rustix::thread::sched_getcpu().to_string();
    let machine = ["--vcpus", "6", "--cpus", &cpu, "--numa", "2", "--memory", "512", "-q"];
    let printed = fake.run(&[&guest[..], &machine].concat());
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{printed:?}");
    let kept = |name| fs::read_to_string(fake.path(name)).expect("written");
    assert_eq!(kept("words"), "workload=rw lock=qrw seed=3 seconds=2500ms stall=15 inside=1us\n");
    let all = kept("all");
    for part in
        ["-smp 6", "-m 512", "node,nodeid=1,memdev=m1,cpus=3-5", "size=256M", "isa-debug-exit", "-no-reboot"]
    {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn conformance_is_told_as_cargo_tells_tests() {
    let test = |name: &str, more: &str| format!(r#"{{"record":"test","name":"{name}",{more}}}"#);
    let script = |second: &str, over: &str| {
        let lines =
            [BOOT, &test("byte::excludes", r#""outcome":"ok""#), &test("byte::hands_over", second), over];
        format!("{} exit 33", say(&lines))
    };
    let printed = Fake::new(&script(r#""outcome":"ignored""#, OVER)).run(&["--workload", "conform"]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(
        printed.out.starts_with("test byte::excludes ... ok\ntest byte::hands_over ... ignored\n"),
        "{printed:?}"
    );
    assert!(printed.out.contains("test result: ok. 1 passed; 0 failed; 1 ignored"), "{printed:?}");
    let second = r#""outcome":"failed","detail":"two inside""#;
    let printed =
        Fake::new(&script(second, r#"{"record":"end","ok":false}"#)).run(&["--workload", "conform"]);
    assert_eq!(printed.code, Some(1), "{printed:?}");
    assert!(printed.out.contains("---- byte::hands_over ----\ntwo inside"), "{printed:?}");
    assert!(printed.out.contains("test result: FAILED. 1 passed; 1 failed"), "{printed:?}");
    let expected = Fake::new(&script(second, r#"{"record":"end","ok":false}"#)).run(&[
        "--workload",
        "conform",
        "--expect-failure",
    ]);
    assert!(expected.out.contains("test byte::hands_over ... failed, as expected"), "{expected:?}");
    assert!(!expected.out.contains("... FAILED") && !expected.out.contains("result: FAILED"), "{expected:?}");
}

#[test]
fn torture_shows_its_lines() {
    let stat = r#"{"record":"stat","lock":"qrw","line":"Writes:  Total: 5  Max/Min: 3/2   Fail: 0"}"#;
    let printed = Fake::new(&format!("{} exit 33", say(&[BOOT, stat, &work("qrw", 2, true), OVER]))).run(&[
        "--workload",
        "torture",
        "--lock",
        "qrw",
    ]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(printed.out.contains("qrw: Writes:  Total: 5  Max/Min: 3/2   Fail: 0"), "{printed:?}");
}

#[test]
fn where_kvm_does_not_work_it_is_said_why_and_tcg_is_taken() {
    let dies = "case $accel in kvm) echo 'qemu: failed to set MSR' >&2; exit 1;; esac";
    let fake = Fake::new(&format!("{dies}\n{} exit 33", say(&[BOOT, OVER])));
    let mut command = stanchion(&["--workload", "boot", "--qemu"]);
    let output = command.arg(fake.qemu()).arg("--image").arg(fake.path("image")).output().expect("starts");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{err}");
    let lines: Vec<&str> = err.lines().filter(|line| line.contains("KVM does not work here")).collect();
    assert_eq!(lines.len(), 1, "{err}");
    // Where there is a device it was tried.
    assert!(lines[0].contains("failed to set MSR") || lines[0].contains("/dev/kvm"), "{err}");
    let printed = fake.run(&["--workload", "boot", "--accel", "kvm"]);
    assert_eq!(
        printed.code,
        Some(1),
        "the last of two counts, and who insists on KVM gets no TCG: {printed:?}"
    );
}

#[test]
fn a_guest_that_did_nothing_or_has_another_machine_is_not_sound() {
    let fake = Fake::new(&format!("{} exit 33", say(&[BOOT, OVER])));
    for (arguments, part) in [
        (&["--workload", "conform"][..], "ran no test"),
        (&["--workload", "torture", "--lock", "byte"], "no result"),
        (&["--lock", "byte"], "no result"),
        (&["--workload", "boot", "--vcpus", "5"], "4 of 5 vCPUs came up"),
        (&["--workload", "boot", "--numa", "2"], "1 of 2 nodes"),
    ] {
        let printed = fake.run(arguments);
        assert_eq!(printed.code, Some(1), "{printed:?}");
        assert!(printed.out.contains(part) && !printed.out.contains("test result: ok"), "{printed:?}");
    }
}
