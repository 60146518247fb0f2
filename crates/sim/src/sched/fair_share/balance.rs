//! Moving contexts between queues, regularly and when a CPU has nothing to do.
use super::FairShareScheduler;
use super::run_queue::Entry;
use crate::sched::{Housekeeping, Pcpu};
use crate::time::{Time, US};
use std::collections::BTreeSet;

/// What ran less than this ago has its data in its CPU's caches (`sched_migration_cost`).
const CACHE_HOT: Time = 500 * US;
/// For each so many CPUs one pair of queues is looked at for a move that evens out waiting over time.
const CPUS_PER_ROTATION: usize = 16;

impl FairShareScheduler {
    /// Evens out queue lengths, first within groups, then within sockets, then over the machine. Queues whose
    /// lengths differ by two or more always move somebody. Among lengths that differ by one a few random
    /// pairs do, unless who would move is cache hot: three contexts on two CPUs thus take turns at having a
    /// CPU for themselves.
    pub(super) fn balance(&mut self, now: Time, work: &mut Housekeeping) {
        let mut touched = BTreeSet::new();
        if !self.is_even() {
            for domain in self.occupancy.all_domains() {
                self.even_out(&domain, now, &mut touched);
            }
        }
        for _ in 0..=self.queues.len() / CPUS_PER_ROTATION {
            self.rotate(now, &mut touched);
        }
        for pcpu in touched {
            if self.queues[pcpu].running.is_none() {
                if !work.reschedule.contains(&pcpu) {
                    work.reschedule.push(pcpu);
                }
            } else if let Some(time) = self.new_deadline(pcpu, now) {
                work.deadlines.push((pcpu, time));
            }
        }
    }

    /// Whether no two queues differ by more than one.
    fn is_even(&self) -> bool {
        let loads = || (0..self.queues.len()).map(|pcpu| self.occupancy.load(pcpu));
        loads().max().unwrap_or(0) <= loads().min().unwrap_or(0) + 1
    }

    fn even_out(&mut self, domain: &[Pcpu], now: Time, touched: &mut BTreeSet<Pcpu>) {
        // Equals in random order, so that no CPU is always the one that gives or gets.
        let mut by_load: BTreeSet<(u32, u64, Pcpu)> =
            domain.iter().map(|&pcpu| (self.occupancy.load(pcpu), self.random.next(), pcpu)).collect();
        while let (Some(&least), Some(&most)) = (by_load.first(), by_load.last())
            && most.0 > least.0 + 1
        {
            let Some(entry) = self.candidate(most.2, now) else { break };
            self.migrate(&entry, most.2, least.2, now);
            touched.insert(least.2);
            by_load.remove(&least);
            by_load.remove(&most);
            by_load.insert((least.0 + 1, least.1, least.2));
            by_load.insert((most.0 - 1, most.1, most.2));
        }
    }

    fn rotate(&mut self, now: Time, touched: &mut BTreeSet<Pcpu>) {
        let count = self.queues.len() as u64;
        let from = self.random.below(count) as usize;
        let to = self.random.below(count) as usize;
        let differ_by_one = self.occupancy.load(from) == self.occupancy.load(to) + 1;
        if differ_by_one
            && let Some(entry) = self.candidate(from, now)
            && !self.is_hot(&entry, now)
        {
            self.migrate(&entry, from, to, now);
            touched.insert(to);
        }
    }

    /// Somebody who waits for `pcpu`, at random but preferring those that are not cache hot. Looks at the
    /// whole queue.
    fn candidate(&mut self, pcpu: Pcpu, now: Time) -> Option<Entry> {
        let count = self.queues[pcpu].waiting.len();
        if count == 0 {
            return None;
        }
        let start = self.random.below(count as u64) as usize;
        let waiting = &self.queues[pcpu].waiting;
        let around = || waiting.iter().skip(start).chain(waiting.iter().take(start));
        around().find(|entry| !self.is_hot(entry, now)).or_else(|| around().next()).copied()
    }

    fn is_hot(&self, entry: &Entry, now: Time) -> bool {
        let ran_until = self.contexts[entry.vcpu].ran_until;
        ran_until.is_some_and(|time| now - time < CACHE_HOT)
    }

    /// Gives `pcpu`, which has nothing to do, the one who goes next where too many are, as near as possible.
    /// Cache hot or not: an idle CPU is worse.
    pub(super) fn pull(&mut self, pcpu: Pcpu, now: Time) {
        // What waits for the budget's next period cannot run here either.
        if self.bandwidth.as_ref().is_some_and(super::Bandwidth::is_exhausted) {
            return;
        }
        if let Some(from) = self.occupancy.crowded_near(pcpu)
            && let Some(&entry) = self.queues[from].waiting.first()
        {
            self.migrate(&entry, from, pcpu, now);
        }
    }

    /// Moves who waits in one queue to another, as far behind its new neighbours as it was behind its old
    /// ones.
    fn migrate(&mut self, entry: &Entry, from: Pcpu, to: Pcpu, now: Time) {
        self.settle(from, now);
        self.settle(to, now);
        let lead = entry.vruntime - self.queues[from].floor;
        self.queues[from].remove(entry);
        self.occupancy.remove(from);
        self.occupancy.add(to);
        self.enqueue(entry.vcpu, to, self.placed(to, lead), now);
    }
}
