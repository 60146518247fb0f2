//! Pause-loop exits: a hypervisor that notices a spinning guest gives its CPU to somebody who may get
//! further.
use super::queue::Kind;
use super::{Cause, Engine, with};
use crate::coroutine::suspend;
use crate::sched::{Boost, Leave};
use crate::time::Time;

impl Engine {
    /// When the hypervisor will look at context `who`, which begins to spin.
    pub(super) fn pause_loop_starts(&mut self, who: usize) -> Option<Time> {
        let rules = self.machine.host.pause_loop.as_ref()?;
        let window = self.contexts[who].window.max(rules.window);
        self.host.is_overcommitted().then_some(self.now + window)
    }

    /// Context `who` has been spinning at a line for a window.
    pub(super) fn pause_loop_exit(&mut self, who: usize, generation: u32) {
        if self.contexts[who].generation != generation {
            return;
        }
        let Some(rules) = self.machine.host.pause_loop.clone() else { return };
        let context = &mut self.contexts[who];
        context.not_before = self.now + rules.exit;
        let grown = context.window.max(rules.window).saturating_mul(2);
        context.window = rules.largest.map_or(grown, |largest| grown.min(largest));
        let again = self.now + rules.exit + context.window;
        if !self.directed_yield(who, rules.guard) {
            self.queue.push(again, Kind::PauseLoop, who as u32, generation, 0);
        }
    }

    /// Offers the CPU of `who` to a runnable context that has none. Whether `who` left for it.
    fn directed_yield(&mut self, who: usize, guard: Time) -> bool {
        let Some(cpu) = self.contexts[who].cpu else { return false };
        let count = self.contexts.len();
        for _ in 0..count {
            let target = self.host.boost_next % count;
            self.host.boost_next = (target + 1) % count;
            let runnable = self.contexts[target].doing.is_runnable();
            if target == who || !runnable || self.contexts[target].cpu.is_some() {
                continue;
            }
            // As KVM does: somebody who left for spinning would spin on, so every second time others are
            // tried instead.
            let candidate = &mut self.contexts[target];
            candidate.eligible = !candidate.eligible;
            if candidate.gave_way && candidate.eligible {
                continue;
            }
            if self.yield_to(who, cpu, target, guard) {
                return true;
            }
        }
        false
    }

    /// Offers `cpu`, on which `who` runs, to the runnable context `target`. Whether `who` left for it.
    fn yield_to(&mut self, who: usize, cpu: usize, target: usize, guard: Time) -> bool {
        match self.host.scheduler.boost(cpu, target, self.now) {
            Boost::Here => {}
            Boost::There(other) => {
                let running = self.host.cpus[other].running;
                // Somebody who has only just begun is left alone, or nobody would ever get anywhere.
                if running.is_some_and(|one| self.contexts[one].dispatched + guard < self.now) {
                    self.preempt(other);
                }
                // As in KVM: whoever boosted somebody gives up its own CPU too.
            }
            Boost::No => return false,
        }
        self.contexts[who].gave_way = true;
        self.leave(cpu, Leave::Yielded, Cause::Preempted);
        true
    }
}

/// A running context offers its CPU to a runnable one that has none.
pub(super) fn yield_directed() {
    let left = with(|engine, who| {
        let guard = engine.machine.host.pause_loop.as_ref().map_or(0, |rules| rules.guard);
        engine.directed_yield(who, guard)
    });
    if left == Some(true) {
        suspend();
    }
}

/// The running context gives its CPU to `target`, if that is runnable and has none, and was last dispatched
/// at the time that `count` stands for. A thread of an operating system cannot choose, and yields.
pub(crate) fn confer(target: usize, count: u32) {
    if with(|engine, _| engine.machine.host.hypercalls) == Some(false) {
        return super::sleep::yield_slice();
    }
    super::work::overhead(with(|engine, _| engine.machine.host.yield_cost).unwrap_or(0));
    let left = with(|engine, who| {
        let runnable = |one: &super::context::Context| one.cpu.is_none() && one.doing.is_runnable();
        if target == who
            || engine.yield_count(target) != count
            || !engine.contexts.get(target).is_some_and(runnable)
        {
            return false;
        }
        let guard = engine.machine.host.pause_loop.as_ref().map_or(0, |rules| rules.guard);
        let cpu = engine.contexts[who].cpu.expect("the running context has a CPU");
        engine.yield_to(who, cpu, target, guard)
    });
    if left == Some(true) {
        suspend();
    }
}

impl Engine {
    /// Even while `who` has a CPU, odd while it is seen to have none; another number with each dispatch where
    /// the hypervisor counts them.
    pub(crate) fn yield_count(&self, who: usize) -> u32 {
        let Some(context) = self.contexts.get(who) else { return 0 };
        if !self.machine.host.hypercalls {
            return self.is_preempted(who).into();
        }
        ((context.dispatched / crate::time::NS) as u32) << 1 | u32::from(context.cpu.is_none())
    }
}
