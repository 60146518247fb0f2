//! Equal shares by virtual run time, as Linux gives them to threads and KVM to vCPUs.
//!
//! Each CPU runs whoever of its queue has run least so far. CFS orders by virtual run time and EEVDF by
//! deadlines, but with equal weights and slices both come to the same turns. They differ in what a yield
//! costs: under EEVDF the turn, under CFS one look of the scheduler.
mod balance;
mod quota;
mod run_queue;

use super::occupancy::{Occupancy, homes};
use super::{Boost, Expiry, Housekeeping, Leave, Pcpu, Pick, Placement, Scheduler, Vcpu, renew};
use crate::machine::{Fair, FairShare, Topology};
use crate::random::Random;
use crate::time::Time;
use quota::Bandwidth;
use run_queue::{Entry, RunQueue, Running, Virtual};

/// The stream of randomness for this scheduler.
const STREAM: u64 = 0x5C4E_D001;

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
    /// Its virtual run time when it last began to wait or to sleep.
    vruntime: Virtual,
    /// When it last ran.
    ran_until: Option<Time>,
}

/// All queues.
#[derive(Debug)]
pub(crate) struct FairShareScheduler {
    parameters: FairShare,
    slice: Time,
    queues: Vec<RunQueue>,
    contexts: Vec<Context>,
    occupancy: Occupancy,
    bandwidth: Option<Bandwidth>,
    /// When the ticks come, after multiples of the granularity: on all CPUs at once, as Linux has them unless
    /// it is started with `skew_tick=1`.
    phase: Time,
    random: Random,
    balance_at: Time,
    sequence: u64,
    idling: Vec<Idling>,
}

/// When a CPU fell idle, and how long it idles on the average.
#[derive(Clone, Copy, Debug)]
struct Idling {
    since: Option<Time>,
    average: Time,
}

impl Idling {
    /// The CPU has work again at `now`. Linux averages over the last eight periods or so, none counted as
    /// longer than twice the cost of a pull.
    fn ends(&mut self, now: Time, pull_cost: Time) {
        if let Some(since) = self.since.take() {
            let period = (now - since).min(2 * pull_cost);
            self.average = (7 * self.average + period) / 8;
        }
    }
}

impl FairShareScheduler {
    /// For `vcpus` sleeping vCPUs, distributed evenly over the hardware threads `cpus`.
    pub(crate) fn new(
        parameters: &FairShare,
        topology: &Topology,
        cpus: &[usize],
        vcpus: usize,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, STREAM);
        let contexts = homes(topology, cpus, vcpus, &mut random)
            .into_iter()
            .map(|home| Context { home, state: State::Asleep, vruntime: 0, ran_until: None })
            .collect();
        Self {
            slice: parameters.slice.max(1),
            queues: vec![RunQueue::default(); cpus.len()],
            contexts,
            occupancy: Occupancy::new(topology, cpus),
            bandwidth: parameters.quota.as_ref().map(|quota| Bandwidth::new(quota, cpus.len())),
            phase: random.below(parameters.granularity.max(1)),
            balance_at: parameters.balance + random.below(parameters.balance.max(1)),
            random,
            sequence: 0,
            idling: vec![Idling { since: None, average: 2 * parameters.pull_cost }; cpus.len()],
            parameters: parameters.clone(),
        }
    }

    /// The first tick at or after `time`.
    fn tick_from(&self, time: Time) -> Time {
        match self.parameters.granularity {
            0 => time,
            tick => self.phase + time.saturating_sub(self.phase).div_ceil(tick) * tick,
        }
    }

    /// Charges what runs on `pcpu` for its time up to `now`.
    fn settle(&mut self, pcpu: Pcpu, now: Time) {
        let ran = self.queues[pcpu].settle(now);
        if let Some(bandwidth) = &mut self.bandwidth {
            bandwidth.charge(pcpu, ran);
        }
    }

    fn renew_slice(&mut self, pcpu: Pcpu, now: Time) {
        if let Some(running) = &mut self.queues[pcpu].running {
            running.slice_end = renew(running.slice_end, self.slice, now);
        }
    }

    /// When the engine is to ask about what runs on `pcpu`, which is settled; `None`: then as it was told
    /// last.
    fn new_deadline(&mut self, pcpu: Pcpu, now: Time) -> Option<Time> {
        let queue = &self.queues[pcpu];
        let running = queue.running.as_ref()?;
        let (slice_end, asked_at, alone) = (running.slice_end, running.asked_at, queue.waiting.is_empty());
        let mut time = if alone { Time::MAX } else { self.tick_from(slice_end) };
        if let Some(bandwidth) = &mut self.bandwidth {
            let allowed = bandwidth.grant(pcpu);
            time = time.min(self.tick_from(now + allowed));
        }
        if let Some(running) = &mut self.queues[pcpu].running {
            running.asked_at = time;
        }
        (time != asked_at).then_some(time)
    }

    /// Where somebody who led its old queue's floor by `lead` stands in the queue of `pcpu`. A sleeper gets
    /// credit for a slice at most: CFS gives half of its latency target, which is the slice of one of two,
    /// and EEVDF owes no more. Nobody starts further behind than two slices either, so that what happened
    /// elsewhere is forgotten.
    fn placed(&self, pcpu: Pcpu, lead: Virtual) -> Virtual {
        let slice = self.slice.cast_signed();
        self.queues[pcpu].floor + lead.clamp(-slice, 2 * slice)
    }

    fn enqueue(&mut self, vcpu: Vcpu, pcpu: Pcpu, vruntime: Virtual, now: Time) {
        if self.queues[pcpu].waiting.is_empty() {
            // EEVDF renews the slice of who runs alone, so a newcomer waits for what is left of the current
            // one.
            self.renew_slice(pcpu, now);
        }
        self.sequence += 1;
        let context = &mut self.contexts[vcpu];
        context.home = pcpu;
        context.state = State::Waiting;
        context.vruntime = vruntime;
        self.queues[pcpu].waiting.insert(Entry { vruntime, sequence: self.sequence, vcpu });
    }

    /// The CPU for a context that ran last on `home` and is woken from `waker`. An idle one, if wake-ups
    /// look for one, of those that share a cache with either; the others are not looked at. If there is
    /// none, Linux takes the waker's (`wake_affine`: they share data); the comparison of loads keeps one
    /// waker from collecting everybody.
    fn place(&self, home: Pcpu, waker: Option<Pcpu>, now: Time) -> Pcpu {
        // At the start everybody begins where they were dealt: evenly.
        if now == 0 || !self.parameters.wake_to_idle {
            return home;
        }
        let near = |pcpu| self.occupancy.idle_in_group(pcpu);
        near(home).or_else(|| near(waker?)).unwrap_or_else(|| {
            waker.filter(|&waker| self.occupancy.load(waker) <= self.occupancy.load(home)).unwrap_or(home)
        })
    }
}

impl Scheduler for FairShareScheduler {
    fn wake(&mut self, vcpu: Vcpu, waker: Option<Pcpu>, now: Time) -> Placement {
        debug_assert_eq!(self.contexts[vcpu].state, State::Asleep, "vCPU {vcpu} is woken while it is awake");
        let home = self.contexts[vcpu].home;
        let pcpu = self.place(home, waker, now);
        self.settle(home, now);
        self.settle(pcpu, now);
        let vruntime = self.placed(pcpu, self.contexts[vcpu].vruntime - self.queues[home].floor);
        self.occupancy.add(pcpu);
        self.enqueue(vcpu, pcpu, vruntime, now);
        let running = self.queues[pcpu].running.as_ref();
        let preempts = self.parameters.wake_preemption.is_some_and(|behind| {
            running.is_some_and(|running| running.vruntime - vruntime > behind.cast_signed())
        });
        let asks_again = if preempts { None } else { self.new_deadline(pcpu, now) };
        Placement { pcpu, preempts, asks_again }
    }

    fn leave(&mut self, pcpu: Pcpu, why: Leave, now: Time) {
        self.settle(pcpu, now);
        let queue = &mut self.queues[pcpu];
        let Some(running) = queue.running.take() else {
            debug_assert!(false, "nobody runs on CPU {pcpu}");
            return;
        };
        self.contexts[running.vcpu].ran_until = Some(now);
        match why {
            Leave::Preempted => {
                // Interrupts, softirqs and accounting make turns unequal. With exactly equal ones the queue
                // would keep the order in which contexts first ran for ever, which happens to be the order of
                // a FIFO lock.
                let noise = self.random.below(self.parameters.turn_noise.max(1)).cast_signed();
                self.enqueue(running.vcpu, pcpu, running.vruntime + noise, now);
            }
            Leave::Yielded => {
                let vruntime = match self.parameters.kind {
                    // It keeps its claim and is passed over once.
                    Fair::Cfs => {
                        queue.skipped = Some(running.vcpu);
                        running.vruntime
                    }
                    // It forfeits its claim on a turn before the others have had theirs.
                    Fair::Eevdf => running.vruntime.max(queue.behind_all()),
                };
                self.enqueue(running.vcpu, pcpu, vruntime, now);
            }
            Leave::Halted => {
                let context = &mut self.contexts[running.vcpu];
                context.state = State::Asleep;
                context.vruntime = running.vruntime;
                self.occupancy.remove(pcpu);
            }
        }
    }

    fn pick(&mut self, pcpu: Pcpu, now: Time) -> Option<Pick> {
        debug_assert!(self.queues[pcpu].running.is_none(), "CPU {pcpu} is not free");
        let worth = self.idling[pcpu].average >= self.parameters.pull_cost;
        if self.queues[pcpu].waiting.is_empty() && self.parameters.idle_pull && worth {
            self.pull(pcpu, now);
        }
        if self.queues[pcpu].waiting.is_empty() {
            self.idling[pcpu].since.get_or_insert(now);
        } else {
            self.idling[pcpu].ends(now, self.parameters.pull_cost);
        }
        if let Some(bandwidth) = &mut self.bandwidth {
            if self.queues[pcpu].waiting.is_empty() {
                bandwidth.release(pcpu);
            } else if bandwidth.grant(pcpu) == 0 {
                bandwidth.throttle(pcpu);
                return None;
            }
        }
        // CFS and EEVDF, too, follow a directed yield only within bounds, or two vCPUs that yield to each
        // other starve a third. Whom a directed yield named goes first only if the others are not much behind
        // it, as with any wake-up.
        let lead = self.parameters.wake_preemption.unwrap_or(self.slice);
        let entry = self.queues[pcpu].take_next(lead.cast_signed())?;
        self.contexts[entry.vcpu].state = State::Running;
        self.queues[pcpu].running = Some(Running {
            vcpu: entry.vcpu,
            vruntime: entry.vruntime,
            settled: now,
            slice_end: now + self.slice,
            asked_at: Time::MAX,
        });
        self.settle(pcpu, now);
        let until = self.new_deadline(pcpu, now).unwrap_or(Time::MAX);
        Some(Pick { vcpu: entry.vcpu, until })
    }

    fn starts_at(&mut self, pcpu: Pcpu, time: Time) {
        if let Some(running) = &mut self.queues[pcpu].running {
            (running.settled, running.slice_end) = (time, time + self.slice);
        }
    }

    fn expire(&mut self, pcpu: Pcpu, now: Time) -> Expiry {
        self.settle(pcpu, now);
        if self.bandwidth.as_mut().is_some_and(|bandwidth| bandwidth.grant(pcpu) == 0) {
            return Expiry::Leaves;
        }
        let queue = &self.queues[pcpu];
        let Some(running) = &queue.running else {
            debug_assert!(false, "nobody runs on CPU {pcpu}");
            return Expiry::Leaves;
        };
        if let Some(first) = queue.waiting.first() {
            let is_behind = now >= running.slice_end && first.vruntime <= running.vruntime;
            if is_behind || queue.buddy.is_some() {
                return Expiry::Leaves;
            }
        }
        let asked_at = running.asked_at;
        self.renew_slice(pcpu, now);
        Expiry::Stays(self.new_deadline(pcpu, now).unwrap_or(asked_at))
    }

    fn boost(&mut self, pcpu: Pcpu, target: Vcpu, _now: Time) -> Boost {
        if self.contexts[target].state != State::Waiting {
            return Boost::No;
        }
        let place = self.contexts[target].home;
        self.queues[place].buddy = Some(target);
        if place == pcpu { Boost::Here } else { Boost::There(place) }
    }

    fn is_wanted(&self, pcpu: Pcpu) -> bool {
        !self.queues[pcpu].waiting.is_empty()
    }

    fn housekeeping(&mut self, now: Time) -> Housekeeping {
        let mut work = Housekeeping::default();
        let mut next = Time::MAX;
        if self.bandwidth.as_ref().is_some_and(|bandwidth| bandwidth.refill_at <= now) {
            (0..self.queues.len()).for_each(|pcpu| self.settle(pcpu, now));
            if let Some(bandwidth) = &mut self.bandwidth {
                let queues = &self.queues;
                work.reschedule = bandwidth.refill(now, |pcpu| queues[pcpu].running.is_some());
                work.reschedule.retain(|&pcpu| queues[pcpu].running.is_none());
            }
        }
        if let Some(bandwidth) = &self.bandwidth {
            next = bandwidth.refill_at;
        }
        if self.parameters.balance > 0 {
            if self.balance_at <= now {
                self.balance(now, &mut work);
                self.balance_at = now + self.parameters.balance;
            }
            next = next.min(self.balance_at);
        }
        work.again = (next != Time::MAX).then_some(next);
        work
    }
}
