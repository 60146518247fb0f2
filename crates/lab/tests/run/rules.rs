//! `STANCHION=lock@WHERE=NAME`: some mutexes of a program have other locks than the rest. A word held by
//! `ppc-simple` says who has it, one held by the others does not, so a program can see which it is.
use crate::preloaded::text;
use crate::stats::library;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
/* Where the lock's word is. */
#define WORD(mutex) (*(int *)((char *)&(mutex) + 24))
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
__attribute__((noinline)) static void *place(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return __builtin_return_address(0);
}
int main(void) {
    unsetenv("STANCHION"); /* what was printed in the beginning counts */
    for (int round = 0; round < 3; round++) {
        place(&first); place(&second); place(&nested); pthread_mutex_lock(&nested);
        if (round == 2)
            printf("%p %d %d %d\n", (void *)&first, WORD(first) < 0, WORD(second) < 0, WORD(nested) < 0);
        pthread_mutex_unlock(&nested); pthread_mutex_unlock(&nested);
        pthread_mutex_unlock(&second); pthread_mutex_unlock(&first);
    }
    /* The first bit of the default lock, which counts in the others of its byte, and the last bit of ppc-simple: held. */
    int left = (WORD(first) | WORD(second) | WORD(nested)) & 0x80000001;
    int gone = pthread_mutex_destroy(&first) | pthread_mutex_destroy(&second) | pthread_mutex_destroy(&nested);
    return left != 0 || gone != 0;
}
"#;

struct Program(TempDir);

impl Program {
    /// None where there is no C compiler.
    fn build() -> Option<Self> {
        Command::new("cc").arg("--version").output().ok()?;
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (source, program) = (dir.path().join("rules.c"), dir.path().join("rules"));
        fs::write(&source, PROGRAM).expect("written");
        // At the same addresses each time.
        let built =
            Command::new("cc").args(["-no-pie", "-O1", "-pthread", "-o"]).args([&program, &source]).output();
        let built = built.expect("the compiler starts");
        assert!(built.status.success(), "{}", text(&built.stderr));
        Some(Self(dir))
    }

    /// The address of the first mutex, which of the three have `ppc-simple`, and what was said on standard
    /// error.
    fn run(&self, words: &str) -> (String, [bool; 3], String) {
        let output = Command::new(self.0.path().join("rules"))
            .env("LD_PRELOAD", library())
            .env("STANCHION", words)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{words}: {}", text(&output.stderr));
        let printed = text(&output.stdout);
        let mut fields = printed.split_whitespace();
        let address = fields.next().expect("an address").to_owned();
        let mut is = || fields.next().expect("a field") == "1";
        (address, [is(), is(), is()], text(&output.stderr))
    }
}

#[test]
fn single_mutexes_have_the_lock_that_a_word_names_for_them() {
    let Some(program) = Program::build() else { return };
    let (address, nobody, printed) = program.run("");
    assert_eq!((nobody, printed.as_str()), ([false; 3], ""));
    for (words, expected) in [
        (format!("lock@{address}=ppc-simple"), [true, false, false]),
        ("lock@rules=ppc-simple".to_owned(), [true; 3]),
        ("lock@rul*=ppc-simple,lock=qspin".to_owned(), [true; 3]),
        (format!("lock@{address}=byte,lock@rules=ppc-simple"), [false, true, true]),
        (format!("lock=ppc-simple,lock@{address}=unfair-q"), [false, true, true]),
        ("lock@other=ppc-simple,lock@rules+0x1=ppc-simple".to_owned(), [false; 3]),
    ] {
        let (_, which, printed) = program.run(&words);
        assert_eq!((which, printed.as_str()), (expected, ""), "{words}");
    }
}

#[test]
fn a_bad_word_is_told_and_leaves_the_program_to_libc() {
    let Some(program) = Program::build() else { return };
    for words in ["lock@=qspin", "lock@0xzz=qspin", "lock@rules=libc", "lock@rules=nonsense", "lock@rules"] {
        let (_, which, printed) = program.run(words);
        assert_eq!(which, [false; 3], "{words}");
        assert_eq!(printed.lines().count(), 1, "{words}: {printed}");
        assert!(printed.contains(words) && printed.contains("libc's own locks"), "{words}: {printed}");
    }
}

/// At once: before the program does anything, and though it uses no lock.
#[test]
fn a_bad_word_is_told_when_the_library_is_loaded() {
    let Some(program) = Program::build() else { return };
    let (source, idle) = (program.0.path().join("idle.c"), program.0.path().join("idle"));
    let text_of_idle = r#"
#include <unistd.h>
int main(void) { return write(2, "main\n", 5) != 5; }
"#;
    fs::write(&source, text_of_idle).expect("written");
    let built = Command::new("cc").arg("-o").args([&idle, &source]).output().expect("the compiler starts");
    assert!(built.status.success(), "{}", text(&built.stderr));
    for words in ["lock=nonsense", "nonsense", "spin=many", "lock@rules=nonsense"] {
        let output = Command::new(&idle).env("LD_PRELOAD", library()).env("STANCHION", words).output();
        let printed = text(&output.expect("it starts").stderr);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines.len() == 2 && lines[1] == "main", "{words}: {printed}");
        assert!(lines[0].starts_with(&format!("stanchion: STANCHION: `{words}`: ")), "{words}: {printed}");
    }
}
