//! Pause-loop exits: a hypervisor that notices a spinning guest gives its CPU to somebody who may get further.
use super::context::Doing;
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
        context.window = (context.window.max(rules.window) * 2).min(rules.window * MOST_WINDOWS);
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
            let runnable = !matches!(
                self.contexts[target].doing,
                Doing::Halted | Doing::Sleeping | Doing::Waking | Doing::Ended
            );
            if target == who || !runnable || self.contexts[target].cpu.is_some() {
                continue;
            }
            // As KVM does: somebody who left for spinning would spin on, so every second time others are tried instead.
            let candidate = &mut self.contexts[target];
            candidate.eligible = !candidate.eligible;
            if candidate.gave_way && candidate.eligible {
                continue;
            }
            match self.host.scheduler.boost(cpu, target, self.now) {
                Boost::Here => {
                    self.contexts[who].gave_way = true;
                    self.leave(cpu, Leave::Yielded, Cause::Preempted);
                    return true;
                }
                Boost::There(other) => {
                    let running = self.host.cpus[other].running;
                    // Somebody who has only just begun is left alone, or nobody would ever get anywhere.
                    if running.is_some_and(|one| self.contexts[one].dispatched + guard < self.now) {
                        self.preempt(other);
                    }
                    // As in KVM: whoever boosted somebody gives up its own CPU too.
                    self.contexts[who].gave_way = true;
                    self.leave(cpu, Leave::Yielded, Cause::Preempted);
                    return true;
                }
                Boost::No => {}
            }
        }
        false
    }
}

/// The window of pause-loop exits grows up to this many times its first length.
const MOST_WINDOWS: Time = 16;

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
