//! What the host's scheduler gave to each vCPU's thread, from `/proc`.
use core::time::Duration;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Nanoseconds of a vCPU's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub cpu_ns: u64,
    /// It wanted to run and did not: what a hypervisor calls steal time.
    pub stolen_ns: u64,
}

/// How often it is read: that is work on the CPUs that the guest is measured on.
const READING: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Meter {
    tasks: PathBuf,
    first: Option<Vec<Given>>,
    last: Vec<Given>,
    /// When to read again; never once it is stopped.
    next: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(pid: Pid) -> Self {
        let tasks = format!("/proc/{}/task", pid.as_raw_nonzero()).into();
        Self { tasks, first: None, last: Vec::new(), next: Some(Instant::now()) }
    }

    /// Reads if it is time to. What was given before the first look does not count.
    pub(crate) fn look(&mut self) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.keep();
            self.next = Some(now + READING);
        }
    }

    /// What is given later does not count.
    pub(crate) fn stop(&mut self) {
        if self.next.take().is_some() {
            self.keep();
        }
    }

    fn keep(&mut self) {
        let now = read(&self.tasks);
        self.first.get_or_insert_with(|| now.clone());
        if now.len() >= self.last.len() {
            self.last = now;
        }
    }

    /// What each vCPU was given between, in their order.
    pub(crate) fn given(&self) -> Vec<Given> {
        let first = self.first.iter().flatten().copied().chain(core::iter::repeat(Given::default()));
        let since = |(last, first): (&Given, Given)| Given {
            cpu_ns: last.cpu_ns.saturating_sub(first.cpu_ns),
            stolen_ns: last.stolen_ns.saturating_sub(first.stolen_ns),
        };
        self.last.iter().zip(first).map(since).collect()
    }
}

/// All threads in `tasks` that are vCPUs, by their numbers; none if the process is gone.
fn read(tasks: &Path) -> Vec<Given> {
    let tasks = fs::read_dir(tasks).into_iter().flatten().flatten().map(|task| task.path());
    let found: BTreeMap<usize, Given> = tasks
        .filter_map(|task| {
            let vcpu = vcpu(&fs::read_to_string(task.join("comm")).ok()?)?;
            let given = schedstat(&fs::read_to_string(task.join("schedstat")).unwrap_or_default());
            Some((vcpu, given.or_else(|| stat(&fs::read_to_string(task.join("stat")).ok()?))?))
        })
        .collect();
    // With a gap the threads are just starting, or ending.
    let whole = found.keys().copied().eq(0..found.len());
    if whole { found.into_values().collect() } else { Vec::new() }
}

/// The number in a thread's name, as QEMU gives it: `CPU 3/TCG`.
fn vcpu(comm: &str) -> Option<usize> {
    comm.trim().strip_prefix("CPU ")?.split('/').next()?.parse().ok()
}

/// Time on a CPU and time on a run queue, in nanoseconds, and slices.
fn schedstat(text: &str) -> Option<Given> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let (cpu_ns, stolen_ns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    // A kernel that does not account says nothing but zeroes.
    (cpu_ns > 0).then_some(Given { cpu_ns, stolen_ns })
}

/// User and system time in ticks: all that a kernel without scheduler statistics tells.
fn stat(text: &str) -> Option<Given> {
    // The name before may have blanks and brackets in it.
    let mut fields = text.rsplit_once(") ")?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    let hertz = rustix::param::clock_ticks_per_second();
    Some(Given { cpu_ns: ticks.saturating_mul(1_000_000_000) / hertz.max(1), stolen_ns: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(dir: &Path, id: u32, comm: &str, file: &str, text: &str) {
        let dir = dir.join(id.to_string());
        fs::create_dir(&dir).expect("created");
        fs::write(dir.join("comm"), comm).expect("written");
        fs::write(dir.join(file), text).expect("written");
    }

    #[test]
    fn vcpus_are_found_by_their_names_and_put_in_order() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        thread(dir.path(), 10, "qemu-system-x86\n", "schedstat", "9 9 9\n");
        thread(dir.path(), 12, "CPU 1/TCG\n", "schedstat", "20 4 1\n");
        thread(dir.path(), 11, "CPU 0/KVM\n", "schedstat", "10 3 1\n");
        let given = |cpu_ns, stolen_ns| Given { cpu_ns, stolen_ns };
        assert_eq!(read(dir.path()), [given(10, 3), given(20, 4)]);
        thread(dir.path(), 14, "CPU 3/TCG\n", "schedstat", "1 1 1\n");
        assert!(read(dir.path()).is_empty(), "vCPU 2 is missing");
        assert!(read(&dir.path().join("gone")).is_empty());
    }

    #[test]
    fn without_scheduler_statistics_ticks_are_taken() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let text = "7 (CPU 0/TCG) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0";
        thread(dir.path(), 1, "CPU 0/TCG\n", "stat", text);
        let hertz = rustix::param::clock_ticks_per_second();
        assert_eq!(read(dir.path())[0].cpu_ns, 200 * 1_000_000_000 / hertz);
    }

    #[test]
    fn our_own_statistics_can_be_read() {
        let text = fs::read_to_string("/proc/thread-self/stat").expect("Linux");
        assert!(stat(&text).is_some(), "{text}");
    }
}
