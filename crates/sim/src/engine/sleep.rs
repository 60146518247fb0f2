//! Giving up the CPU and getting it back: yielding, halting and kicking, sleeping and waking.
use super::context::{Doing, told};
use super::queue::Kind;
use super::record;
use super::work::overhead;
use super::{Cause, Engine, LockEvent, with};
use crate::coroutine::suspend;
use crate::machine::Host;
use crate::sched::Leave;
use crate::time::{NS, Time};

/// In place of a CPU: nobody's doing but the clock's.
pub(super) const NO_WAKER: u16 = u16::MAX;

impl Engine {
    /// What it costs `who` to wake `target`. That goes to a CPU that idles, or to where it ran before. A CPU
    /// that has just fallen idle is not interrupted for it.
    fn kick_costs(&mut self, who: usize, target: usize) -> Time {
        let Host { kick, kick_across, .. } = self.machine.host;
        if self.is_caught(self.contexts[target].core, kick) {
            return kick;
        }
        let goes_away = || {
            let idles = self.host.cpus.iter().any(|cpu| cpu.running.is_none());
            idles || self.contexts[who].core != self.contexts[target].core
        };
        kick_across.filter(|_| goes_away()).unwrap_or(kick)
    }

    /// A kick sent from CPU `waker` arrives at `who`.
    pub(super) fn kick_arrives(&mut self, who: usize, waker: u16) {
        self.note(who as u64 | 7 << 32);
        if self.contexts[who].doing == Doing::Halted {
            self.contexts[who].doing = Doing::Running;
            self.contexts[who].tell = told::DONE;
            self.void(who); // its timer, if it has one
            self.wake(who, Some(usize::from(waker)));
        } else {
            self.contexts[who].kicked = true;
        }
    }

    /// The sleep of a context is over: its timer has run out, or somebody on CPU `waker` woke it.
    pub(super) fn sleep_over(&mut self, who: usize, generation: u32, waker: u16) {
        let context = &self.contexts[who];
        let asleep = matches!(context.doing, Doing::Sleeping | Doing::Waking | Doing::Halted);
        if context.generation == generation && asleep {
            if context.doing == Doing::Halted {
                self.contexts[who].tell = told::DONE;
            }
            self.contexts[who].doing = Doing::Running;
            self.void(who);
            self.wake(who, (waker != NO_WAKER).then_some(usize::from(waker)));
        }
    }
}

/// Offers the rest of the slice to whoever waits for this CPU.
pub(crate) fn yield_slice() {
    overhead(with(|engine, _| engine.machine.host.yield_cost).unwrap_or(0));
    let left = with(|engine, who| {
        let cpu = engine.contexts[who].cpu.expect("the running context has a CPU");
        let wanted = engine.host.scheduler.is_wanted(cpu);
        if wanted {
            engine.leave(cpu, Leave::Yielded, Cause::Preempted);
        }
        wanted
    });
    if left == Some(true) {
        suspend();
    }
}

/// Halts the running context until it is kicked, if `unchanged` says so at the last moment.
pub(crate) fn halt(unchanged: impl Fn() -> bool) {
    halt_until(unchanged, None);
}

/// As [`halt`], until `until` at the latest.
pub(crate) fn halt_until(unchanged: impl Fn() -> bool, until: Option<Time>) {
    super::fence(); // a call into the system: our own stores are visible before the last look
    overhead(with(|engine, _| engine.machine.host.halt).unwrap_or(0));
    let halted = with(|engine, who| {
        if core::mem::take(&mut engine.contexts[who].kicked) || !unchanged() {
            engine.contexts[who].kicked_at = Time::MAX;
            return false;
        }
        engine.halts += 1;
        engine.contexts[who].doing = Doing::Halted;
        engine.contexts[who].deadline = until.unwrap_or(Time::MAX);
        let cpu = engine.contexts[who].cpu.expect("the running context has a CPU");
        engine.leave(cpu, Leave::Halted, Cause::Halted);
        if let Some(until) = until {
            let generation = engine.contexts[who].generation;
            engine.queue.push(until.max(engine.now), Kind::Wake, who as u32, generation, NO_WAKER);
        }
        true
    });
    if halted == Some(true) {
        suspend();
        with(|engine, who| {
            let kicked_at = core::mem::replace(&mut engine.contexts[who].kicked_at, Time::MAX);
            if let Some(latency) = engine.now.checked_sub(kicked_at) {
                engine.count(LockEvent::PvLatencyWake, latency / NS);
            }
        });
    }
}

/// Wakes context `target` if it is halted, else makes its next halt return at once.
pub(crate) fn kick(target: usize) {
    let cost = with(|engine, who| {
        let sleeps = engine.contexts[target].doing == Doing::Halted;
        if sleeps { engine.kick_costs(who, target) } else { engine.machine.host.kick_idle }
    });
    overhead(cost.unwrap_or(0));
    with(|engine, who| {
        engine.kicks += 1;
        engine.count(LockEvent::PvLatencyKick, cost.unwrap_or(0) / NS);
        engine.contexts[target].kicked_at = engine.now;
        let (now, arrives) = (engine.now, engine.now + engine.machine.host.wake_busy);
        let cpu = engine.contexts[who].cpu.unwrap_or(0) as u16;
        if engine.contexts[target].cpu.is_none() {
            engine.contexts[target].ran_on = engine.contexts[who].cpu;
        }
        engine.queue.push(arrives, Kind::Kick, target as u32, 0, cpu);
        if let Some(recording) = &mut engine.recording {
            recording.kick(record::Kick { from: who, to: target, sent: now, arrives });
        }
    });
}

/// A call that finds nobody to wake.
pub(crate) fn kick_nobody() {
    overhead(with(|engine, _| engine.machine.host.kick_idle).unwrap_or(0));
}

/// Sleeps for `span`, or until somebody wakes this context; `None`: until then.
pub(crate) fn sleep(span: Option<Time>) {
    let slept = with(|engine, who| {
        if span.is_none() && core::mem::take(&mut engine.contexts[who].woken) {
            return false;
        }
        engine.contexts[who].doing = Doing::Sleeping;
        engine.contexts[who].deadline = span.map_or(Time::MAX, |span| engine.now + span);
        let cpu = engine.contexts[who].cpu.expect("the running context has a CPU");
        engine.leave(cpu, Leave::Halted, Cause::Sleeping);
        if let Some(span) = span {
            let generation = engine.contexts[who].generation;
            engine.queue.push(engine.now + span, Kind::Wake, who as u32, generation, NO_WAKER);
        }
        true
    });
    if slept == Some(true) {
        suspend();
    }
}

/// Wakes a context that sleeps by its own wish, or keeps it from falling asleep if it is about to.
pub(crate) fn wake_sleeper(target: usize) {
    overhead(with(|engine, who| engine.kick_costs(who, target)).unwrap_or(0));
    // The wake-up is an event of its own: the sleeper may be given this very CPU, and nobody is put aside in
    // the midst of a call.
    with(|engine, who| {
        if engine.contexts[target].doing != Doing::Sleeping {
            engine.contexts[target].woken = true;
            return;
        }
        engine.contexts[target].doing = Doing::Waking;
        let cpu = engine.contexts[who].cpu.map_or(NO_WAKER, |cpu| cpu as u16);
        let generation = engine.contexts[target].generation;
        let at = engine.now + engine.machine.host.wake_busy;
        engine.queue.push(at, Kind::Wake, target as u32, generation, cpu);
    });
}
