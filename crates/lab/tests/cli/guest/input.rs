//! What is refused, with one line that says what to do, before anything is started.
use super::fake::{Fake, stanchion};
use std::fs;

fn refused(arguments: &[&str]) -> String {
    let fake = Fake::new("touch \"$(dirname \"$0\")/started\"");
    let printed = fake.run(arguments);
    assert_eq!((printed.code, printed.out.as_str()), (Some(2), ""), "{arguments:?}: {printed:?}");
    assert_eq!(printed.err.lines().count(), 1, "{arguments:?}: {printed:?}");
    assert!(!fake.path("started").exists(), "{arguments:?}");
    printed.err
}

#[test]
fn bad_input_is_refused_in_one_line() {
    for (arguments, part) in [
        (&["--vcpus", "0"][..], "from 1 to 255"),
        (&["--vcpus", "256"], "from 1 to 255"),
        (&["--vcpus", "many"], "many"),
        (&["--cpus", "x"], "'x' is no CPU"),
        (&["--cpus", "99999"], "may not use CPU 99999"),
        (&["--numa", "5"], "--vcpus, which is 4"),
        (&["--memory", "1"], "from 64"),
        (&["--rounds", "0"], "from 1"),
        (&["--limit", "0s"], "from 1ns to 86400s"),
        (&["--limit", "nan"], "is not a time"),
        (&["--boot-limit", "0"], "--boot-limit"),
        (&["--limit", "25h"], "from 1ns to 86400s"),
        (&["--limit", "5"], "has no unit"),
        (&["--time", "3s"], "not for --workload build"),
        (&["--workload", "torture", "--time", "inf"], "is not a time"),
        (&["--workload", "conform", "--vcpus", "1"], "two"),
        (&["--workload", "bild"], "build"),
        (&["--lock", "tiket"], "nearest are ticket"),
        (&["--lock", "qrw"], "reader-writer lock"),
        (&["--lock", ""], "--lock: unknown lock"),
        (&["--set", "jobs"], "such as jobs=3"),
        (&["--set", "jobs=3 lock=byte"], "such as jobs=3"),
        (&["--set", "seed=3"], "use --seed"),
        (&["--set", "seconds=3"], "use --time"),
        (&["--log", "/nowhere/log"], "--log /nowhere/log"),
    ] {
        let printed = refused(arguments);
        assert!(printed.contains(part), "{arguments:?}: {printed}");
    }
}

#[test]
fn a_missing_emulator_or_image_is_told_with_what_to_do() {
    let fake = Fake::new("");
    let image = fake.path("image");
    let output = stanchion(&["--image"]).arg(&image).env("PATH", "/nowhere").output().expect("starts");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        printed.contains("qemu-system-x86")
            && printed.contains("apt-get install")
            && printed.lines().count() == 1,
        "{printed}"
    );
    let output =
        stanchion(&["--image", "/nowhere/image", "--qemu"]).arg(fake.qemu()).output().expect("starts");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(printed.contains("cargo xtask guest") && printed.lines().count() == 1, "{printed}");
}

#[test]
fn files_are_not_replaced_unless_asked_for_and_none_is_left_by_a_refusal() {
    let fake = Fake::new("exit 0");
    fs::write(fake.path("log"), "precious").expect("written");
    let (log, json) = (fake.path("log"), fake.path("r.json"));
    let printed = fake.run(&["--log", log.to_str().expect("text"), "--json", json.to_str().expect("text")]);
    assert_eq!(printed.code, Some(2), "{printed:?}");
    assert!(printed.err.contains("exists; give another name or --force"), "{printed:?}");
    assert!(!json.exists() && fs::read_to_string(&log).expect("there") == "precious");
    let json = log.with_file_name("./log");
    let same = ["--force", "--log", log.to_str().expect("text"), "--json", json.to_str().expect("text")];
    let printed = fake.run(&same);
    assert_eq!(printed.code, Some(2), "{printed:?}");
    assert!(printed.err.contains("named twice"), "{printed:?}");
    assert_eq!(fs::read_to_string(log).expect("there"), "precious");
}
