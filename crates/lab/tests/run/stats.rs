//! `stanchion run --stats`, with the interposer itself: what it counts in programs whose locks are known.
use crate::preloaded::{stanchion, text};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

const HEAD: &str = r"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER, hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
__attribute__((noinline)) void take_quiet(int times) {
    for (int i = 0; i < times; i++) { pthread_mutex_lock(&quiet); pthread_mutex_unlock(&quiet); }
}
";

/// The interposer, built into the directory of this test's own build.
pub(crate) fn library() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let profile = PathBuf::from(env!("CARGO_BIN_EXE_stanchion")).with_file_name("");
        let target = profile.parent().expect("a profile's directory lies in that of the target").to_owned();
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "stanchion-preload", "--features", "family", "--target-dir"])
            .arg(&target)
            .status();
        assert!(built.expect("cargo starts").success(), "the interposer builds");
        target.join("debug/libstanchion_preload.so")
    };
    BUILT.get_or_init(build).clone()
}

/// A program under `--stats`.
struct Run {
    dir: TempDir,
    command: Command,
}

/// None where there is no C compiler. `main` follows [`HEAD`].
fn run(main: &str) -> Option<Run> {
    Command::new("cc").arg("--version").output().ok()?;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (source, program) = (dir.path().join("program.c"), dir.path().join("program"));
    fs::write(&source, format!("{HEAD}{main}")).expect("written");
    let output = Command::new("cc")
        .args(["-g", "-O1", "-fno-inline", "-pthread", "-o"])
        .args([&program, &source])
        .output();
    let output = output.expect("the compiler starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut command = stanchion(&["run", "--stats", "--json"]);
    command
        .arg(dir.path().join("stats.json"))
        .arg(&program)
        .env("STANCHION_PRELOAD", library())
        .env_remove("LD_PRELOAD");
    Some(Run { dir, command })
}

impl Run {
    /// Its exit code, what it said on standard error, and the figures.
    fn finish(mut self) -> (Option<i32>, String, Value) {
        let output = self.command.output().expect("the program starts");
        assert_eq!(text(&output.stdout), "", "nothing on the program's output");
        (output.status.code(), text(&output.stderr), self.figures())
    }

    fn figures(&self) -> Value {
        let json = fs::read(self.dir.path().join("stats.json")).expect("written");
        serde_json::from_slice(&json).expect("good JSON")
    }
}

/// The locks that were first taken in a function.
fn taken_in<'a>(figures: &'a Value, function: &str) -> Vec<&'a Value> {
    let locks = figures["locks"].as_array().expect("a list");
    let is_there = |lock: &&Value| {
        let innermost = lock["first_taken"][0].as_str().unwrap_or_default();
        innermost.starts_with(&format!("{function} (program.c:"))
    };
    locks.iter().filter(is_there).collect()
}

/// The acquisitions of the one lock that was first taken in a function.
fn acquisitions(figures: &Value, function: &str) -> u64 {
    match &taken_in(figures, function)[..] {
        [lock] => lock["acquisitions"].as_u64().expect("a number"),
        others => panic!("{function}: {others:?} in {figures}"),
    }
}

#[test]
fn every_acquisition_is_counted_where_it_was() {
    let main = r"
static volatile int coming;
void *other(void *unused) {
    for (int round = 0; round < 30; round++) {
        while (coming != round + 1) usleep(100);
        coming = -coming;
        pthread_mutex_lock(&hot);
        pthread_mutex_unlock(&hot);
        coming = -coming + 1000;
    }
    return unused;
}
void take_hot(void) { pthread_mutex_lock(&hot); }
void read_table(void) { pthread_rwlock_rdlock(&table); pthread_rwlock_unlock(&table); }
void write_table(void) { pthread_rwlock_wrlock(&table); pthread_rwlock_unlock(&table); }
void try_held(void) { pthread_mutex_lock(&quiet); if (!pthread_mutex_trylock(&quiet)) abort(); pthread_mutex_unlock(&quiet); }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (int round = 0; round < 30; round++) {
        take_hot();
        coming = round + 1;
        while (coming > 0) usleep(100);
        usleep(3000);
        pthread_mutex_unlock(&hot);
        while (coming < 1000) usleep(100);
    }
    pthread_join(thread, 0);
    take_quiet(700);
    for (int i = 0; i < 3; i++) try_held();
    for (int i = 0; i < 80; i++) read_table();
    for (int i = 0; i < 9; i++) write_table();
}";
    let Some(run) = run(main) else { return };
    let (code, printed, figures) = run.finish();
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(acquisitions(&figures, "take_quiet"), 703);
    assert_eq!(taken_in(&figures, "take_quiet")[0]["failed"], 3);
    assert_eq!(taken_in(&figures, "take_quiet")[0]["contended"], 0);
    assert_eq!(acquisitions(&figures, "take_hot"), 60);
    // The other thread meets the holder in each round in which it gets a CPU within three milliseconds.
    let hot = taken_in(&figures, "take_hot")[0];
    let contended = hot["contended"].as_u64().expect("a number");
    assert!((1..=30).contains(&contended), "{hot}");
    assert_eq!(hot["wait"]["timed"].as_u64(), Some(contended));
    assert!(hot["wait"]["max_ns"].as_u64() > Some(0) && hot["waited_ns"].as_f64() > Some(0.0), "{hot}");
    // The first hold is timed, and sleeps for three milliseconds; both sides know the same buckets.
    let (p99, most) = (hot["hold"]["p99_ns"].as_f64(), hot["hold"]["max_ns"].as_f64().expect("timed"));
    assert!(most >= 3e6 && p99 >= Some(most * 0.75) && p99 <= Some(most), "{hot}");
    assert_eq!((acquisitions(&figures, "read_table"), acquisitions(&figures, "write_table")), (80, 9));
    let kinds: Vec<&Value> = ["take_hot", "read_table", "write_table"]
        .iter()
        .map(|at| &taken_in(&figures, at)[0]["kind"])
        .collect();
    assert_eq!(kinds, ["mutex", "read", "write"]);
    // The one that was waited for comes first, also in what a person reads.
    assert_eq!(figures["locks"][0], *hot);
    let first = printed.lines().find(|line| line.trim_start().starts_with("1 take_hot (program.c:"));
    assert!(first.is_some_and(|line| line.contains("< main (program.c:")), "{printed}");
}

#[test]
fn a_program_that_is_killed_or_leaves_at_once_keeps_what_was_counted() {
    for (end, code) in [("raise(SIGKILL)", 137), ("_exit(3)", 3), ("abort()", 134)] {
        let Some(run) = run(&format!("int main(void) {{ take_quiet(500); {end}; }}")) else { return };
        let (ended, printed, figures) = run.finish();
        assert_eq!(ended, Some(code), "{printed}");
        assert_eq!(acquisitions(&figures, "take_quiet"), 500, "{end}");
    }
}

#[test]
fn a_forked_child_is_counted_as_itself() {
    let main = "int main(void) { take_quiet(10); if (!fork()) { take_quiet(20); _exit(0); } wait(0); take_quiet(5); }";
    let Some(run) = run(main) else { return };
    let (_, printed, figures) = run.finish();
    let mut counts: Vec<(u64, u64)> = taken_in(&figures, "take_quiet")
        .iter()
        .map(|lock| {
            (lock["process"].as_u64().expect("an index"), lock["acquisitions"].as_u64().expect("a count"))
        })
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [(0, 15), (1, 20)], "{printed}");
    let pids = [0, 1].map(|process| figures["processes"][process]["pid"].as_u64());
    assert!(pids[0].is_some() && pids[1].is_some() && pids[0] != pids[1]);
}

/// A child inherits what the parent had not added to its record yet, and must not take it for its own.
#[test]
fn counts_that_are_added_together_lack_95_at_most() {
    let main = "int main(void) { take_quiet(100000); if (!fork()) { take_quiet(7); _exit(0); } wait(0); }";
    let Some(run) = run(main) else { return };
    let (_, _, figures) = run.finish();
    let mut counts: Vec<u64> = taken_in(&figures, "take_quiet")
        .iter()
        .map(|lock| lock["acquisitions"].as_u64().expect("a count"))
        .collect();
    counts.sort_unstable();
    assert_eq!(counts[0], 7, "{figures}");
    assert!((99_905..=100_000).contains(&counts[1]), "{figures}");
    let held = taken_in(&figures, "take_quiet").into_iter().map(|lock| &lock["hold"]["timed"]);
    assert!(held.clone().any(|timed| timed.as_u64() > Some(1_000)), "one in 64 or so: {figures}");
    // All of it is added when a mutex is destroyed.
    let main = "int main(void) { take_quiet(5000); pthread_mutex_destroy(&quiet); }";
    let (_, _, figures) = self::run(main).expect("there is a compiler").finish();
    assert_eq!(acquisitions(&figures, "take_quiet"), 5000);
}

#[test]
fn locks_that_come_and_go_share_a_record_with_those_before_them() {
    let main = "void use(pthread_mutex_t *m) { pthread_mutex_lock(m); pthread_mutex_unlock(m); }
        int main(void) {
            pthread_mutex_t *m = malloc(sizeof *m);
            for (int i = 0; i < 300; i++) { pthread_mutex_init(m, 0); use(m); pthread_mutex_destroy(m); }
            pthread_mutex_t *copies = malloc(2 * sizeof *m);
            pthread_mutex_init(m, 0);
            use(m);
            copies[0] = copies[1] = *m;
            for (int i = 0; i < 4; i++) use(copies + 1);
        }";
    let Some(run) = run(main) else { return };
    let (_, printed, figures) = run.finish();
    let mut counts: Vec<(u64, u64)> = taken_in(&figures, "use")
        .iter()
        .map(|lock| {
            (lock["lives"].as_u64().expect("a number"), lock["acquisitions"].as_u64().expect("a number"))
        })
        .collect();
    counts.sort_unstable();
    // The copy is another lock; the first use after the loop comes from another place.
    assert_eq!(counts, [(1, 1), (1, 4), (300, 300)], "{printed}");
}

#[test]
fn what_is_left_to_libc_is_named() {
    let main = "int main(void) {
            pthread_mutexattr_t a; pthread_mutex_t m[3];
            pthread_mutexattr_init(&a);
            pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
            pthread_mutex_init(m, &a);
            pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_STALLED);
            pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
            pthread_mutex_init(m + 1, &a);
            pthread_mutex_init(m + 2, &a);
            pthread_mutex_lock(m + 2);
        }";
    let Some(run) = run(main) else { return };
    let (_, printed, figures) = run.finish();
    assert_eq!(
        figures["left_to_libc"],
        serde_json::json!([["robust mutexes", 1], ["process-shared mutexes", 2]])
    );
    assert!(printed.contains("no lock was taken that is counted"), "{printed}");
    assert!(printed.contains("left to libc: 2 process-shared mutexes"), "{printed}");
}

/// The third column of a table's rows of mutexes.
fn acquired(table: &str) -> Vec<&str> {
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(1) == Some(&"mutex")).map(|row| row[2]).collect()
}

#[test]
fn sigusr2_tells_how_things_stand_and_the_program_goes_on() {
    let main = r#"int main(void) { take_quiet(5); puts("ready"); fflush(stdout); getchar(); take_quiet(6); return 4; }"#;
    let Some(mut run) = run(main) else { return };
    let mut child = run
        .command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("read");
    assert_eq!(line, "ready\n");
    let told = Command::new("kill").args(["-USR2", &child.id().to_string()]).status();
    assert!(told.expect("kill starts").success());
    let mut printed = BufReader::new(child.stderr.take().expect("piped"));
    let mut first = String::new();
    while !first.contains("take_quiet") {
        assert!(printed.read_line(&mut first).expect("read") > 0, "{first}");
    }
    assert_eq!(acquired(&first), ["5"], "{first}");
    drop(child.stdin.take());
    let mut rest = String::new();
    printed.read_to_string(&mut rest).expect("read");
    assert_eq!(child.wait().expect("waited for").code(), Some(4), "{rest}");
    assert_eq!(acquired(&rest), ["11"], "{rest}");
    assert_eq!(acquisitions(&run.figures(), "take_quiet"), 11);
}

#[test]
fn figures_that_find_no_room_leave_the_program_its_exit_code() {
    let Some(mut run) = run("int main(void) { take_quiet(5); return 0; }") else { return };
    std::os::unix::fs::symlink("/dev/full", run.dir.path().join("stats.json")).expect("linked");
    let output = run.command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("cannot write"), "{}", text(&output.stderr));
}
