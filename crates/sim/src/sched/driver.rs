//! A small engine for tests: runs random workloads on a scheduler and notices every broken promise.
use super::{Boost, Expiry, Leave, Pcpu, Pick, Scheduler, Vcpu};
use crate::machine::Quota;
use crate::random::{Random, mix};
use crate::time::{Time, US};

/// The longest time from a call that empties or fills a CPU until the driver picks for it.
const LATENCY: Time = 20 * US;

/// What a vCPU does with its time, in picoseconds on the average.
#[derive(Clone, Copy, Debug)]
pub(super) enum Habit {
    /// Computes for ever.
    Spins,
    /// Runs, sleeps, is woken by whoever runs.
    Sleeps { runs: Time, sleeps: Time },
    /// Runs, yields.
    Yields { runs: Time },
    /// Runs, yields to somebody, whether that makes sense or not.
    Directs { runs: Time },
}

/// What is promised of a scheduler besides what holds for all.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// How long a CPU may idle while somebody waits.
    pub(super) idle_limit: Option<Time>,
    /// How long anybody may wait.
    pub(super) wait_limit: Option<Time>,
    /// The budget, and by how much all together may exceed it in a period.
    pub(super) quota: Option<(Quota, Time)>,
}

/// A broken promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// It was picked while it slept.
    RunsAsleep(Vcpu),
    /// It was picked while it ran.
    RunsTwice(Vcpu),
    /// It waited for too long.
    Starves(Vcpu),
    /// It is runnable, but in no queue.
    Lost(Vcpu),
    /// It idled while somebody waited.
    Idles(Pcpu),
    /// Somebody waits for it, but the engine was not told to ask.
    NeverAsks(Pcpu),
    /// It was to be asked again, now and for ever.
    StandsStill(Pcpu),
    /// More than the budget was used in a period.
    Overspends(Time),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep { until: Time },
    Waiting { since: Time },
    Running { since: Time, stops: Time },
}

#[derive(Clone, Debug)]
struct Context {
    habit: Habit,
    state: State,
    /// How long it still runs until it does what it does.
    burst: Time,
    ran: Time,
}

#[derive(Clone, Debug, Default)]
struct Cpu {
    running: Option<Vcpu>,
    ask_at: Time,
    pick_at: Option<Time>,
    idle_since: Option<Time>,
}

enum Event {
    Housekeeping,
    Ask(Pcpu),
    Pick(Pcpu),
    Stop(Vcpu),
    Wake(Vcpu),
}

/// What a run without violations came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// The time each vCPU ran.
    pub(super) ran: Vec<Time>,
    /// The longest time anybody waited.
    pub(super) longest_wait: Time,
    /// A digest of all answers of the scheduler.
    pub(super) digest: u64,
}

/// The engine.
pub(super) struct Driver {
    scheduler: Box<dyn Scheduler>,
    rules: Rules,
    random: Random,
    now: Time,
    cpus: Vec<Cpu>,
    contexts: Vec<Context>,
    housekeeping_at: Option<Time>,
    used_in_periods: Vec<Time>,
    longest_wait: Time,
    digest: u64,
}

impl Driver {
    pub(super) fn new(
        scheduler: Box<dyn Scheduler>,
        cpus: usize,
        habits: &[Habit],
        rules: Rules,
        seed: u64,
    ) -> Self {
        let contexts = habits
            .iter()
            .map(|&habit| Context { habit, state: State::Asleep { until: 0 }, burst: 0, ran: 0 })
            .collect();
        Self {
            scheduler,
            rules,
            random: Random::new(seed, 0xD41),
            now: 0,
            cpus: vec![Cpu::default(); cpus],
            contexts,
            housekeeping_at: Some(0),
            used_in_periods: Vec::new(),
            longest_wait: 0,
            digest: 0,
        }
    }

    /// Runs up to `end`, then empties all queues to see that nobody is lost.
    pub(super) fn run(mut self, end: Time) -> Result<Report, Violation> {
        while let Some((time, event)) = self.next_event().filter(|&(time, _)| time <= end) {
            self.now = time;
            self.handle(&event)?;
            self.expect_nobody_forgotten()?;
        }
        self.now = end;
        self.drain()?;
        let ran = self.contexts.iter().map(|context| context.ran).collect();
        Ok(Report { ran, longest_wait: self.longest_wait, digest: self.digest })
    }

    fn next_event(&self) -> Option<(Time, Event)> {
        let housekeeping = self.housekeeping_at.map(|time| (time, Event::Housekeeping));
        let cpus = self.cpus.iter().enumerate().flat_map(|(pcpu, cpu)| {
            let ask = cpu.running.filter(|_| cpu.ask_at < Time::MAX).map(|_| (cpu.ask_at, Event::Ask(pcpu)));
            [ask, cpu.pick_at.map(|time| (time, Event::Pick(pcpu)))].into_iter().flatten()
        });
        let contexts = self.contexts.iter().enumerate().filter_map(|(vcpu, context)| match context.state {
            State::Asleep { until } => Some((until, Event::Wake(vcpu))),
            State::Running { stops, .. } if stops < Time::MAX => Some((stops, Event::Stop(vcpu))),
            _ => None,
        });
        housekeeping.into_iter().chain(cpus).chain(contexts).min_by_key(|&(time, _)| time)
    }

    fn handle(&mut self, event: &Event) -> Result<(), Violation> {
        match *event {
            Event::Housekeeping => self.housekeeping(),
            Event::Ask(pcpu) => match self.scheduler.expire(pcpu, self.now) {
                Expiry::Stays(time) if time <= self.now => return Err(Violation::StandsStill(pcpu)),
                Expiry::Stays(time) => {
                    self.note(1, time);
                    self.cpus[pcpu].ask_at = time;
                }
                Expiry::Leaves => self.leave(pcpu, Leave::Preempted),
            },
            Event::Pick(pcpu) => self.pick(pcpu)?,
            Event::Stop(vcpu) => self.stop(vcpu),
            Event::Wake(vcpu) => self.wake(vcpu),
        }
        self.expect_budget_kept()
    }

    fn note(&mut self, what: usize, time: Time) {
        self.digest = mix(self.digest ^ mix(what as u64) ^ time ^ self.now.rotate_left(20));
    }

    fn housekeeping(&mut self) {
        let work = self.scheduler.housekeeping(self.now);
        self.housekeeping_at = work.again;
        self.note(2, work.again.unwrap_or(0));
        for pcpu in work.reschedule {
            self.reschedule(pcpu);
        }
        for (pcpu, time) in work.deadlines {
            self.note(pcpu, time);
            self.cpus[pcpu].ask_at = time;
        }
    }

    fn reschedule(&mut self, pcpu: Pcpu) {
        self.note(pcpu, 3);
        if self.cpus[pcpu].running.is_some() {
            self.leave(pcpu, Leave::Preempted);
        } else {
            self.pick_soon(pcpu);
        }
    }

    fn pick_soon(&mut self, pcpu: Pcpu) {
        let cpu = &mut self.cpus[pcpu];
        cpu.idle_since = None;
        if cpu.running.is_none() && cpu.pick_at.is_none() {
            cpu.pick_at = Some(self.now + self.random.below(LATENCY));
        }
    }

    fn pick(&mut self, pcpu: Pcpu) -> Result<(), Violation> {
        self.cpus[pcpu].pick_at = None;
        let Some(Pick { vcpu, until }) = self.scheduler.pick(pcpu, self.now) else {
            self.cpus[pcpu].idle_since = Some(self.now);
            return Ok(());
        };
        self.note(vcpu, until);
        let context = &mut self.contexts[vcpu];
        match context.state {
            State::Asleep { .. } => return Err(Violation::RunsAsleep(vcpu)),
            State::Running { .. } => return Err(Violation::RunsTwice(vcpu)),
            State::Waiting { since } => self.longest_wait = self.longest_wait.max(self.now - since),
        }
        context.state = State::Running { since: self.now, stops: self.now.saturating_add(context.burst) };
        let cpu = &mut self.cpus[pcpu];
        cpu.running = Some(vcpu);
        cpu.ask_at = until;
        Ok(())
    }

    fn leave(&mut self, pcpu: Pcpu, why: Leave) {
        let Some(vcpu) = self.cpus[pcpu].running.take() else { return };
        self.scheduler.leave(pcpu, why, self.now);
        let context = &mut self.contexts[vcpu];
        if let State::Running { since, stops } = context.state {
            context.ran += self.now - since;
            context.burst = if stops == Time::MAX { Time::MAX } else { stops - self.now };
            Self::use_budget(&mut self.used_in_periods, &self.rules, since, self.now);
        }
        context.state = State::Waiting { since: self.now };
        self.pick_soon(pcpu);
    }

    fn use_budget(used: &mut Vec<Time>, rules: &Rules, mut since: Time, now: Time) {
        let Some((quota, _)) = &rules.quota else { return };
        while since < now {
            let period = (since / quota.period) as usize;
            let until = now.min((since / quota.period + 1) * quota.period);
            used.resize(used.len().max(period + 1), 0);
            used[period] += until - since;
            since = until;
        }
    }

    /// Between half of `mean` and half as much again.
    fn around(&mut self, mean: Time) -> Time {
        mean / 2 + self.random.below(mean.max(1)) + 1
    }

    fn next_burst(&mut self, vcpu: Vcpu) -> Time {
        match self.contexts[vcpu].habit {
            Habit::Spins => Time::MAX,
            Habit::Sleeps { runs, .. } | Habit::Yields { runs } | Habit::Directs { runs } => {
                self.around(runs)
            }
        }
    }

    /// `vcpu` ran as long as it wanted.
    fn stop(&mut self, vcpu: Vcpu) {
        let Some(pcpu) = self.cpus.iter().position(|cpu| cpu.running == Some(vcpu)) else { return };
        match self.contexts[vcpu].habit {
            Habit::Spins => {}
            Habit::Sleeps { sleeps, .. } => {
                self.leave(pcpu, Leave::Halted);
                let until = self.now + self.around(sleeps);
                self.contexts[vcpu].state = State::Asleep { until };
            }
            Habit::Yields { .. } => self.leave(pcpu, Leave::Yielded),
            Habit::Directs { .. } => {
                let target = self.random.below(self.contexts.len() as u64) as usize;
                let answer = self.scheduler.boost(pcpu, target, self.now);
                if let Boost::There(other) = answer {
                    self.reschedule(other);
                }
                if answer == Boost::No {
                    let stops = self.now + self.next_burst(vcpu);
                    if let State::Running { stops: old, .. } = &mut self.contexts[vcpu].state {
                        *old = stops;
                    }
                    return;
                }
                self.leave(pcpu, Leave::Yielded);
            }
        }
        self.contexts[vcpu].burst = self.next_burst(vcpu);
    }

    fn wake(&mut self, vcpu: Vcpu) {
        let wakers: Vec<Pcpu> =
            (0..self.cpus.len()).filter(|&pcpu| self.cpus[pcpu].running.is_some()).collect();
        let waker = wakers.get(self.random.below(wakers.len() as u64 + 1) as usize).copied();
        if self.contexts[vcpu].burst == 0 {
            self.contexts[vcpu].burst = self.next_burst(vcpu);
        }
        self.contexts[vcpu].state = State::Waiting { since: self.now };
        let placement = self.scheduler.wake(vcpu, waker, self.now);
        self.note(placement.pcpu, placement.asks_again.unwrap_or(u64::from(placement.preempts)));
        if let Some(time) = placement.asks_again {
            self.cpus[placement.pcpu].ask_at = time;
        }
        if placement.preempts {
            self.leave(placement.pcpu, Leave::Preempted);
        } else {
            self.pick_soon(placement.pcpu);
        }
    }

    fn expect_nobody_forgotten(&mut self) -> Result<(), Violation> {
        let mut somebody_waits = false;
        for (vcpu, context) in self.contexts.iter().enumerate() {
            if let State::Waiting { since } = context.state {
                somebody_waits = true;
                if self.rules.wait_limit.is_some_and(|limit| self.now - since > limit) {
                    return Err(Violation::Starves(vcpu));
                }
            }
        }
        // While a choice is due, who waits may be about to run.
        let is_settled = self.cpus.iter().all(|cpu| cpu.pick_at.is_none());
        for (pcpu, cpu) in self.cpus.iter_mut().enumerate() {
            if cpu.running.is_some() && cpu.ask_at == Time::MAX && self.scheduler.is_wanted(pcpu) {
                return Err(Violation::NeverAsks(pcpu));
            }
            if !somebody_waits {
                cpu.idle_since = cpu.idle_since.map(|_| self.now);
            }
            let idles_since = cpu.idle_since.filter(|_| is_settled && somebody_waits);
            if let (Some(since), Some(limit)) = (idles_since, self.rules.idle_limit)
                && self.now - since > limit
            {
                return Err(Violation::Idles(pcpu));
            }
        }
        Ok(())
    }

    fn expect_budget_kept(&self) -> Result<(), Violation> {
        let Some((quota, excess)) = &self.rules.quota else { return Ok(()) };
        // The last two periods are all that can change, as what runs was charged a tick ago.
        let recent = self.used_in_periods.iter().rev().take(2);
        let over = recent.copied().find(|&used| used > quota.budget + excess);
        over.map_or(Ok(()), |used| Err(Violation::Overspends(used)))
    }

    fn drain(&mut self) -> Result<(), Violation> {
        for pcpu in 0..self.cpus.len() {
            if let Some(vcpu) = self.cpus[pcpu].running {
                self.leave(pcpu, Leave::Halted);
                self.contexts[vcpu].state = State::Asleep { until: Time::MAX };
            }
        }
        let step = self.rules.quota.as_ref().map_or(0, |(quota, _)| quota.period);
        // CPUs that owe ticks to a small budget need many periods until they may choose.
        let passes = self.contexts.len() + if step == 0 { 1 } else { 200 };
        for _ in 0..passes {
            self.now += step;
            if self.housekeeping_at.is_some_and(|time| time <= self.now) {
                self.housekeeping();
            }
            for pcpu in 0..self.cpus.len() {
                self.pick(pcpu)?;
                if let Some(vcpu) = self.cpus[pcpu].running {
                    self.leave(pcpu, Leave::Halted);
                    self.contexts[vcpu].state = State::Asleep { until: Time::MAX };
                }
            }
        }
        let lost = |context: &Context| matches!(context.state, State::Waiting { .. });
        self.contexts.iter().position(lost).map_or(Ok(()), |vcpu| Err(Violation::Lost(vcpu)))
    }
}
