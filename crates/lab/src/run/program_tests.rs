//! Programs that will do, and all that will not.
use super::*;
use crate::run::elf::tests::{Compiler, header32, header64};

/// A file with these bytes and this mode in a directory of the test's own.
fn file(dir: &Path, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, bytes).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("allowed");
    path
}

fn find(path: &Path) -> Result<Program, String> {
    Program::find(&[path.into()], None)
}

fn refused(path: &Path) -> String {
    let error = find(path).expect_err("refused");
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Any dynamically linked program: this test.
fn sound() -> PathBuf {
    std::env::current_exe().expect("this test is a file")
}

#[test]
fn a_dynamically_linked_program_will_do() {
    let found = find(&sound()).expect("this test is one");
    assert_eq!((&found.path, &found.binary), (&sound(), &sound()));
    assert!(found.loader.is_absolute() && found.loader.exists());
}

#[test]
fn a_name_is_looked_up_along_the_path_as_a_shell_does() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for sub in ["a", "b", "c"] {
        fs::create_dir(dir.path().join(sub)).expect("created");
    }
    file(dir.path(), "a/tool", b"not executable", 0o644);
    fs::create_dir(dir.path().join("b/tool")).expect("created");
    let path = ["a", "b", "c"].map(|sub| dir.path().join(sub));
    let path = std::env::join_paths(path).expect("plain paths");
    let look = || look_up(OsStr::new("tool"), Some(&path));
    assert!(look().expect_err("none is executable").contains("a/tool: is not executable"));
    let tool = file(dir.path(), "c/tool", b"", 0o755);
    assert_eq!(look(), Ok(tool));
    assert!(look_up(OsStr::new("other"), Some(&path)).expect_err("none").contains("not found along PATH"));
    assert!(look_up(OsStr::new("sh"), None).is_ok(), "there is a path without PATH");
}

#[test]
fn what_is_missing_or_no_file_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert!(refused(&dir.path().join("none")).contains("no such program"));
    assert!(refused(dir.path()).contains("is a directory"));
    assert!(refused(&file(dir.path(), "plain", b"#!/bin/sh\n", 0o644)).contains("is not executable"));
    assert!(refused(Path::new("/dev/null")).contains("is not executable"));
    assert!(Program::find(&[OsString::new()], None).is_err());
}

#[test]
fn foreign_32_bit_and_other_files_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let other = if cfg!(target_arch = "aarch64") { object::elf::EM_X86_64 } else { object::elf::EM_AARCH64 };
    assert!(refused(&file(dir.path(), "a", &header64(other.0, 3, 1), 0o755)).contains("a program for "));
    assert!(refused(&file(dir.path(), "b", &header32(3), 0o755)).contains("32-bit"));
    assert!(refused(&file(dir.path(), "c", b"hello", 0o755)).contains("neither an ELF program nor a script"));
}

#[test]
fn setuid_and_setgid_programs_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let bytes = fs::read(sound()).expect("readable");
    assert!(refused(&file(dir.path(), "u", &bytes, 0o4755)).contains("is setuid"));
    assert!(refused(&file(dir.path(), "g", &bytes, 0o2755)).contains("is setgid"));
    assert!(find(&file(dir.path(), "p", &bytes, 0o755)).is_ok());
}

#[test]
fn a_program_with_file_capabilities_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(dir.path(), "c", &fs::read(sound()).expect("readable"), 0o755);
    // Version 2, effective, CAP_NET_BIND_SERVICE permitted.
    let mut value = vec![1, 0, 0, 2, 0, 4, 0, 0];
    value.resize(20, 0);
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "security.capability", &value, flags).is_err() {
        // Not permitted to give any, or the file system has none: the integration test of another machine
        // sees it.
        assert!(find(&path).is_ok());
        return;
    }
    assert!(refused(&path).contains("file capabilities"));
}

#[test]
fn scripts_come_down_to_their_interpreters() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sound = sound();
    let line = |interpreter: &str| format!("#! {interpreter}\nrest");
    let direct = file(dir.path(), "direct", line(sound.to_str().expect("plain")).as_bytes(), 0o755);
    assert_eq!(find(&direct).expect("will do").binary, sound);
    let twice = file(dir.path(), "twice", line(direct.to_str().expect("plain")).as_bytes(), 0o4755);
    let found = find(&twice).expect("the kernel ignores that a script is setuid");
    assert_eq!((found.path, found.binary), (twice, sound));
    let itself = dir.path().join("loop");
    file(dir.path(), "loop", line(itself.to_str().expect("plain")).as_bytes(), 0o755);
    assert!(refused(&itself).contains("too many scripts"));
    assert!(refused(&file(dir.path(), "none", b"#!  \n", 0o755)).contains("without an interpreter"));
    let foreign = file(dir.path(), "foreign", &header32(3), 0o755);
    let by = file(dir.path(), "by", line(foreign.to_str().expect("plain")).as_bytes(), 0o755);
    assert!(refused(&by).contains("its interpreter") && refused(&by).contains("32-bit"), "{}", refused(&by));
    let lost = file(dir.path(), "lost", b"#!/no/such/shell -x\n", 0o755);
    assert!(refused(&lost).contains("/no/such/shell"));
}

#[test]
fn what_env_looks_up_is_looked_at_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    file(dir.path(), "foreign", &header32(3), 0o755);
    let path = dir.path().as_os_str();
    for line in ["#!/usr/bin/env foreign", "#!/usr/bin/env -S A=b foreign -x"] {
        let script = file(dir.path(), "script", line.as_bytes(), 0o755);
        let error = Program::find(&[script.into()], Some(path)).expect_err("refused");
        assert!(error.contains("32-bit"), "{error}");
    }
    let env = file(dir.path(), "env", &header32(3), 0o755);
    let script = file(dir.path(), "script", format!("#!{} sh", env.display()).as_bytes(), 0o755);
    let error = refused(&script);
    assert!(error.contains("env: ") && error.contains("32-bit"), "{error}");
    let script = file(dir.path(), "script", b"#!/usr/bin/env nobody", 0o755);
    assert!(Program::find(&[script.into()], Some(path)).is_ok(), "env will say it");
}

#[test]
fn a_statically_linked_program_is_refused() {
    let Some(compiler) = Compiler::find() else { return };
    let Some(fixed) = compiler.try_program("fixed", "int main(void) { return 0; }", &["-static"]) else {
        return;
    };
    assert!(refused(&fixed).contains("statically linked"));
    let dynamic = compiler.program("dynamic", "int main(void) { return 0; }", &[]);
    assert!(find(&dynamic).is_ok());
    assert!(
        refused(&file(compiler.dir(), "none", &header64(object::elf::EM_X86_64.0, 2, 1), 0o755))
            .contains("is ")
    );
}

#[test]
fn the_loaders_list_is_read_without_the_c_library() {
    let text = "\tlinux-vdso.so.1 (0x00007fff)\n\tlibz.so.1 => /lib/a b/libz.so.1 (0x00007f)\n\
                \tlibnone.so => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\
                \t/opt/libx.so (0x7f)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
    assert_eq!(listed(text), [Path::new("/lib/a b/libz.so.1"), Path::new("/opt/libx.so")]);
}

#[test]
fn programs_without_locks_are_warned_of_and_those_with_are_not() {
    let Some(compiler) = Compiler::find() else { return };
    let warned = |path: &Path| find(path).expect("a sound program").warning().is_some();
    assert!(warned(&compiler.program("plain", "int main(void) { return 0; }", &[])));
    let locks =
        "#include <pthread.h>\npthread_mutex_t m; int take(void) { return pthread_mutex_lock(&m); }\n";
    assert!(!warned(&compiler.program("locks", &format!("{locks}int main(void) {{ return take(); }}"), &[])));
    // The same through a library that only the program's own run path leads to.
    let library = compiler.program("libtake.so", locks, &["-shared", "-fPIC"]);
    let dir = compiler.dir().to_str().expect("plain path");
    let flags = [library.to_str().expect("plain path"), &format!("-Wl,-rpath,{dir}")];
    let through = compiler.program("through", "int take(void); int main(void) { return take(); }", &flags);
    assert!(!elf::takes_locks(&through) && !warned(&through));
}
