//! Things that take time but touch no memory: computing, pausing, work in the kernel.
use super::context::{Doing, Presence};
use super::{Cause, Engine, with};
use crate::coroutine::suspend;
use crate::time::Time;

impl Engine {
    /// How context `who` weighs on its siblings from now on.
    #[inline]
    pub(super) fn set_presence(&mut self, who: usize, presence: Presence) {
        if self.machine.topology.threads == 1 {
            return;
        }
        let context = &mut self.contexts[who];
        let core = context.core;
        let before = core::mem::replace(&mut context.presence, presence);
        match before {
            Presence::Quiet => {}
            Presence::Computes => self.at_work[core] -= 1,
            Presence::Spins => self.spinning[core] -= 1,
        }
        match presence {
            Presence::Quiet => {}
            Presence::Computes => self.at_work[core] += 1,
            Presence::Spins => self.spinning[core] += 1,
        }
    }

    /// How long a computation of `span` takes in present company.
    fn in_company(&self, who: usize, span: Time) -> Time {
        let speed = &self.machine.speed;
        let core = self.contexts[who].core;
        let mut percent = 100;
        if self.machine.topology.threads > 1 {
            // The context itself is quiet at this moment, so all of these are siblings.
            if self.at_work[core] > 0 {
                percent = u64::from(speed.sibling_computes_percent);
            } else if self.spinning[core] > 0 {
                percent = u64::from(speed.sibling_spins_percent);
            }
        }
        let busy = self.host.busy_cores(self.directory.socket(core));
        let turbo =
            speed.turbo.iter().rev().find(|&&(cores, _)| cores <= busy).map_or(100, |&(_, time)| time);
        span * percent * u64::from(turbo) / 10_000
    }

    /// The running context does something until `at`; a Resume event is queued.
    pub(super) fn begins_work(&mut self, who: usize, at: Time, cause: Cause, presence: Presence) {
        self.contexts[who].doing = Doing::Computing(at);
        self.contexts[who].work = (cause, presence);
        self.set_presence(who, presence);
        if self.contexts[who].spent.cause != cause {
            self.switch_cause(who, cause);
        }
    }

    pub(super) fn ends_work(&mut self, who: usize) {
        self.set_presence(who, Presence::Quiet);
    }

    /// Whether a pause until `at` makes the hypervisor look; what that costs.
    fn notices_pause(&mut self, who: usize, at: Time) -> Option<Time> {
        let rules = self.machine.host.pause_loop.as_ref()?;
        if !self.host.is_overcommitted() {
            return None;
        }
        let context = &mut self.contexts[who];
        if self.now > context.paused_until + rules.gap || context.dispatched > context.pausing_since {
            context.pausing_since = self.now;
        }
        context.paused_until = at;
        if at - context.pausing_since < context.window.max(rules.window) {
            return None;
        }
        context.pausing_since = at;
        Some(rules.exit)
    }
}

/// Lets `span` pass. With everybody else waiting, that is moving the clock.
fn spend(span: Time, cause: Cause, presence: Presence) {
    if span == 0 {
        return;
    }
    let waits = with(|engine, who| {
        let (before, at) = (engine.now, engine.now + span);
        if engine.reach(at) {
            engine.aside(who, cause, before, at);
            return false;
        }
        engine.begins_work(who, at, cause, presence);
        true
    });
    if waits == Some(true) {
        suspend();
    }
}

/// Useful work that takes `span` on an otherwise idle machine.
pub(crate) fn compute(span: Time) {
    let scaled = with(|engine, who| (engine.in_company(who, span), engine.contexts[who].spent.base));
    if let Some((span, base)) = scaled {
        spend(span, base, Presence::Computes);
    }
}

/// Instructions of lock code that were issued already, such as a store.
pub(super) fn instruction(span: Time) {
    if let Some(base) = with(|engine, who| engine.contexts[who].spent.base) {
        spend(span, base, Presence::Quiet);
    }
}

/// Work of the operating system or hypervisor on behalf of the running context.
pub(super) fn overhead(span: Time) {
    spend(span, Cause::Overhead, Presence::Quiet);
    begins_anew();
}

/// The core has asked for nothing that comes behind this.
fn begins_anew() {
    with(|engine, who| engine.contexts[who].runs_on_since = engine.now);
}

/// Spins for `span` without looking at memory.
pub(crate) fn pause(span: Time) {
    let noticed = with(|engine, who| {
        let at = engine.now + span;
        engine.notices_pause(who, at)
    });
    spend(span, Cause::Spinning, Presence::Spins);
    begins_anew();
    if let Some(exit) = noticed.flatten() {
        overhead(exit);
        super::pause_loop::yield_directed();
    }
}
