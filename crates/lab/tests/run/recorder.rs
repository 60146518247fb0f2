//! What `stanchion run --record` needs itself is no work of the program.
use crate::preloaded::{stanchion, text};
use crate::record::{Run, run};
use serde_json::Value;
use std::fs;

/// What `main` follows: it may spin for so many microseconds.
const SPIN: &str = r"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000 + t.tv_nsec / 1000; }
static void spin(long micros) { for (long end = now() + micros; now() < end;) {} }
";

/// A program that was recorded, and the number that it said. None where there is no C compiler.
fn recorded(main: &str) -> Option<(Run, u32)> {
    let run = run(&format!("{SPIN}{main}"), &[])?;
    assert_eq!(run.code, Some(0), "{}", run.printed);
    let number = run.names[0].1.parse().expect("a number");
    Some((run, number))
}

#[test]
fn taking_pages_is_no_computing() {
    let main = r#"
static int taken;
int madvise(void *start, size_t length, int advice) {
    spin(100000);
    __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    return syscall(SYS_madvise, start, length, advice);
}
void *other(void *times) { take(&a, (long)times); return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, (void *)30000);
    take(&a, 30000);
    pthread_join(thread, 0);
    printf("taken %d\n", taken);
}"#;
    let Some((run, taken)) = recorded(main) else { return };
    assert!(taken >= 6, "both threads took pages, and more: {taken}");
    let advice = ["advise", "--machine", "small-vm", "--threads", "2", "--seeds", "1", "-q", "--json"];
    let file = run.dir.path().join("advice.json");
    let output = stanchion(&advice).arg(&file).arg(run.trace()).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let advice: Value = serde_json::from_slice(&fs::read(file).expect("written")).expect("good JSON");
    let rate = advice["cells"][0]["rate"]["mean"].as_f64().expect("a rate");
    // Both threads took pages four times and more: 150 000 a second would be left.
    assert!(rate > 400_000.0, "{rate} a second");
}

#[test]
fn the_system_is_asked_before_the_thread_has_a_lock() {
    let main = r#"
static int asked;
int getrusage(__rusage_who_t who, struct rusage *usage) {
    spin(1000);
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return syscall(SYS_getrusage, who, usage);
}
int main(void) {
    for (int i = 0; i < 100; i++) { spin(200); take(&a, 1); }
    printf("asked %d\n", asked);
}"#;
    let Some((run, asked)) = recorded(main) else { return };
    assert!(asked >= 100, "each time, as it has computed for long: {asked}");
    let figures = run.figures();
    let held = figures["locks"][0]["held_ns"].as_f64().expect("a number");
    assert!(held < 50e6, "100 holds of a millisecond would be 100 ms: {held} ns");
}
