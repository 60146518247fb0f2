//! The CPUs this run may use, and what else happens on them.
use core::time::Duration;
use rustix::io;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::time::Instant;

pub(crate) fn available_cpus() -> Vec<usize> {
    sched_getaffinity(None).map_or_else(
        |_| (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
        |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
    )
}

/// The CPUs of a list such as `0-3,8`, each of which this process must be allowed to use.
pub(crate) fn cpus(list: &str) -> Result<Vec<usize>, String> {
    let allowed = available_cpus();
    let mut cpus = BTreeSet::new();
    for word in list.split(',').map(str::trim) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else {
            return Err(format!("'{word}' is no CPU: write for example 0-3,8"));
        };
        if let Some(end) = [first, last].iter().find(|end| !allowed.contains(end)) {
            return Err(format!("this process may not use CPU {end}, only {allowed:?}"));
        }
        cpus.extend(allowed.iter().filter(|cpu| (first..=last).contains(cpu)));
    }
    if cpus.is_empty() { Err(format!("'{list}' names no CPU")) } else { Ok(cpus.into_iter().collect()) }
}

/// Restricts this process, and the workers it starts, to some CPUs. As it also runs between fork and exec,
/// it must neither allocate nor lock.
pub(crate) fn restrict_to(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    sched_setaffinity(None, &set)
}

/// Pins the calling thread to the last CPU it may use: the first one usually serves the interrupts.
pub(crate) fn pin_to_one_cpu() -> io::Result<()> {
    restrict_to(&[available_cpus().pop().unwrap_or_else(sched_getcpu)])
}

/// CPU time of the whole machine and of this run's processes, at one moment.
pub(crate) struct Activity {
    pub at: Instant,
    /// CPU seconds in which some program ran on a CPU of ours.
    pub busy: f64,
    /// CPU seconds in which a CPU of ours was ready to run and the hypervisor did not let it.
    pub stolen: f64,
    /// CPU seconds of this process and the workers that have ended.
    pub own: f64,
}

impl Activity {
    /// What the machine has done so far; nothing where it does not tell.
    pub(crate) fn sample(cpus: &[usize]) -> Self {
        let (busy, stolen) = busy_and_stolen(&read_to_string("/proc/stat").unwrap_or_default(), cpus);
        Self { at: Instant::now(), busy, stolen, own: family_cpu_time().as_secs_f64() }
    }

    /// Shares of the CPUs' capacity since `earlier` that went to other programs, and to other machines.
    pub(crate) fn shares_since(&self, earlier: &Self, cpus: usize) -> (f64, f64) {
        let capacity = (self.at - earlier.at).as_secs_f64() * cpus as f64;
        if capacity <= 0.0 {
            return (0.0, 0.0);
        }
        (self.others_since(earlier) / capacity, (self.stolen - earlier.stolen).max(0.0) / capacity)
    }

    /// CPU seconds that other programs ran on CPUs of ours.
    pub(crate) fn others_since(&self, earlier: &Self) -> f64 {
        ((self.busy - earlier.busy) - (self.own - earlier.own)).max(0.0)
    }
}

/// What the kernel has counted for this process, or for the children it has waited for.
#[expect(unsafe_code, reason = "getrusage has no safe wrapper among our dependencies")]
pub(crate) fn rusage(who: libc::c_int) -> libc::rusage {
    // SAFETY: a `rusage` is made of integers, for which zeroes are valid.
    let mut usage = unsafe { core::mem::zeroed() };
    // SAFETY: the pointer is to a writable `rusage`, which is all the call asks for.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

fn family_cpu_time() -> Duration {
    let usage = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(rusage);
    let times = usage.iter().flat_map(|usage| [usage.ru_utime, usage.ru_stime]);
    times.map(|time| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)).sum()
}

/// The unit of `/proc/stat`, which is a hundredth of a second wherever Linux runs.
const TICK: f64 = 0.01;

/// CPU seconds busy and stolen on some CPUs, from the text of `/proc/stat`.
fn busy_and_stolen(stat: &str, cpus: &[usize]) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for cpu in cpus {
        let name = format!("cpu{cpu} ");
        let line = stat.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_default();
        // Guest, the ninth, is part of user.
        let ticks: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] {
            sums.0 += (user + nice + system + irq + softirq) * TICK;
            sums.1 += steal * TICK;
        }
    }
    sums
}

/// Programs ready to run right now, other than the one asking.
pub(crate) fn other_runnable() -> usize {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    let running = text.split_whitespace().nth(3).and_then(|field| field.split('/').next()?.parse().ok());
    running.unwrap_or(1_usize).saturating_sub(1)
}

/// The frequency governor of the first CPU, where there is one.
pub(crate) fn governor() -> Option<String> {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    Some(read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 0 100 800 0 0 0 50 0 0\ncpu0 60 0 40 400 0 0 0 50 0 0\ncpu1 40 10 60 400 0 5 5 0 0 0\nintr 1\n";

    #[test]
    fn only_our_cpus_count() {
        let close = |(a, b): (f64, f64), (x, y): (f64, f64)| (a - x).abs() < 1e-9 && (b - y).abs() < 1e-9;
        assert!(close(busy_and_stolen(STAT, &[0]), (1.0, 0.5)));
        assert!(close(busy_and_stolen(STAT, &[0, 1]), (2.2, 0.5)));
        assert!(close(busy_and_stolen("", &[0]), (0.0, 0.0)));
    }

    #[test]
    fn what_we_use_ourselves_is_not_foreign() {
        let first = Activity { at: Instant::now(), busy: 5.0, stolen: 0.0, own: 1.0 };
        let at = first.at + Duration::from_secs(10);
        let last = Activity { at, busy: 25.0, stolen: 1.0, own: 19.0 };
        let (foreign, stolen) = last.shares_since(&first, 2);
        assert!((foreign - 0.1).abs() < 1e-9 && (stolen - 0.05).abs() < 1e-9);
    }

    #[test]
    fn this_machine_has_cpus_and_lists_of_them_are_checked() {
        let first = available_cpus()[0];
        assert_eq!(cpus(&first.to_string()), Ok(vec![first]));
        assert!(cpus("100000").is_err_and(|error| error.contains("may not use CPU 100000")));
        assert!(cpus("x").is_err() && cpus("").is_err());
    }

    #[test]
    fn usage_only_grows() {
        let (voluntary, cpu) = (rusage(libc::RUSAGE_SELF).ru_nvcsw, family_cpu_time());
        std::thread::sleep(Duration::from_millis(2));
        assert!(rusage(libc::RUSAGE_SELF).ru_nvcsw > voluntary);
        assert!(family_cpu_time() >= cpu);
    }
}
