//! Runs simulations side by side, one engine a thread, and tells how far it is.
use crate::pool::spread;
use stanchion_sim::machine::Machine;
use stanchion_sim::workload::Workload;
use stanchion_sim::{Failure, MS, Spec};
use std::sync::Arc;

/// One run.
#[derive(Clone)]
pub struct Job {
    /// On which machine.
    pub machine: Arc<Machine>,
    /// Doing what.
    pub workload: Arc<Workload>,
    /// With which lock.
    pub lock: String,
    /// How many vCPUs.
    pub contexts: usize,
    /// Decides what is left to chance.
    pub seed: u64,
    /// Virtual time to measure.
    pub milliseconds: u64,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// The result in the workload's unit.
    pub value: f64,
    /// Of everything that happened: equal traces, equal runs.
    pub trace: u64,
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The user ended it.
    Stopped,
    /// It cannot be run, or the lock is broken; what was said.
    Failed(String),
}

/// Events that one run may take: a minute or so.
const MOST_EVENTS: u64 = 1_500_000_000;

/// Does one run.
fn run(job: &Job, stop: &(dyn Fn() -> bool + Sync)) -> Result<Done, Miss> {
    let spec = Spec {
        machine: &job.machine,
        workload: &job.workload,
        lock: &job.lock,
        tunings: &[],
        contexts: job.contexts,
        seed: job.seed,
        time: job.milliseconds * MS,
        warm_up: (job.milliseconds / 10).max(1) * MS,
        record: None,
        most_events: MOST_EVENTS,
    };
    match stanchion_sim::run(&spec, stop) {
        Ok(outcome) if outcome.cut_short && stop() => Err(Miss::Stopped),
        Ok(outcome) if outcome.cut_short => Err(Miss::Failed("too many events for one run".to_owned())),
        Ok(outcome) => Ok(Done { value: job.workload.score(&outcome).value, trace: outcome.hash }),
        Err(Failure::Refused(why) | Failure::Broken(why)) => Err(Miss::Failed(why)),
    }
}

/// Runs all of them on as many threads as this process has CPUs. `done` is called with each as it finishes,
/// on any of the threads.
///
/// Results do not depend on the threads: each run is decided by its job alone.
pub fn all(
    jobs: &[Job],
    stop: &(dyn Fn() -> bool + Sync),
    done: &(dyn Fn(usize, &Result<Done, Miss>) + Sync),
) -> Vec<Result<Done, Miss>> {
    let numbered: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
    let results = spread(&numbered, stop, |&(index, job)| {
        let result = run(job, stop);
        done(index, &result);
        result
    });
    results.into_iter().map(|result| result.unwrap_or(Err(Miss::Stopped))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use stanchion_sim::{machine, workload};

    fn job(lock: &str, seed: u64) -> Job {
        Job {
            machine: Arc::new(machine::load("xeon-e7-8895v3-4x18x2").expect("shipped").machine),
            workload: Arc::new(workload::load("locktorture").expect("shipped").workload),
            lock: lock.to_owned(),
            contexts: 4,
            seed,
            milliseconds: 2,
        }
    }

    #[test]
    fn results_come_in_order_and_do_not_depend_on_threads() {
        let jobs: Vec<Job> = (1..6).map(|seed| job("qspin", seed)).collect();
        let count = AtomicUsize::new(0);
        let together = all(&jobs, &|| false, &|_, _| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let alone: Vec<_> = jobs.iter().map(|job| run(job, &|| false)).collect();
        assert_eq!(together, alone);
        assert_eq!(count.into_inner(), 5);
        assert!(alone.iter().all(Result::is_ok), "{alone:?}");
    }

    #[test]
    fn what_cannot_run_says_so_and_a_stop_leaves_the_rest() {
        let failed = all(&[job("no-such-lock", 1)], &|| false, &|_, _| {});
        assert!(matches!(&failed[0], Err(Miss::Failed(why)) if why.contains("no-such-lock")), "{failed:?}");
        assert_eq!(all(&[job("qspin", 1)], &|| true, &|_, _| {}), [Err(Miss::Stopped)]);
    }
}
