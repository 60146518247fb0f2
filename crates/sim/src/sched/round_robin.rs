//! One queue for each CPU, in turns, as Xen's credit scheduler and simple hypervisors have it.
//!
//! Of credit only the boost is modelled: who wakes up goes ahead of those whose turn it is, until it has run
//! for a slice in all since its own last turn. That stands for credit's accounts (only a vCPU with credit
//! left is boosted) and bounds how long anybody waits: until my turn each other vCPU has at most its turn and
//! two slices of boosted time.
use super::occupancy::{Occupancy, homes};
use super::{Boost, Expiry, Housekeeping, Leave, Pcpu, Pick, Placement, Scheduler, Vcpu, renew};
use crate::machine::{RoundRobin, Topology};
use crate::random::Random;
use crate::time::{MS, Time};
use std::collections::VecDeque;

/// Credit takes the boost away from a vCPU that runs when this regular tick comes.
const TICK: Time = 10 * MS;
/// The stream of randomness for this scheduler.
const STREAM: u64 = 0x5C4E_D002;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Waiting,
    Running,
}

#[derive(Clone, Debug)]
struct Context {
    /// The CPU in whose queue it is or was last.
    home: Pcpu,
    state: State,
    /// What is left of its turn.
    left: Time,
    /// How long it ran since its last full turn began.
    used: Time,
}

#[derive(Clone, Debug)]
struct Running {
    vcpu: Vcpu,
    since: Time,
    slice_end: Time,
    boosted: bool,
    /// When the engine will ask again.
    asked_at: Time,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    running: Option<Running>,
    /// Who goes next by a directed yield.
    chosen: Option<Vcpu>,
    boosted: VecDeque<Vcpu>,
    waiting: VecDeque<Vcpu>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.chosen.is_none() && self.boosted.is_empty() && self.waiting.is_empty()
    }

    /// Removes `vcpu` from whatever part it waits in. Looks at the whole queue: for directed yields only,
    /// which are rare.
    fn remove(&mut self, vcpu: Vcpu) {
        if self.chosen == Some(vcpu) {
            self.chosen = None;
        }
        self.boosted.retain(|&other| other != vcpu);
        self.waiting.retain(|&other| other != vcpu);
    }
}

/// All queues.
#[derive(Debug)]
pub(crate) struct RoundRobinScheduler {
    slice: Time,
    boost: bool,
    steal: bool,
    queues: Vec<Queue>,
    contexts: Vec<Context>,
    occupancy: Occupancy,
    /// When each CPU's tick comes, after multiples of [`TICK`].
    phases: Vec<Time>,
}

impl RoundRobinScheduler {
    /// For `vcpus` sleeping vCPUs, distributed evenly over the hardware threads `cpus`.
    pub(crate) fn new(
        parameters: &RoundRobin,
        topology: &Topology,
        cpus: &[usize],
        vcpus: usize,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, STREAM);
        let slice = parameters.slice.max(1);
        let contexts = homes(topology, cpus, vcpus, &mut random)
            .into_iter()
            .map(|home| Context { home, state: State::Asleep, left: slice, used: 0 })
            .collect();
        Self {
            slice,
            boost: parameters.boost,
            steal: parameters.steal,
            queues: vec![Queue::default(); cpus.len()],
            contexts,
            occupancy: Occupancy::new(topology, cpus),
            phases: cpus.iter().map(|_| random.below(TICK)).collect(),
        }
    }

    /// Whether what runs on `pcpu` is still boosted: no tick has come since it began.
    fn runs_boosted(&self, pcpu: Pcpu, now: Time) -> bool {
        let ticks = |time: Time| (time + TICK - self.phases[pcpu]) / TICK;
        let running = self.queues[pcpu].running.as_ref();
        running.is_some_and(|running| running.boosted && ticks(running.since) >= ticks(now))
    }

    /// Whether `vcpu` may go ahead of others.
    fn has_credit(&self, vcpu: Vcpu) -> bool {
        self.contexts[vcpu].used < self.slice
    }

    /// Takes the longest waiting context of the nearest CPU that has too many.
    fn steal_for(&mut self, pcpu: Pcpu) -> Option<(Vcpu, bool)> {
        let from = self.occupancy.crowded_near(pcpu)?;
        let queue = &mut self.queues[from];
        let boosted = queue.boosted.pop_front();
        let vcpu = boosted.or_else(|| queue.waiting.pop_front()).or_else(|| queue.chosen.take())?;
        self.occupancy.remove(from);
        self.occupancy.add(pcpu);
        self.contexts[vcpu].home = pcpu;
        Some((vcpu, boosted.is_some()))
    }

    /// Who goes next on `pcpu`, and whether boosted.
    fn take_next(&mut self, pcpu: Pcpu) -> Option<(Vcpu, bool)> {
        let queue = &mut self.queues[pcpu];
        let ahead = queue.chosen.take().or_else(|| queue.boosted.pop_front());
        let next =
            ahead.map(|vcpu| (vcpu, true)).or_else(|| queue.waiting.pop_front().map(|vcpu| (vcpu, false)));
        if next.is_none() && self.steal { self.steal_for(pcpu) } else { next }
    }
}

impl Scheduler for RoundRobinScheduler {
    fn wake(&mut self, vcpu: Vcpu, _waker: Option<Pcpu>, now: Time) -> Placement {
        debug_assert_eq!(self.contexts[vcpu].state, State::Asleep, "vCPU {vcpu} is woken while it is awake");
        let home = self.contexts[vcpu].home;
        // An idle CPU would steal it at once. At the start everybody begins where they were dealt: evenly.
        let pcpu = if self.steal && now > 0 { self.occupancy.idle_near(home).unwrap_or(home) } else { home };
        let boosted = self.boost && self.has_credit(vcpu);
        let preempts = boosted && self.queues[pcpu].running.is_some() && !self.runs_boosted(pcpu, now);
        let context = &mut self.contexts[vcpu];
        context.home = pcpu;
        context.state = State::Waiting;
        self.occupancy.add(pcpu);
        let queue = &mut self.queues[pcpu];
        let was_empty = queue.is_empty();
        if boosted { &mut queue.boosted } else { &mut queue.waiting }.push_back(vcpu);
        let asks_again = queue.running.as_mut().filter(|_| !preempts).and_then(|running| {
            if was_empty {
                running.slice_end = renew(running.slice_end, self.slice, now);
            }
            let changes = running.asked_at != running.slice_end;
            running.asked_at = running.slice_end;
            changes.then_some(running.slice_end)
        });
        Placement { pcpu, preempts, asks_again }
    }

    fn leave(&mut self, pcpu: Pcpu, why: Leave, now: Time) {
        let boosted = self.runs_boosted(pcpu, now);
        let queue = &mut self.queues[pcpu];
        let Some(running) = queue.running.take() else {
            debug_assert!(false, "nobody runs on CPU {pcpu}");
            return;
        };
        let context = &mut self.contexts[running.vcpu];
        context.used += now.saturating_sub(running.since);
        context.state = if why == Leave::Halted { State::Asleep } else { State::Waiting };
        let turn_is_over = now >= running.slice_end;
        context.left = self.slice;
        match why {
            Leave::Halted => self.occupancy.remove(pcpu),
            Leave::Yielded => queue.waiting.push_back(running.vcpu),
            Leave::Preempted if turn_is_over => queue.waiting.push_back(running.vcpu),
            // It had its turn taken away, and gets the rest of it as soon as the others are through.
            Leave::Preempted => {
                context.left = running.slice_end - now.max(running.since);
                if boosted { &mut queue.boosted } else { &mut queue.waiting }.push_front(running.vcpu);
            }
        }
    }

    fn pick(&mut self, pcpu: Pcpu, now: Time) -> Option<Pick> {
        debug_assert!(self.queues[pcpu].running.is_none(), "CPU {pcpu} is not free");
        let (vcpu, boosted) = self.take_next(pcpu)?;
        let context = &mut self.contexts[vcpu];
        context.state = State::Running;
        if !boosted && context.left == self.slice {
            context.used = 0;
        }
        let slice_end = now + context.left;
        let queue = &mut self.queues[pcpu];
        let until = if queue.is_empty() { Time::MAX } else { slice_end };
        queue.running = Some(Running { vcpu, since: now, slice_end, boosted, asked_at: until });
        Some(Pick { vcpu, until })
    }

    fn starts_at(&mut self, pcpu: Pcpu, time: Time) {
        if let Some(running) = &mut self.queues[pcpu].running {
            running.slice_end += time - running.since;
            running.since = time;
        }
    }

    fn expire(&mut self, pcpu: Pcpu, now: Time) -> Expiry {
        let queue = &mut self.queues[pcpu];
        let is_wanted = !queue.is_empty();
        let Some(running) = &mut queue.running else {
            debug_assert!(false, "nobody runs on CPU {pcpu}");
            return Expiry::Leaves;
        };
        if is_wanted && now >= running.slice_end {
            return Expiry::Leaves;
        }
        running.asked_at = if is_wanted { running.slice_end } else { Time::MAX };
        Expiry::Stays(running.asked_at)
    }

    fn boost(&mut self, pcpu: Pcpu, target: Vcpu, _now: Time) -> Boost {
        if self.contexts[target].state != State::Waiting || !self.has_credit(target) {
            return Boost::No;
        }
        let place = self.contexts[target].home;
        let queue = &mut self.queues[place];
        queue.remove(target);
        if let Some(earlier) = queue.chosen.replace(target) {
            queue.boosted.push_front(earlier);
        }
        if place == pcpu { Boost::Here } else { Boost::There(place) }
    }

    fn is_wanted(&self, pcpu: Pcpu) -> bool {
        !self.queues[pcpu].is_empty()
    }

    fn housekeeping(&mut self, _now: Time) -> Housekeeping {
        Housekeeping::default()
    }
}
