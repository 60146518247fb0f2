//! What `stanchion run --record` adds to a program itself.
use crate::preloaded::{stanchion, text};
use crate::record::run;
use serde_json::Value;
use std::fs;

#[test]
fn what_the_recorder_itself_needs_is_no_work_of_the_program() {
    // Whatever gives the recorder pages needs a tenth of a second for it, computing.
    let main = r"
#include <sys/mman.h>
#include <sys/syscall.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
int madvise(void *start, size_t length, int advice) {
    for (long end = now() + 100; now() < end;) {}
    return syscall(SYS_madvise, start, length, advice);
}
void *other(void *times) { take(&a, (long)times); return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, (void *)30000);
    take(&a, 30000);
    pthread_join(thread, 0);
}";
    let Some(run) = run(main, &[]) else { return };
    assert_eq!(run.code, Some(0), "{}", run.printed);
    let advice = ["advise", "--machine", "small-vm", "--threads", "2", "--seeds", "1", "-q", "--json"];
    let file = run.dir.path().join("advice.json");
    let output = stanchion(&advice).arg(&file).arg(run.trace()).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let advice: Value = serde_json::from_slice(&fs::read(file).expect("written")).expect("good JSON");
    let rate = advice["cells"][0]["rate"]["mean"].as_f64().expect("a rate");
    // Two threads take pages five times each, or more often: 120 000 a second would be left.
    assert!(rate > 250_000.0, "{rate} a second");
}
