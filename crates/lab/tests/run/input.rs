//! What `stanchion run` refuses: one line, exit code 2, and nothing was run.
use crate::preloaded::{Preload, refused, stanchion, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[test]
fn programs_that_no_library_can_be_loaded_into() {
    let Some(preload) = Preload::build() else { return };
    let dynamic = preload.program("dynamic", "int main(void) { return 0; }");
    let mode = |mode| fs::set_permissions(&dynamic, fs::Permissions::from_mode(mode)).expect("ours");
    let refuse = || refused(preload.run(&["--"]).arg(&dynamic));
    mode(0o4755);
    assert!(refuse().contains("is setuid"));
    mode(0o2755);
    assert!(refuse().contains("is setgid"));
    mode(0o644);
    assert!(refuse().contains("is not executable"));
    if let Some(fixed) = preload.try_program("fixed", "int main(void) { return 0; }", &["-static"]) {
        assert!(refused(preload.run(&["--"]).arg(fixed)).contains("statically linked"));
    }
    if let Some(old) = preload.try_program("old", "int main(void) { return 0; }", &["-m32"]) {
        assert!(refused(preload.run(&["--"]).arg(old)).contains("32-bit"));
    }
    let script = preload.dir().join("script");
    fs::write(&script, format!("#!{}\n", dynamic.display())).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("ours");
    mode(0o4755);
    let line = refused(preload.run(&["--"]).arg(&script));
    assert!(line.contains("its interpreter") && line.contains("is setuid"), "{line}");
    assert!(refused(&mut preload.run(&["--", "no-such-program"])).contains("not found along PATH"));
    assert!(refused(&mut preload.run(&["--", "/no/such/program"])).contains("no such program"));
}

#[test]
fn a_library_that_is_missing_or_none_says_what_to_build() {
    let missing = refused(
        stanchion(&["run", "--library", "/no/such.so", "--", "true"]).env_remove("STANCHION_PRELOAD"),
    );
    assert!(missing.contains("--library /no/such.so"), "{missing}");
    let none = refused(&mut stanchion(&["run", "--library", "/etc/passwd", "--", "true"]));
    assert!(none.contains("neither an ELF program"), "{none}");
    // A command that stands alone has no library beside it.
    let dir = tempfile::tempdir().expect("a temporary directory");
    let alone = dir.path().join("stanchion");
    fs::copy(env!("CARGO_BIN_EXE_stanchion"), &alone).expect("copied");
    let line = refused(Command::new(alone).args(["run", "true"]).env_remove("STANCHION_PRELOAD"));
    assert!(line.contains("cargo build --release -p stanchion-preload --features family"), "{line}");
}

#[test]
fn a_flag_that_needs_another_one_names_it() {
    let line = refused(&mut stanchion(&["run", "--record-limit", "3", "true"]));
    assert!(line.contains("were not provided: <--record <FILE>>"), "{line}");
}

#[test]
fn words_that_the_library_does_not_know_are_found_out_before() {
    let Some(preload) = Preload::build() else { return };
    let line = refused(&mut preload.run(&["--set", "bogus", "--", "sh", "-c", "echo ran"]));
    assert!(line.contains(": lock stanchion: ") && line.contains("unknown word bogus"), "{line}");
    let line = refused(&mut preload.run(&["--lock", "qspin", "--set", "bogus", "true"]));
    assert!(line.contains(": --lock qspin: ") && line.contains("unknown word bogus"), "{line}");
    let line = refused(preload.run(&["--set", "bogus", "true"]).env("STANCHION", "lock=cna"));
    assert!(line.contains(": lock cna: ") && line.contains("unknown word bogus"), "{line}");
    let line = refused(preload.run(&["--compare", "true"]).env("STANCHION", "bogus"));
    assert!(line.contains("unknown word bogus"), "{line}");
}

#[test]
fn what_the_library_says_when_it_is_asked_to_is_no_complaint() {
    let Some(preload) = Preload::build() else { return };
    for words in [&["--", "true"][..], &["--set", "verbose", "--", "true"]] {
        let output = preload.run(words).env("STANCHION", "verbose").output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    }
    // Which the library does not understand.
    let line = refused(preload.run(&["--", "true"]).env("STANCHION", "verbose=1"));
    assert!(line.contains("does not do as asked"), "{line}");
}

/// The library never sees it: the command takes it over, or the lock that it was told counts.
#[test]
fn a_lock_in_the_environment_that_nobody_knows_is_found_out_before() {
    let Some(preload) = Preload::build() else { return };
    for arguments in [&["sh", "-c", "echo ran"] as &[_], &["--lock", "cna", "true"], &["--compare", "true"]] {
        let line = refused(preload.run(arguments).env("STANCHION", "nopv,lock=nonsense"));
        assert!(line.contains("STANCHION: `lock=nonsense`: unknown lock 'nonsense'"), "{line}");
    }
}

#[test]
fn a_library_that_cannot_be_loaded_is_found_out_before() {
    let Some(preload) = Preload::build() else { return };
    let source = "int missing(void); __attribute__((constructor)) static void loaded(void) { missing(); }";
    let broken = preload.try_program("broken.so", source, &["-shared", "-fPIC"]).expect("it compiles");
    let line = refused(preload.run(&["--", "true"]).env("STANCHION_PRELOAD", broken));
    assert!(line.contains("broken.so") && line.contains("missing"), "{line}");
}

#[test]
fn arguments_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"/no/such/\xff");
    assert!(refused(stanchion(&["run"]).arg(odd)).contains("no such program"));
}

#[test]
fn slips_are_answered_with_the_nearest() {
    let slip = |words: &[&str]| refused(&mut stanchion(words));
    assert!(slip(&["run", "--lock", "unfairq", "true"]).contains("unfair-q"));
    assert!(slip(&["run", "--comprae", "true"]).contains("--compare"));
    assert!(slip(&["run", "--rounds", "3", "true"]).contains("--compare"));
    assert!(slip(&["run"]).contains("no program"));
}

#[test]
fn help_list_and_completions() {
    let answer = |words: &[&str]| {
        let output = stanchion(words).output().expect("the program starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
        text(&output.stdout)
    };
    let help = answer(&["run", "--help"]);
    assert!(
        help.contains("128 + N") && help.contains("124 after --timeout") && help.contains("--check-output")
    );
    let list = answer(&["run", "--list"]);
    assert!(list.contains("pv-qspin") && list.contains("libc-through"), "{list}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(answer(&["completions", shell]).contains("higher-is-better"), "{shell}");
    }
}
