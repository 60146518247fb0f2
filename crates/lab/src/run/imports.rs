//! Whether a program has anything to replace: does it, or a library that it needs, call pthread locks?
use super::elf;
use super::program::Program;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Libraries that do not count: the C library in its parts, and the unwinder, which locks only while it
/// unwinds and is part of nearly every program that is not C.
const ASIDE: [&str; 7] =
    ["libc.so.", "libpthread.so.", "libm.so.", "libdl.so.", "librt.so.", "ld-linux", "libgcc_s.so."];

/// A line to warn with if the program calls no pthread lock.
pub(crate) fn warning(program: &Program) -> Option<String> {
    let calls =
        elf::takes_locks(&program.binary) || needed(program)?.iter().any(|library| elf::takes_locks(library));
    (!calls).then(|| {
        format!(
            "{}: neither it nor a library that it needs calls a pthread lock: unless it loads one later or starts other \
             programs, there is nothing to replace",
            program.binary.display()
        )
    })
}

/// The libraries that the program's own loader would load, which only that loader knows. None if it does not
/// say.
fn needed(program: &Program) -> Option<Vec<PathBuf>> {
    let output = Command::new(&program.loader)
        .arg("--list")
        .arg(&program.binary)
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The files in what a loader lists: `name => /file (0xaddress)`, or `/file (0xaddress)`.
fn listed(text: &str) -> Vec<PathBuf> {
    text.lines()
        .filter_map(|line| {
            let file = line.split_once("=>").map_or(line, |(_, file)| file).trim();
            let file = file.rsplit_once(" (").map_or(file, |(file, _)| file);
            file.starts_with('/').then(|| PathBuf::from(file))
        })
        .filter(|file| !is_aside(file))
        .collect()
}

fn is_aside(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    ASIDE.iter().any(|aside| name.starts_with(aside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::Compiler;

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
        let warned = |path: &PathBuf| {
            warning(&Program::find(path.as_os_str(), None).expect("a sound program")).is_some()
        };
        assert!(warned(&compiler.program("plain", "int main(void) { return 0; }", &[])));
        let locks =
            "#include <pthread.h>\npthread_mutex_t m; int take(void) { return pthread_mutex_lock(&m); }\n";
        assert!(!warned(&compiler.program(
            "locks",
            &format!("{locks}int main(void) {{ return take(); }}"),
            &[]
        )));
        // The same through a library that only the program's own run path leads to.
        let library = compiler.program("libtake.so", locks, &["-shared", "-fPIC"]);
        let dir = compiler.dir().to_str().expect("plain path");
        let flags = [library.to_str().expect("plain path"), &format!("-Wl,-rpath,{dir}")];
        let through =
            compiler.program("through", "int take(void); int main(void) { return take(); }", &flags);
        assert!(!elf::takes_locks(&through) && !warned(&through));
    }
}
