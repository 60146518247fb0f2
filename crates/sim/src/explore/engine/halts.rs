//! Halting and kicking: no more than [`Machine::halt_while`](stanchion_core::Machine::halt_while) promises.
//!
//! A kick that comes after the comparison of a halt ends that halt. One that came before is kept for the next
//! halt, as by a futex with a sticky word, or forgotten, as by a hypervisor that wakes whoever sleeps
//! ([`Fault::ForgottenKicks`]). A halt in a handler ends the halt that it interrupted, since it may have used
//! up its kick; a handler that does not halt need not end it.
use super::super::Ctx;
use super::super::chooser::bit;
use super::super::failure::Kind;
use super::super::fault::Fault;
use super::super::plan::Coin;
use super::super::platform::STEP_NANOS;
use super::super::trace::What;
use super::{Engine, Status};

/// Who waits for a limited time is gone within so many of its own turns after that: as many as it takes to
/// leave a queue in which others come and go.
const TURNS_TO_LEAVE: u32 = 600;
/// Late kicks are up to so many steps late.
const LATEST_KICK: u64 = 64;
/// A limited wait that ends at the last moment ends within so many steps after it was to be ended by somebody
/// else.
const LAST_MOMENT: u64 = 32;
/// No lock sleeps for longer than so many steps (10 s) unless its caller said so: one that does has computed
/// the time wrong.
const LONGEST_SLEEP: u64 = 10_000_000_000 / STEP_NANOS;

/// A wait that has a limit.
#[derive(Clone, Copy)]
pub(super) struct LimitedWait {
    /// The step at which it ends.
    end: u64,
    /// Whether its context has seen that its time is over.
    was_told: bool,
    /// How many turns its context has had after the end.
    late: u32,
}

impl Engine {
    /// The current context has made the comparison of a halt. How many of its halts were over by then.
    pub(super) fn compares(&mut self) -> u32 {
        let me = self.current;
        if !self.may_halt {
            self.fail(Kind::Halted, format!("c{me} was about to halt, and nobody may"));
        }
        if self.plan.faults.has(Fault::ForgottenKicks) {
            let early = self.kicked & bit(me) != 0;
            let under_way = self.late_kicks.len();
            self.late_kicks.retain(|&(_, target)| target != me);
            if early || self.late_kicks.len() < under_way {
                self.tell(What::Forgotten, 0, 0, 0);
            }
            self.kicked &= !bit(me);
        }
        self.halts[me]
    }

    /// The current context goes to sleep, unless there is a reason not to. `halts` of its halts were over
    /// when it compared.
    pub(super) fn falls_asleep(&mut self, halts: u32) -> Option<Ctx> {
        let me = self.current;
        if (self.kicked | self.roused) & bit(me) != 0 || self.halts[me] != halts {
            return None;
        }
        self.tell(What::Halt, 0, 0, 0);
        if self.level[me] == 0
            && let Some(watch) = &mut self.watch
        {
            watch.sleeps(me);
        }
        self.set_aside(me, Status::Halted);
        Some(me)
    }

    /// The current context goes on. If it has not halted because the comparison failed, a kick may be kept.
    pub(super) fn ends_halt(&mut self, halted: bool) {
        let me = self.current;
        if halted || self.plan.faults.has(Fault::ForgottenKicks) {
            self.kicked &= !bit(me);
            self.halts[me] += 1;
        }
        self.roused &= !bit(me);
        if halted {
            self.tell(What::GoesOn, 0, 0, 0);
        }
    }

    /// The current context kicks `target`; nobody, if that number is nobody's.
    pub(super) fn send_kick(&mut self, target: Option<Ctx>) {
        self.flush(); // what a kicker stored before is visible to whom it wakes
        let Some(target) = target else { return };
        self.hasten(target);
        self.tell(What::Kick, target, 0, 0);
        let late = self.plan.faults.has(Fault::LateKicks) && self.coin(Coin::KickDelay, 2) == 0;
        if late {
            let due = self.steps + self.coin(Coin::KickDelay, LATEST_KICK);
            self.late_kicks.push((due, target));
        } else {
            self.arrive_kick(target);
        }
    }

    /// Somebody is about to end the wait of `ctx`. If that waits for a limited time, the time may be over
    /// just now.
    pub(super) fn hasten(&mut self, ctx: Ctx) {
        let (until, times) = (self.limits[ctx], 2 * self.halts[ctx]);
        let within = LAST_MOMENT >> self.plan.coin(Coin::Haste, ctx, times, 8);
        let end = self.steps + self.plan.coin(Coin::Haste, ctx, times + 1, within.max(1));
        if within > 1 && end < until && until != u64::MAX {
            self.hastened[ctx] = (until, end);
            if self.timers[ctx] == until {
                self.timers[ctx] = end;
            }
        }
    }

    /// At which step a limited wait of the current context ends that was to end at step `until`.
    pub(in crate::explore) fn end_of(&mut self, until: u64) -> u64 {
        let (was, is) = self.hastened[self.current];
        self.limits[self.current] = until;
        let told = if was == until { is } else { until };
        let now = self.steps;
        if let Some(wait) = self.limited_wait().as_mut().filter(|wait| wait.end == until) {
            wait.was_told |= told <= now;
        }
        told
    }

    /// Whether the halt of `ctx` ends by itself, before its wait does.
    pub(super) fn halts_for_a_moment(&self, ctx: Ctx) -> bool {
        let ends = self.timers[ctx];
        let wait = self.limited[ctx][usize::from(self.level[ctx])].as_ref();
        ends != u64::MAX && wait.is_none_or(|wait| ends < wait.end && ends != self.hastened[ctx].1)
    }

    /// The limited wait of the current context, handler or not.
    fn limited_wait(&mut self) -> &mut Option<LimitedWait> {
        &mut self.limited[self.current][usize::from(self.level[self.current])]
    }

    /// The step at which the run's clock shows `time`.
    pub(in crate::explore) fn step_at(&self, time: u64) -> u64 {
        time.saturating_sub(self.domain.machine().clock).div_ceil(STEP_NANOS)
    }

    /// The current context waits until `time` at most from now on.
    pub(in crate::explore) fn waits_until(&mut self, time: u64) {
        let end = self.step_at(time);
        *self.limited_wait() = Some(LimitedWait { end, was_told: false, late: 0 });
    }

    /// The current context has come to the end of a limited wait: it `acquired`, or its time is over.
    pub(in crate::explore) fn ends_wait(&mut self, acquired: bool) {
        let wait = self.limited_wait().take();
        self.gives_up(wait.filter(|_| !acquired));
    }

    /// The current context leaves its place in a queue, because its time is over.
    pub(super) fn leaves_its_place(&mut self) {
        let wait = *self.limited_wait();
        self.gives_up(wait);
    }

    fn gives_up(&mut self, wait: Option<LimitedWait>) {
        if wait.is_some_and(|wait| !wait.was_told) {
            let me = self.current;
            self.fail(Kind::Stuck, format!("c{me} gave up, and has not seen that its time was over"));
        }
    }

    /// The current context has another turn. It does not go on waiting when the time of its wait is over.
    pub(super) fn notes_lateness(&mut self) {
        let (me, now) = (self.current, self.steps);
        let Some(wait) = self.limited_wait() else { return };
        wait.late += u32::from(now > wait.end);
        if wait.late > TURNS_TO_LEAVE {
            self.fail(
                Kind::Stuck,
                format!("c{me} still waits {TURNS_TO_LEAVE} turns after its time was over"),
            );
        }
    }

    /// The current context has another turn, and is no handler. An heir whose turn has come asks for the
    /// lock.
    pub(super) fn notes_silence(&mut self) {
        let (me, now) = (self.current, self.now());
        if self.level[me] != 0 {
            return;
        }
        let seen = self.watch.as_mut().map(|watch| watch.has_turn(me, now));
        if let Some(Err(failure)) = seen {
            self.fail(failure.kind, failure.what);
        }
    }

    /// The current context is about to sleep until step `until`: not beyond the end of its wait.
    pub(in crate::explore) fn sleeps_until(&mut self, until: Option<u64>) {
        let me = self.current;
        let wait = *self.limited_wait();
        if let Some(LimitedWait { end, .. }) = wait.filter(|wait| until.is_none_or(|until| until > wait.end))
        {
            self.fail(Kind::Stuck, format!("c{me} waits until step {end}, and sleeps beyond that"));
        }
        if wait.is_none() && until.is_some_and(|until| until > self.steps + LONGEST_SLEEP) {
            self.fail(Kind::Stuck, format!("c{me} sleeps for more than 10 s, and nobody asked for that"));
        }
    }

    pub(super) fn arrive_kick(&mut self, ctx: Ctx) {
        self.kicked |= bit(ctx);
        if self.status[ctx] == Status::Halted {
            self.set_ready(ctx);
        }
        self.about(ctx, What::Kicked);
    }
}
