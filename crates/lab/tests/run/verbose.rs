//! `STANCHION=verbose`: the interposer says what it does, once for each program, and on standard error only.
use crate::preloaded::text;
use crate::stats::library;
use std::fs;
use std::process::Command;

/// What a program says on standard error that prints a line itself, and that it prints on standard output.
fn said(words: &str) -> (Vec<String>, String) {
    let output =
        Command::new("echo").arg("hello").env("LD_PRELOAD", library()).env("STANCHION", words).output();
    let output = output.expect("there is an `echo`");
    assert!(output.status.success(), "{words}");
    (text(&output.stderr).lines().map(str::to_owned).collect(), text(&output.stdout))
}

#[test]
fn version_lock_and_what_is_replaced_are_told() {
    for (words, lock) in
        [("verbose", "stanchion"), ("lock=qspin,verbose", "qspin"), ("verbose,nopv", "stanchion")]
    {
        let (lines, printed) = said(words);
        assert_eq!((lines.len(), printed.as_str()), (2, "hello\n"), "{words}: {lines:?}");
        let first = format!("stanchion {} in echo (process ", env!("CARGO_PKG_VERSION"));
        assert!(lines[0].starts_with(&first), "{words}: {}", lines[0]);
        assert!(lines[0].contains(&format!("lock={lock},")), "{words}: {}", lines[0]);
        assert!(lines[0].contains("condition variables"), "{words}: {}", lines[0]);
        assert!(lines[1].starts_with("stanchion: left to libc: "), "{words}: {}", lines[1]);
        assert_eq!(lines[1].contains("(nopv)"), words.contains("nopv"), "{words}: {}", lines[1]);
        assert!(!lines[1].contains("comes first"), "{words}: {}", lines[1]);
    }
}

#[test]
fn without_the_word_nothing_is_told_and_a_bad_word_is_all_there_is() {
    assert_eq!(said("lock=qspin").0, Vec::<String>::new());
    let (lines, _) = said("lock=libc,verbose");
    assert!(lines.len() == 1 && lines[0].ends_with("lock=libc, nothing is replaced"), "{lines:?}");
    let (lines, _) = said("verbose,lock=nonsense");
    assert!(lines.len() == 1 && lines[0].contains("`lock=nonsense`: no such lock"), "{lines:?}");
    let (lines, _) = said("verbose=1");
    assert!(lines.len() == 1 && lines[0].contains("`verbose=1`: not understood"), "{lines:?}");
}

#[test]
fn a_library_that_comes_first_is_named() {
    if Command::new("cc").arg("--version").output().is_err() {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (source, other) = (dir.path().join("other.c"), dir.path().join("libother.so"));
    fs::write(&source, "int pthread_spin_lock(int *lock) { return *lock = 0; }\n").expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&other, &source]).output();
    assert!(built.expect("the compiler starts").status.success());
    let both = format!("{} {}", other.display(), library().display());
    let output = Command::new("true").env("LD_PRELOAD", both).env("STANCHION", "verbose").output();
    let told = text(&output.expect("there is a `true`").stderr);
    let expected = format!("; not replaced: pthread_spin_lock of {} comes first", other.display());
    assert!(told.contains(&expected), "{told}");
    assert_eq!(told.matches("not replaced").count(), 1, "{told}");
}
