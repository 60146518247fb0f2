//! A library that takes the interposer's place in tests: it says in the environment that it is there, and
//! knows one bad word, of which it complains at the first lock, and tells what it does if it is asked to.
pub(crate) use crate::common::{json, line, refusal as refused, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void loaded(void) { setenv("LOADED", "yes", 1); }
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int asked;
    const char *words = getenv("STANCHION");
    if (!asked++ && words && strstr(words, "bogus"))
        fputs("stanchion: unknown word bogus; libc's locks it is\n", stderr);
    if (asked == 1 && words && strstr(words, "verbose"))
        fputs("stanchion 0.1.0 replaces mutexes\n", stderr);
    int (*libcs)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return libcs(mutex);
}
"#;

/// The library, and a directory for whatever a test makes.
pub(crate) struct Preload {
    dir: TempDir,
}

impl Preload {
    /// None where there is no C compiler.
    pub(crate) fn build() -> Option<Self> {
        Command::new("cc").arg("--version").output().ok()?;
        let preload = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        preload
            .try_program("library.so", SOURCE, &["-shared", "-fPIC", "-ldl"])
            .expect("a correct library compiles");
        Some(preload)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.dir.path().join("library.so")
    }

    pub(crate) fn program(&self, name: &str, source: &str) -> PathBuf {
        self.try_program(name, source, &["-pthread"]).expect("a correct program compiles")
    }

    /// None if the machine lacks what the flags ask for.
    pub(crate) fn try_program(&self, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
        let (from, to) = (self.dir.path().join(format!("{name}.c")), self.dir.path().join(name));
        fs::write(&from, source).expect("written");
        let output = Command::new("cc").arg("-o").args([&to, &from]).args(flags).output();
        output.expect("the compiler starts").status.success().then_some(to)
    }

    /// `stanchion run` with the library.
    pub(crate) fn run(&self, arguments: &[&str]) -> Command {
        let mut command = stanchion(&["run"]);
        command.args(arguments).env("STANCHION_PRELOAD", self.library()).env_remove("LD_PRELOAD");
        command
    }
}

pub(crate) fn stanchion(arguments: &[&str]) -> Command {
    let mut command = crate::common::command(arguments);
    command.env_remove("STANCHION");
    command
}
