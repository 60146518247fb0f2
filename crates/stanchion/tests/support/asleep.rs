//! Waiting in tests until every waiter sleeps.
use super::watch::until;
use core::time::Duration;
use std::fs;

const LOOKS: usize = 40;

/// Whether all threads but the calling one sleep. One that waits for a CPU does not.
fn all_sleep() -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let threads = fs::read_dir("/proc/self/task").expect("this process is there").flatten();
    let others = threads.filter(|thread| thread.file_name().to_string_lossy() != own);
    others.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok()).all(|stat| {
        // The state stands behind the name, which may have any letters.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    })
}

/// Waits until all threads but the calling one sleep in most of some looks. Waiters that look around now and
/// then are seen awake in few of them, those that poll or yield in nearly all. How long they spin before they
/// sleep is a matter of the build: with a sanitizer it is long.
pub(crate) fn until_asleep(report: impl Fn() -> String) {
    until("all waiters asleep", report, || {
        let asleep = (0..LOOKS).filter(|_| {
            std::thread::sleep(Duration::from_millis(2));
            all_sleep()
        });
        asleep.count() > LOOKS / 2
    });
}
