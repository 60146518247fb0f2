//! Who runs where: the hypervisor's scheduler over its vCPUs, or the operating system's over threads, which
//! is the same.
//!
//! A scheduler is pure bookkeeping over virtual time: the engine tells it what happened and asks what to do;
//! it knows nothing of memory, locks or events. All answers are a function of the calls so far and the seed.
#[cfg(test)]
mod driver;
mod fair_share;
mod occupancy;
mod pinned;
mod round_robin;
#[cfg(test)]
mod tests;

use crate::machine::{Machine, SchedulerKind};
use crate::time::Time;

/// A vCPU or thread, numbered from 0.
pub(crate) type Vcpu = usize;
/// A physical CPU (a hardware thread), numbered from 0.
pub(crate) type Pcpu = usize;

/// Why a vCPU leaves its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Its slice is over, or somebody goes first. It stays runnable.
    Preempted,
    /// It offered its CPU. It stays runnable, behind the others.
    Yielded,
    /// It sleeps until it is woken.
    Halted,
}

/// Where a woken vCPU went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The CPU in whose queue it is.
    pub(crate) pcpu: Pcpu,
    /// Whether the vCPU that runs there is to leave for it now, as preempted.
    pub(crate) preempts: bool,
    /// From now on the scheduler wants to be asked again about the vCPU that runs there at this time, instead
    /// of when it said before; `None`: that stays as it was.
    pub(crate) asks_again: Option<Time>,
}

/// What a CPU does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pick {
    /// Who runs.
    pub(crate) vcpu: Vcpu,
    /// When the scheduler wants to be asked again (`expire`); `Time::MAX`: when something happens.
    pub(crate) until: Time,
}

/// What becomes of a vCPU whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// It goes on until then.
    Stays(Time),
    /// It leaves for somebody else.
    Leaves,
}

/// What became of a directed yield. Unless it is `No`, the engine makes the vCPU that asked leave as yielded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boost {
    /// The target is the next choice of the same CPU.
    Here,
    /// The target is the next choice of this other CPU, which must choose again: the vCPU that runs there, if
    /// one does, leaves as preempted.
    There(Pcpu),
    /// The target sleeps, runs already or had more than its share.
    No,
}

/// What regular work of the scheduler asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Housekeeping {
    /// CPUs that must choose again: the vCPU that runs there, if one does, leaves as preempted.
    pub(crate) reschedule: Vec<Pcpu>,
    /// CPUs on which a vCPU runs that have a new time to be asked again (see `Placement::asks_again`).
    pub(crate) deadlines: Vec<(Pcpu, Time)>,
    /// When to come again; `None`: no more.
    pub(crate) again: Option<Time>,
}

/// Decides which vCPU runs on which CPU.
///
/// The engine calls, for each vCPU: `wake` when it becomes runnable (first at the start), `pick` when a CPU
/// is free to choose, `leave` when the running vCPU of a CPU stops. Between `pick` and `leave` the vCPU runs
/// on that CPU. Time never goes back between calls. A `pick` may find nothing although a wake-up went to that
/// CPU: another CPU was faster.
///
/// Each CPU on which a vCPU runs has one time to be asked again: the latest that was said about it. Being
/// asked too early or too often does no harm.
pub(crate) trait Scheduler {
    /// `vcpu` becomes runnable at `now`, woken from CPU `waker` if somebody woke it.
    fn wake(&mut self, vcpu: Vcpu, waker: Option<Pcpu>, now: Time) -> Placement;

    /// The vCPU that runs on `pcpu` stops at `now`.
    fn leave(&mut self, pcpu: Pcpu, why: Leave, now: Time);

    /// Chooses who runs next on `pcpu`, on which nobody runs; `None`: it idles until a wake-up goes there or
    /// `housekeeping` names it.
    fn pick(&mut self, pcpu: Pcpu, now: Time) -> Option<Pick>;

    /// Who was chosen last for `pcpu` begins to run at `time` only, as the CPU has to wake up before.
    fn starts_at(&mut self, _pcpu: Pcpu, _time: Time) {}

    /// The time to be asked again about `pcpu` has come.
    fn expire(&mut self, pcpu: Pcpu, now: Time) -> Expiry;

    /// Directed yield of the vCPU that runs on `pcpu`: if `target` is runnable and does not run, it becomes
    /// the next choice of the CPU in whose queue it is. Fairness may still put somebody first who is far
    /// behind it.
    fn boost(&mut self, pcpu: Pcpu, target: Vcpu, now: Time) -> Boost;

    /// Whether anybody waits for `pcpu` (a yield would hand it over).
    fn is_wanted(&self, pcpu: Pcpu) -> bool;

    /// Regular work: balancing, refilling quotas. Called at time 0 first.
    fn housekeeping(&mut self, now: Time) -> Housekeeping;
}

/// The scheduler of some CPUs of `machine` for `vcpus` vCPUs, none of which is runnable yet. CPU *n* of the
/// scheduler is the hardware thread `cpus[n]`.
pub(crate) fn make(machine: &Machine, cpus: &[usize], vcpus: usize, seed: u64) -> Box<dyn Scheduler> {
    let topology = &machine.topology;
    match &machine.host.scheduler {
        SchedulerKind::Pinned => Box::new(pinned::Pinned::new(cpus.len(), vcpus)),
        SchedulerKind::FairShare(parameters) => {
            Box::new(fair_share::FairShareScheduler::new(parameters, topology, cpus, vcpus, seed))
        }
        SchedulerKind::RoundRobin(parameters) => {
            Box::new(round_robin::RoundRobinScheduler::new(parameters, topology, cpus, vcpus, seed))
        }
    }
}

/// When the slice that ends at `slice_end` ends, if it was renewed whenever it ended up to `now`.
fn renew(slice_end: Time, slice: Time, now: Time) -> Time {
    if slice_end > now { slice_end } else { slice_end + ((now - slice_end) / slice + 1) * slice }
}
