//! The queue of one CPU: who waits, ordered by virtual run time, and who runs.
use crate::sched::Vcpu;
use crate::time::Time;
use std::collections::BTreeSet;

/// Run time in picoseconds, meaningful only against others of the same queue.
pub(super) type Virtual = i64;

/// A context that waits. The order of the fields is the order of the queue; `sequence` keeps equals in the
/// order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) vruntime: Virtual,
    pub(super) sequence: u64,
    pub(super) vcpu: Vcpu,
}

/// The context that runs.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) vcpu: Vcpu,
    pub(super) vruntime: Virtual,
    /// Up to when `vruntime` is right.
    pub(super) settled: Time,
    /// When its slice ends, if anybody waits.
    pub(super) slice_end: Time,
    /// When the engine will ask again.
    pub(super) asked_at: Time,
}

/// Who waits for a CPU and who runs on it.
#[derive(Clone, Debug, Default)]
pub(super) struct RunQueue {
    pub(super) waiting: BTreeSet<Entry>,
    pub(super) running: Option<Running>,
    /// The smallest virtual run time, never going back. What joins is placed relative to it.
    pub(super) floor: Virtual,
    /// Who goes next by a directed yield, unless it had too much already.
    pub(super) buddy: Option<Vcpu>,
    /// Who yielded and is passed over once, unless the others had too much already.
    pub(super) skipped: Option<Vcpu>,
}

impl RunQueue {
    /// Charges the running context up to `now`. Returns how long it ran since it was last charged.
    pub(super) fn settle(&mut self, now: Time) -> Time {
        let ran = self.running.as_mut().map_or(0, |running| {
            let ran = now.saturating_sub(running.settled);
            running.settled = running.settled.max(now);
            running.vruntime += ran.cast_signed();
            ran
        });
        self.raise_floor();
        ran
    }

    fn raise_floor(&mut self) {
        let running = self.running.as_ref().map(|running| running.vruntime);
        let first = self.waiting.first().map(|entry| entry.vruntime);
        if let Some(least) = running.into_iter().chain(first).min() {
            self.floor = self.floor.max(least);
        }
    }

    /// Takes who goes next: the buddy if it leads the first by at most `lead`, else the first; the second if
    /// the first is skipped and the second leads it by at most `lead`.
    pub(super) fn take_next(&mut self, lead: Virtual) -> Option<Entry> {
        let first = *self.waiting.first()?;
        // Looks at the whole queue, but only after a directed yield.
        let buddy = self
            .buddy
            .take()
            .and_then(|buddy| self.waiting.iter().find(|entry| entry.vcpu == buddy).copied());
        let skipped = self.skipped.take() == Some(first.vcpu);
        let second = self.waiting.iter().nth(1).copied().filter(|_| skipped);
        let in_reach = |entry: &Entry| entry.vruntime - first.vruntime <= lead;
        let next = buddy.filter(in_reach).or(second.filter(in_reach)).unwrap_or(first);
        self.waiting.remove(&next);
        Some(next)
    }

    /// Takes `entry` away, for another queue.
    pub(super) fn remove(&mut self, entry: &Entry) {
        let was_there = self.waiting.remove(entry);
        debug_assert!(was_there, "{entry:?} is taken from a queue in which it is not");
        for mark in [&mut self.buddy, &mut self.skipped] {
            mark.take_if(|marked| *marked == entry.vcpu);
        }
    }

    /// The virtual run time behind which everybody else has had their turn.
    pub(super) fn behind_all(&self) -> Virtual {
        self.waiting.last().map_or(self.floor, |entry| entry.vruntime)
    }
}
