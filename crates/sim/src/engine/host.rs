//! Contexts on CPUs: dispatching, putting aside, halting and kicking. The decisions are the scheduler's.
use super::context::{Doing, Presence, told};
use super::queue::Kind;
use super::{Cause, Engine};
use crate::machine::{Machine, SchedulerKind};
use crate::random::Random;
use crate::sched::{self, Expiry, Leave, Scheduler};
use crate::time::{NS, Time};

/// A physical CPU.
#[derive(Clone, Default)]
pub(super) struct Cpu {
    /// The hardware thread that it is, and its core and socket.
    hardware: usize,
    core: usize,
    socket: usize,
    /// Who runs on it, or is being switched to.
    pub(super) running: Option<usize>,
    since: Time,
    generation: u32,
    /// When the scheduler is asked again; `Expire` events for another time are void.
    asks_at: Time,
    busy: Time,
    /// When it fell idle, if nobody runs on it.
    idle_since: Time,
}

/// The CPUs and who decides about them.
pub(super) struct Host {
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) cpus: Vec<Cpu>,
    pub(super) contexts: usize,
    /// Running contexts a core, and cores with any a socket.
    on_core: Vec<u16>,
    busy_cores: Vec<u16>,
    /// Where the search for the target of a directed yield goes on.
    pub(super) boost_next: usize,
    random: Random,
}

impl Host {
    /// `cpus`: the hardware threads that may be used; context *n* of a pinned machine runs on the *n*th.
    pub(super) fn new(machine: &Machine, contexts: usize, cpus: &[usize], seed: u64) -> Self {
        let topology = &machine.topology;
        let cpu = |&hardware: &usize| {
            let core = topology.core_of(hardware);
            Cpu { hardware, core, socket: topology.socket_of(core), ..Cpu::default() }
        };
        Self {
            scheduler: sched::make(machine, cpus, contexts, seed),
            cpus: cpus.iter().map(cpu).collect(),
            contexts,
            on_core: vec![0; topology.core_count()],
            busy_cores: vec![0; usize::from(topology.sockets)],
            boost_next: 0,
            random: Random::new(seed, u64::MAX - 1),
        }
    }

    /// Cores of a socket on which somebody runs.
    pub(super) fn busy_cores(&self, socket: usize) -> u16 {
        self.busy_cores[socket]
    }

    pub(super) fn is_overcommitted(&self) -> bool {
        self.contexts > self.cpus.len()
    }

    pub(super) fn reset_busy(&mut self, now: Time) {
        for cpu in &mut self.cpus {
            cpu.busy = 0;
            cpu.since = cpu.since.max(now);
        }
    }

    pub(super) fn busy(&self, now: Time) -> Vec<Time> {
        let so_far =
            |cpu: &Cpu| cpu.busy + if cpu.running.is_some() { now.saturating_sub(cpu.since) } else { 0 };
        self.cpus.iter().map(so_far).collect()
    }

    fn occupies(&mut self, cpu: usize) {
        let (core, socket) = (self.cpus[cpu].core, self.cpus[cpu].socket);
        self.on_core[core] += 1;
        if self.on_core[core] == 1 {
            self.busy_cores[socket] += 1;
        }
    }

    fn frees(&mut self, cpu: usize) {
        let (core, socket) = (self.cpus[cpu].core, self.cpus[cpu].socket);
        self.on_core[core] -= 1;
        if self.on_core[core] == 0 {
            self.busy_cores[socket] -= 1;
        }
    }
}

impl Engine {
    /// Starts every context somewhere in the first microseconds, in random order.
    pub(super) fn power_on(&mut self, seed: u64) {
        let mut order: Vec<usize> = (0..self.contexts.len()).collect();
        Random::new(seed, u64::MAX - 2).shuffle(&mut order);
        for &who in &order {
            self.host.scheduler.wake(who, None, 0);
        }
        // Linux ticks on all CPUs at once, unless it is started with `skew_tick=1`. Xen's CPUs each begin
        // their own when they come up.
        let period = self.machine.host.tick_period;
        let together = !matches!(self.machine.host.scheduler, SchedulerKind::RoundRobin(_));
        let mut first = None;
        for cpu in 0..self.host.cpus.len() {
            let delay = self.host.random.below(self.machine.host.start_spread.max(1));
            self.choose(cpu, delay);
            if period > 0 {
                let phase = self.host.random.below(period);
                let first = *first.get_or_insert(phase);
                self.queue.push(if together { first } else { phase }, Kind::Tick, cpu as u32, 0, 0);
            }
        }
        self.queue.push(0, Kind::Housekeeping, 0, 0, 0);
    }

    /// CPU `cpu`, on which nobody runs, chooses; `delay` passes before the switch begins, in which nobody
    /// uses the CPU.
    fn choose(&mut self, cpu: usize, delay: Time) {
        let Some(pick) = self.host.scheduler.pick(cpu, self.now) else { return };
        let (who, starts) = (pick.vcpu, self.now + delay);
        self.host.scheduler.starts_at(cpu, starts);
        let entry = &mut self.host.cpus[cpu];
        entry.running = Some(who);
        entry.since = starts;
        entry.generation = entry.generation.wrapping_add(1);
        let (generation, core) = (entry.generation, entry.core);
        self.host.occupies(cpu);
        let moved = self.contexts[who].core != core;
        (self.contexts[who].cpu, self.contexts[who].ran_on) = (Some(cpu), Some(cpu));
        self.contexts[who].core = core;
        self.switch_cause(who, if delay > 0 { Cause::Preempted } else { Cause::Overhead });
        let host = &self.machine.host;
        let switch = if self.is_pinned() { 0 } else { host.switch + if moved { host.migrate } else { 0 } };
        // From now on nobody takes the CPU away for a directed yield before it has run for a while.
        let begins = starts + switch;
        self.contexts[who].dispatched = begins;
        self.contexts[who].runs_on_since = begins;
        self.queue.push(begins, Kind::Dispatch, cpu as u32, generation, 0);
        self.ask_at(cpu, pick.until);
    }

    fn is_pinned(&self) -> bool {
        self.machine.host.scheduler == SchedulerKind::Pinned
    }

    fn ask_at(&mut self, cpu: usize, at: Time) {
        if at != Time::MAX {
            let at = at.max(self.now);
            self.host.cpus[cpu].asks_at = at;
            let generation = self.host.cpus[cpu].generation;
            self.queue.push(at, Kind::Expire, cpu as u32, generation, 0);
        }
    }

    /// The context that `cpu` switched to begins to run.
    pub(super) fn dispatch(&mut self, cpu: usize, generation: u32) -> Option<(usize, u32)> {
        if self.host.cpus[cpu].generation != generation {
            return None;
        }
        let who = self.host.cpus[cpu].running?;
        let (now, since) = (self.now, self.host.cpus[cpu].since);
        if self.contexts[who].spent.cause == Cause::Preempted {
            self.aside(who, Cause::Overhead, since, now);
        }
        let context = &mut self.contexts[who];
        context.live = true;
        context.gave_way = false;
        context.not_before = 0;
        context.delay = 0;
        context.window = 0;
        if let Doing::Computing(left) = context.doing {
            let (cause, presence) = context.work;
            let generation = context.generation;
            self.begins_work(who, now + left, cause, presence);
            self.queue.push(now + left, Kind::Resume, who as u32, generation, 0);
            return None;
        }
        self.goes_on(who);
        self.note(who as u64 | 5 << 32);
        Some((who, core::mem::replace(&mut self.contexts[who].tell, told::DONE)))
    }

    /// Who runs on a CPU at the end is recorded, too.
    pub(super) fn record_stays(&mut self) {
        for cpu in &self.host.cpus {
            if let (Some(recording), Some(who)) = (&mut self.recording, cpu.running) {
                recording.ran(cpu.hardware, who, cpu.since, self.now);
            }
        }
    }

    /// Whoever runs on `cpu` leaves it, and somebody else may run.
    pub(super) fn leave(&mut self, cpu: usize, why: Leave, then: Cause) {
        let now = self.now;
        let entry = &mut self.host.cpus[cpu];
        let Some(who) = entry.running.take() else { return };
        entry.busy += now.saturating_sub(entry.since);
        entry.idle_since = now;
        entry.generation = entry.generation.wrapping_add(1);
        let (since, hardware) = (entry.since, entry.hardware);
        self.host.frees(cpu);
        if let Some(recording) = &mut self.recording {
            recording.ran(hardware, who, since, now);
        }
        self.host.scheduler.leave(cpu, why, now);
        self.put_aside(who);
        self.switch_cause(who, then);
        self.note(who as u64 | 6 << 32);
        self.choose(cpu, 0);
    }

    /// Whoever runs on `cpu` is to leave it. An interrupt is taken when the oldest instruction has retired:
    /// an access under way is completed first, so a compare-exchange that waits for its line is put aside as
    /// holder, not before.
    pub(super) fn preempt(&mut self, cpu: usize) {
        let Some(who) = self.host.cpus[cpu].running else { return };
        let context = &self.contexts[who];
        if context.live && context.doing == Doing::Accessing && context.access_until >= self.now {
            let generation = self.host.cpus[cpu].generation;
            self.queue.push(context.access_until + 1, Kind::Preempt, cpu as u32, generation, 0);
        } else {
            self.leave(cpu, Leave::Preempted, Cause::Preempted);
        }
    }

    /// The instruction that was under way is complete.
    pub(super) fn preempt_late(&mut self, cpu: usize, generation: u32) {
        if self.host.cpus[cpu].generation == generation {
            self.leave(cpu, Leave::Preempted, Cause::Preempted);
        }
    }

    /// What context `who` was in the midst of is kept, to go on with later.
    fn put_aside(&mut self, who: usize) {
        let now = self.now;
        if core::mem::replace(&mut self.contexts[who].live, false) {
            match self.contexts[who].doing {
                Doing::Computing(at) => {
                    let late = self.contexts[who].delay;
                    self.contexts[who].doing = Doing::Computing(at.saturating_sub(now) + late);
                }
                Doing::Accessing => {
                    self.contexts[who].doing = Doing::Running;
                    self.contexts[who].tell = told::AGAIN;
                }
                Doing::Spinning => {
                    self.stop_spinning(who);
                    let context = &mut self.contexts[who];
                    if context.deadline != Time::MAX {
                        context.deadline = context.deadline.saturating_sub(now);
                    }
                    context.doing = Doing::Running;
                    context.tell = told::AGAIN;
                }
                Doing::Running | Doing::Halted | Doing::Sleeping | Doing::Waking | Doing::Ended => {}
            }
        }
        self.set_presence(who, Presence::Quiet);
        self.void(who);
        self.contexts[who].cpu = None;
    }

    /// The running context is no more.
    pub(super) fn vacate(&mut self, who: usize) {
        if let Some(cpu) = self.contexts[who].cpu {
            self.leave(cpu, Leave::Halted, Cause::Sleeping);
        }
    }

    /// The slice of whoever runs on `cpu` may be over.
    pub(super) fn expire(&mut self, cpu: usize, generation: u32) {
        let entry = &self.host.cpus[cpu];
        if entry.generation != generation || entry.asks_at != self.now {
            return;
        }
        match self.host.scheduler.expire(cpu, self.now) {
            Expiry::Stays(until) => self.ask_at(cpu, until),
            Expiry::Leaves => self.preempt(cpu),
        }
    }

    pub(super) fn housekeeping(&mut self) {
        let wishes = self.host.scheduler.housekeeping(self.now);
        for cpu in wishes.reschedule {
            if self.host.cpus[cpu].running.is_some() {
                self.preempt(cpu);
            } else {
                self.choose(cpu, 0);
            }
        }
        for (cpu, at) in wishes.deadlines {
            self.ask_at(cpu, at);
        }
        if let Some(at) = wishes.again {
            self.queue.push(at.max(self.now + NS), Kind::Housekeeping, 0, 0, 0);
        }
    }

    /// The regular interrupt.
    pub(super) fn tick(&mut self, cpu: usize) {
        let (period, cost) = (self.machine.host.tick_period, self.machine.host.tick_cost);
        self.queue.push(self.now + period, Kind::Tick, cpu as u32, 0, 0);
        let Some(who) = self.host.cpus[cpu].running else { return };
        let context = &mut self.contexts[who];
        if !context.live {
            return;
        }
        match context.doing {
            Doing::Computing(_) | Doing::Accessing => context.delay += cost,
            _ => context.not_before = self.now + cost,
        }
    }

    /// Whether a CPU has just fallen idle and still looks for work.
    fn looks_for_work(&self, cpu: usize) -> bool {
        let Cpu { running, idle_since, .. } = self.host.cpus[cpu];
        let entry = self.machine.host.idle_entry.unwrap_or(0);
        running.is_none() && self.now < idle_since + entry
    }

    /// Whether a CPU of this core has just fallen idle. Then it looks for work until a kick of so long is
    /// over.
    pub(super) fn is_caught(&mut self, core: usize, kick: Time) -> bool {
        if self.machine.host.idle_entry.is_none() {
            return false;
        }
        let of_core = |cpu: &usize| self.host.cpus[*cpu].core == core && self.looks_for_work(*cpu);
        let caught = (0..self.host.cpus.len()).find(of_core);
        if let Some(cpu) = caught {
            self.host.cpus[cpu].idle_since = self.now + kick;
        }
        caught.is_some()
    }

    /// Context `who` becomes runnable.
    pub(super) fn wake(&mut self, who: usize, waker: Option<usize>) {
        let placement = self.host.scheduler.wake(who, waker, self.now);
        self.switch_cause(who, Cause::Preempted);
        let cpu = placement.pcpu;
        if self.host.cpus[cpu].running.is_none() {
            let host = &self.machine.host;
            let rests = host.wake_idle.saturating_sub(host.wake_busy);
            self.choose(cpu, if self.looks_for_work(cpu) { 0 } else { rests });
        } else if placement.preempts {
            self.preempt(cpu);
        } else if let Some(at) = placement.asks_again {
            self.ask_at(cpu, at);
        }
    }
}
