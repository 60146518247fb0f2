//! `stanchion run --record`, with the interposer itself: what it writes of programs whose holds are known.
use crate::preloaded::{refused, stanchion, text};
use crate::stats::library;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const HEAD: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void take(pthread_mutex_t *mutex, long times) {
    for (long i = 0; i < times; i++) { pthread_mutex_lock(mutex); pthread_mutex_unlock(mutex); }
}
static void name(const char *name, void *lock) { printf("%s %p\n", name, lock); fflush(stdout); }
"#;

/// A program that was recorded.
pub(crate) struct Run {
    pub(crate) dir: TempDir,
    pub(crate) code: Option<i32>,
    /// What the command said.
    pub(crate) printed: String,
    /// The locks as the program named them.
    pub(crate) names: Vec<(String, String)>,
}

/// None where there is no C compiler. `main` follows [`HEAD`].
pub(crate) fn run(main: &str, flags: &[&str]) -> Option<Run> {
    Command::new("cc").arg("--version").output().ok()?;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (source, program) = (dir.path().join("program.c"), dir.path().join("program"));
    fs::write(&source, format!("{HEAD}{main}")).expect("written");
    let built = Command::new("cc").args(["-O1", "-pthread", "-o"]).args([&program, &source]).output();
    let built = built.expect("the compiler starts");
    assert!(built.status.success(), "{}", text(&built.stderr));
    fs::create_dir(dir.path().join("out")).expect("made");
    let mut command = stanchion(&["run", "--timeout", "120s", "--record"]);
    command.arg(dir.path().join("out/trace")).args(flags).arg(&program);
    command.env("STANCHION_PRELOAD", library()).env_remove("LD_PRELOAD");
    let output = command.output().expect("the program starts");
    let names = text(&output.stdout);
    let names = names.lines().filter_map(|line| line.split_once(' '));
    let names = names.map(|(name, address)| (name.to_owned(), address.to_owned())).collect();
    let left: Vec<_> = fs::read_dir(dir.path().join("out")).expect("readable").collect();
    assert_eq!(left.len(), 1, "nothing but the trace is left");
    Some(Run { dir, code: output.status.code(), printed: text(&output.stderr), names })
}

impl Run {
    pub(crate) fn trace(&self) -> PathBuf {
        self.dir.path().join("out/trace")
    }

    pub(crate) fn figures(&self) -> Value {
        let output = stanchion(&["run", "--json", "-", "--show"]).arg(self.trace()).output();
        let output = output.expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("good JSON")
    }

    /// The row of a lock as `kind`.
    fn row<'a>(&self, figures: &'a Value, name: &str, kind: &str) -> &'a Value {
        let (_, address) = self.names.iter().find(|(known, _)| known == name).expect("named by the program");
        let rows = figures["locks"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["address"] == **address && row["kind"] == kind);
        row.unwrap_or_else(|| panic!("{name} as {kind}: {figures}"))
    }

    fn events(&self, figures: &Value, name: &str, kind: &str) -> u64 {
        self.row(figures, name, kind)["events"].as_u64().expect("a number")
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The events of each thread, in ascending order.
fn threads(figures: &Value) -> Vec<u64> {
    let mut all: Vec<u64> =
        figures["threads"].as_array().expect("a list").iter().map(|row| number(&row["events"])).collect();
    all.sort_unstable();
    all
}

#[test]
fn every_hold_is_an_event_of_its_thread() {
    let main = r#"
void *other(void *times) { take(&a, (long)times); return 0; }
int main(void) {
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, again;
    static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    name("a", &a); name("b", &b); name("held", &held); name("again", &again); name("table", &table);
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) pthread_create(&thread[i], 0, other, (void *)(1000 * (i + 1)));
    for (int i = 0; i < 3; i++) pthread_join(thread[i], 0);
    for (int i = 0; i < 10; i++) { // released in the other order
        pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
    }
    for (int i = 0; i < 2; i++) {
        if (pthread_mutex_trylock(&b) || !pthread_mutex_trylock(&b)) abort();
        pthread_mutex_unlock(&b);
    }
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive); pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&again, &recursive);
    for (int i = 0; i < 5; i++) { pthread_mutex_lock(&again); take(&again, 3); pthread_mutex_unlock(&again); }
    pthread_mutex_lock(&held); usleep(30000); pthread_mutex_unlock(&held);
    for (int i = 0; i < 4; i++) { // a wait for a condition ends a hold, and begins another
        struct timespec past = {1, 0};
        pthread_mutex_lock(&held); pthread_cond_timedwait(&never, &held, &past); pthread_mutex_unlock(&held);
    }
    for (int i = 0; i < 7; i++) { // twice by one reader
        pthread_rwlock_rdlock(&table); pthread_rwlock_tryrdlock(&table);
        pthread_rwlock_unlock(&table); pthread_rwlock_unlock(&table);
    }
    for (int i = 0; i < 3; i++) { pthread_rwlock_wrlock(&table); pthread_rwlock_unlock(&table); }
}"#;
    let Some(run) = run(main, &[]) else { return };
    assert_eq!(run.code, Some(0), "{}", run.printed);
    assert!(run.printed.contains("6053 events in") && run.printed.lines().count() == 1, "{}", run.printed);
    let figures = run.figures();
    let found = [
        ("a", "mutex"),
        ("b", "mutex"),
        ("again", "mutex"),
        ("held", "mutex"),
        ("table", "read"),
        ("table", "write"),
    ]
    .map(|(name, kind)| run.events(&figures, name, kind));
    assert_eq!(found, [6010, 12, 5, 9, 14, 3]);
    assert_eq!(threads(&figures), [53, 1000, 2000, 3000]);
    assert_eq!((number(&figures["dropped"]), &figures["full"]), (0, &Value::Bool(false)));
    let (hold, span) = (&run.row(&figures, "held", "mutex")["max_hold_ns"], &figures["span_ns"]);
    let (hold, span) = (hold.as_f64().expect("a time"), span.as_f64().expect("a time"));
    // The sleep is 30 ms by one clock, and these are another's; the sum of all holds of one thread is no
    // longer than all.
    assert!(hold > 29e6 && hold <= span, "{hold} of {span}");
}

#[test]
fn who_waits_is_said_to_wait_and_for_how_long() {
    let main = r#"
static volatile int is_held;
void *holder(void *unused) {
    pthread_mutex_lock(&a); is_held = 1; usleep(50000); pthread_mutex_unlock(&a); return unused;
}
int main(void) {
    name("a", &a); name("b", &b);
    pthread_t thread;
    struct timespec at;
    pthread_create(&thread, 0, holder, 0);
    while (!is_held) usleep(10);
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 60;
    if (pthread_mutex_timedlock(&a, &at)) abort();
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    take(&b, 1);
}"#;
    let Some(run) = run(main, &["-q"]) else { return };
    assert_eq!((run.code, &*run.printed), (Some(0), ""));
    let figures = run.figures();
    let time = |name: &str, what: &str| run.row(&figures, name, "mutex")[what].as_f64().expect("a time");
    assert!(time("a", "max_wait_ns") > 0.0 && time("b", "max_wait_ns") == 0.0, "{figures}");
    // It came after the other held, and so waited for less than that.
    assert!(time("a", "max_hold_ns") > 49e6, "{figures}");
    assert!(
        time("a", "waited_ns") + time("a", "held_ns") <= 2.0 * figures["span_ns"].as_f64().expect("a time")
    );
}

#[test]
fn what_has_no_event_is_counted_as_dropped() {
    let main = r#"
void *release(void *unused) { pthread_mutex_unlock(&a); return unused; }
int main(void) {
    static pthread_mutex_t many[20];
    name("a", &a);
    pthread_t thread;
    pthread_mutex_lock(&a); // another releases it
    pthread_create(&thread, 0, release, 0); pthread_join(thread, 0);
    take(&a, 1);
    for (int i = 0; i < 20; i++) pthread_mutex_lock(&many[i]); // of which 16 are remembered
    for (int i = 0; i < 20; i++) pthread_mutex_unlock(&many[i]);
    take(&a, 5);
}"#;
    let Some(run) = run(main, &[]) else { return };
    let figures = run.figures();
    assert_eq!((run.events(&figures, "a", "mutex"), number(&figures["dropped"])), (6, 5), "{figures}");
    assert_eq!(number(&figures["events"]), 22);
    assert!(
        run.printed.contains("5 events were dropped") && !run.printed.contains("full"),
        "{}",
        run.printed
    );
}

/// A thread with so many events.
fn thread(figures: &Value, events: u64) -> &Value {
    let threads = figures["threads"].as_array().expect("a list");
    threads.iter().find(|row| row["events"] == events).unwrap_or_else(|| panic!("{events} events: {figures}"))
}

#[test]
fn sleeps_are_recorded_wherever_a_chunk_ends() {
    let main = r#"
#include <sys/resource.h>
static pthread_mutex_t own[8]; static int slept[8];
static long given_up(void) { struct rusage usage; getrusage(RUSAGE_THREAD, &usage); return usage.ru_nvcsw; }
void *other(void *at) {
    long number = (long)at;
    for (long i = 0; i <= 2000 + number; i++) {
        take(&own[number], 1);
        long before = given_up(); usleep(60);
        // Who is put aside on its way to sleep may wake without a switch. No lock comes behind the last sleep.
        slept[number] += given_up() != before && i < 2000 + number;
    }
    return 0;
}
int main(void) {
    pthread_t threads[8];
    for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, other, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < 8; i++) printf("%d %d\n", 2001 + i, slept[i]);
}"#;
    let Some(run) = run(main, &[]) else { return };
    let figures = run.figures();
    assert_eq!(run.names.len(), 8);
    for (events, slept) in &run.names {
        let (events, slept) = (events.parse().expect("a number"), slept.parse::<u64>().expect("a number"));
        assert!(slept > 1900, "hardly a sleep is none: {slept} of {events}");
        let thread = thread(&figures, events);
        assert!(number(&thread["sleeps"]) >= slept, "{slept} of {thread}");
        assert!(thread["asleep_ns"].as_f64().is_some_and(|ns| ns >= slept as f64 * 60e3), "{thread}");
    }
}

#[test]
fn who_sleeps_and_then_waits_with_a_deadline_does_no_time_twice() {
    let main = r#"
static pthread_barrier_t both;
void *holds(void *unused) {
    pthread_mutex_lock(&a); pthread_barrier_wait(&both); usleep(60000); pthread_mutex_unlock(&a); return unused;
}
int main(void) {
    name("a", &a);
    pthread_barrier_init(&both, 0, 2);
    pthread_t thread;
    pthread_create(&thread, 0, holds, 0);
    pthread_barrier_wait(&both);
    take(&b, 1);
    usleep(20000);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    if (pthread_mutex_timedlock(&a, &until)) return 1;
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
}"#;
    let Some(run) = run(main, &[]) else { return };
    assert_eq!(run.code, Some(0), "{}", run.printed);
    let figures = run.figures();
    let number = |value: &Value| value.as_f64().expect("a number");
    let waited = number(&run.row(&figures, "a", "mutex")["waited_ns"]);
    let asleep = number(&thread(&figures, 2)["asleep_ns"]);
    assert!(asleep > 19e6 && asleep + waited < number(&figures["span_ns"]) + 1e6, "{figures}");
}

#[test]
fn a_program_that_is_killed_leaves_all_it_did() {
    let main = r"
void *other(void *unused) { // what is held goes along into further chunks
    pthread_mutex_lock(&b); take(&a, 6999); pthread_mutex_unlock(&b); return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0); pthread_join(thread, 0);
    take(&b, 50000);
    pthread_mutex_lock(&b);
    kill(getpid(), SIGKILL);
}";
    let Some(run) = run(main, &[]) else { return };
    assert_eq!(run.code, Some(137), "{}", run.printed);
    let figures = run.figures();
    assert_eq!((threads(&figures), number(&figures["dropped"])), (vec![7000, 50000], 0));
}

#[test]
fn where_the_room_ends_the_rest_is_dropped_and_counted() {
    let main = r"
void *other(void *unused) { take(&a, 400000); return unused; }
int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, other, 0);
    take(&b, 400000);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    pthread_create(&thread[0], 0, other, 0); pthread_join(thread[0], 0); // finds no room at all
}";
    let Some(run) = run(main, &["--record-limit", "1"]) else { return };
    assert_eq!(run.code, Some(0), "{}", run.printed);
    let figures = run.figures();
    let (events, dropped) = (number(&figures["events"]), number(&figures["dropped"]));
    assert_eq!(events + dropped, 1_600_000);
    assert!(events > 10_000 && dropped > 500_000 && figures["full"] == true, "{figures}");
    assert!(run.printed.contains("the room was full"), "{}", run.printed);
    assert!(fs::metadata(run.trace()).expect("there").len() < 1 << 20);
}

#[test]
fn children_and_short_threads_have_their_own() {
    let main = r#"
void *other(void *unused) { take(&a, 1); return unused; }
int main(void) {
    name("a", &a);
    for (int i = 0; i < 300; i++) { pthread_t thread; pthread_create(&thread, 0, other, 0); pthread_join(thread, 0); }
    take(&b, 20);
    if (!fork()) { take(&b, 33); _exit(0); }
    wait(0);
    take(&b, 1);
}"#;
    let Some(run) = run(main, &["--record-limit", "2"]) else { return };
    let figures = run.figures();
    assert_eq!((run.events(&figures, "a", "mutex"), number(&figures["dropped"])), (300, 0), "{figures}");
    assert_eq!(threads(&figures)[299..], [1, 21, 33]);
    assert_eq!(figures["processes"].as_array().expect("a list").len(), 2);
}

#[test]
fn a_damaged_trace_is_refused() {
    let Some(run) = run("int main(void) { take(&a, 3); }", &[]) else { return };
    let good = fs::read(run.trace()).expect("readable");
    let mut show = stanchion(&["run", "--show"]);
    let output = show.arg(run.trace()).output().expect("the command starts");
    assert!(text(&output.stdout).contains("3 events of 1 lock and 1 thread in 1 process"), "{output:?}");
    let path = run.dir.path().join("bad");
    let shown = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("written");
        refused(stanchion(&["run", "--show"]).arg(&path))
    };
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    assert!(shown(&bad).contains("is damaged"));
    assert!(shown(&good[..middle]).contains("is cut short"));
    assert!(shown(b"").contains("is cut short"));
    assert!(shown(b"#!/bin/sh\nexit 0\n").contains("no trace"));
    assert!(refused(&mut stanchion(&["run", "--show", "/no/such"])).contains("No such file"));
}

#[test]
fn advice_on_a_program_and_its_recording_are_kept() {
    let Some(run) = run("int main(void) { take(&a, 2000); }", &[]) else { return };
    let mut command = stanchion(&["advise", "--machine", "small-vm", "--seeds", "1", "--quiet"]);
    command.args(["--json", "advice", "--keep", "kept", "--", "./program"]).current_dir(run.dir.path());
    let output = command.env("STANCHION_PRELOAD", library()).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let [advice, kept] = ["advice", "kept"].map(|name| fs::read(run.dir.path().join(name)).expect("written"));
    assert!(serde_json::from_slice::<Value>(&advice).is_ok() && kept.starts_with(b"STANCTRC"));
}

#[test]
fn the_last_line_of_advice_can_be_pasted() {
    let main = r#"int main(int count, char **words) {
        take(&a, 2000);
        return puts(count > 1 ? words[1] : "alone") < 0;
    }"#;
    let Some(run) = run(main, &[]) else { return };
    let advise = || {
        let mut command = stanchion(&["advise", "--machine", "small-vm", "--lock", "libc,stanchion,byte"]);
        command.args(["--seeds", "1", "--quiet"]);
        command.arg(run.trace());
        command
    };
    let output = advise().output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let line = printed.lines().last().expect("an answer");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{line} 'it'\\''s'")]).env("STANCHION_PRELOAD", library());
    let pasted = shell.env_remove("LD_PRELOAD").output().expect("a shell starts");
    assert_eq!(text(&pasted.stdout), "it's\n", "{line}: {}", text(&pasted.stderr));
    // The command may have a name that is no text.
    let output = advise().arg0(OsStr::from_bytes(b"\xff")).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
