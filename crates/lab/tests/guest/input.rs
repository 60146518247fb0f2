//! What is refused, with one line that says what to do, before anything is started.
use crate::fake::{Fake, stanchion};
use std::fs;

fn refused(arguments: &[&str]) -> String {
    let fake = Fake::new("touch \"$(dirname \"$0\")/started\"");
    let said = fake.run(arguments);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{arguments:?}: {said:?}");
    assert_eq!(said.err.lines().count(), 1, "{arguments:?}: {said:?}");
    assert!(!fake.path("started").exists(), "{arguments:?}");
    said.err
}

#[test]
fn bad_input_is_refused_in_one_line() {
    for (arguments, part) in [
        (&["--vcpus", "0"][..], "from 1 to 255"),
        (&["--vcpus", "256"], "from 1 to 255"),
        (&["--vcpus", "many"], "many"),
        (&["--cpus", "0"], "CPUs that this process may use"),
        (&["--cpus", "99999"], "CPUs that this process may use"),
        (&["--numa", "5"], "--vcpus, which is 4"),
        (&["--memory", "1"], "from 64"),
        (&["--runs", "0"], "from 1"),
        (&["--limit", "0"], "above 0"),
        (&["--limit", "nan"], "above 0"),
        (&["--boot-limit", "0"], "--boot-limit"),
        (&["--seconds", "3"], "not for --workload build"),
        (&["--workload", "torture", "--seconds", "inf"], "above 0"),
        (&["--workload", "conform", "--vcpus", "1"], "two"),
        (&["--workload", "bild"], "build"),
        (&["--lock", "tiket"], "nearest: ticket"),
        (&["--lock", "qrw"], "reader-writer lock"),
        (&["--lock", ""], "unknown lock"),
        (&["--set", "jobs"], "such as jobs=3"),
        (&["--set", "jobs=3 lock=byte"], "such as jobs=3"),
        (&["--set", "seed=3"], "use --seed"),
        (&["--log", "/nowhere/log"], "--log /nowhere/log"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn a_missing_emulator_or_image_is_told_with_what_to_do() {
    let fake = Fake::new("");
    let image = fake.path("image");
    let output = stanchion(&["--image"]).arg(&image).env("PATH", "/nowhere").output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("qemu-system-x86") && said.contains("apt-get install") && said.lines().count() == 1,
        "{said}"
    );
    let output =
        stanchion(&["--image", "/nowhere/image", "--qemu"]).arg(fake.qemu()).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("cargo xtask guest") && said.lines().count() == 1, "{said}");
}

#[test]
fn files_are_not_replaced_unless_asked_for_and_none_is_left_by_a_refusal() {
    let fake = Fake::new("exit 0");
    fs::write(fake.path("log"), "precious").expect("written");
    let (log, json) = (fake.path("log"), fake.path("r.json"));
    let said = fake.run(&["--log", log.to_str().expect("text"), "--json", json.to_str().expect("text")]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("exists already; use --force"), "{said:?}");
    assert!(!json.exists() && fs::read_to_string(log).expect("there") == "precious");
}
