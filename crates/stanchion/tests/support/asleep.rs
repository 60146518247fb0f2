//! Waiting in tests until every waiter sleeps.
use super::watch::until;
use core::time::Duration;

const WINDOW: Duration = Duration::from_millis(100);

/// The time that all threads of this process have had a CPU for.
fn cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Waits until the process uses less than `most` CPU time in a tenth of a second. How long waiters spin before is
/// a matter of the build: with a sanitizer it is long.
pub(crate) fn until_asleep(most: Duration, report: impl Fn() -> String) {
    until("all waiters asleep", report, || {
        let before = cpu_time();
        std::thread::sleep(WINDOW);
        cpu_time().saturating_sub(before) < most
    });
}
