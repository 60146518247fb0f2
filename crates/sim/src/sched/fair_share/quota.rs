//! A limit on the CPU time of all contexts together, as a cgroup's `cpu.max` sets one.
//!
//! Linux hands the budget of a period out to CPUs in portions of 5 ms, and so do we. A CPU that runs beyond
//! its portion (it notices at the tick) pays the debt from its next one. At the end of a period idle CPUs
//! give back all they have, and what running ones have left counts towards the next budget: in no period more
//! is used than the budget and one tick for each CPU. (Linux since 5.4 lets them keep it on top, and so may
//! exceed the budget in a single period.)
use crate::machine::Quota;
use crate::sched::Pcpu;
use crate::time::{MS, Time};

/// `sched_cfs_bandwidth_slice_us`.
const PORTION: Time = 5 * MS;
/// What an idle CPU keeps of its portion for the next wake-up.
const KEPT: i64 = MS.cast_signed();

/// The account of the period.
#[derive(Debug)]
pub(super) struct Bandwidth {
    quota: Quota,
    /// What no CPU has taken yet.
    pool: Time,
    /// What each CPU may still use; negative: what it owes.
    local: Vec<i64>,
    /// CPUs that found nothing left, the one that waits longest first: when there is too little for all, they
    /// take turns.
    throttled: Vec<Pcpu>,
    is_throttled: Vec<bool>,
    /// When the next period begins.
    pub(super) refill_at: Time,
}

impl Bandwidth {
    pub(super) fn new(quota: &Quota, cpus: usize) -> Self {
        let quota = Quota { period: quota.period.max(1), budget: quota.budget };
        Self {
            pool: quota.budget,
            local: vec![0; cpus],
            throttled: Vec::new(),
            is_throttled: vec![false; cpus],
            refill_at: quota.period,
            quota,
        }
    }

    /// `pcpu` ran for `time`.
    pub(super) fn charge(&mut self, pcpu: Pcpu, time: Time) {
        self.local[pcpu] -= time.cast_signed();
    }

    /// Whether anything is left for a CPU that has nothing.
    pub(super) fn is_exhausted(&self) -> bool {
        self.pool == 0
    }

    /// How long `pcpu` may run before it must be asked again, after taking a portion if it has none. 0: not
    /// at all.
    pub(super) fn grant(&mut self, pcpu: Pcpu) -> Time {
        let local = &mut self.local[pcpu];
        if *local <= 0 {
            let portion = (PORTION + local.unsigned_abs()).min(self.pool);
            self.pool -= portion;
            *local += portion.cast_signed();
        }
        u64::try_from(*local).unwrap_or(0)
    }

    /// `pcpu` has nothing to run: others may have most of what it has left.
    pub(super) fn release(&mut self, pcpu: Pcpu) {
        let surplus = (self.local[pcpu] - KEPT).max(0);
        self.local[pcpu] -= surplus;
        self.pool += surplus.unsigned_abs();
    }

    /// `pcpu` waits for the next period.
    pub(super) fn throttle(&mut self, pcpu: Pcpu) {
        if !self.is_throttled[pcpu] {
            self.is_throttled[pcpu] = true;
            self.throttled.push(pcpu);
        }
    }

    /// Begins the period in which `now` is. All CPUs are charged up to now; `runs` tells on which somebody
    /// runs. Returns those that waited for it, in the order in which they are to choose.
    pub(super) fn refill(&mut self, now: Time, runs: impl Fn(Pcpu) -> bool) -> Vec<Pcpu> {
        while self.refill_at <= now {
            self.refill_at += self.quota.period;
        }
        let mut still_out = 0;
        for (pcpu, local) in self.local.iter_mut().enumerate().filter(|(_, local)| **local > 0) {
            if runs(pcpu) {
                still_out += local.unsigned_abs();
            } else {
                *local = 0;
            }
        }
        self.pool = self.quota.budget.saturating_sub(still_out);
        self.is_throttled.fill(false);
        core::mem::take(&mut self.throttled)
    }
}
