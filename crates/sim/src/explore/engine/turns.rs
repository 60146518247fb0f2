//! Whose turn it is, and what happens between two turns.
use super::super::chooser::{Set, any_of, bit};
use super::super::failure::Kind;
use super::super::fault::Fault;
use super::super::plan::Luck;
use super::super::script::Item;
use super::super::trace::What;
use super::super::{CONTEXTS, Ctx};
use super::{Engine, Status};

/// A halted context wakes up for no reason once in so many steps.
const SPURIOUS_ONE_IN: u64 = 16;
/// Right before the comparison of a halt, and between that and the halt, a context is interrupted once in so
/// many times.
const INTERRUPTED_HALTS_ONE_IN: u64 = 4;
/// Who is at risk is put aside once in so many steps.
const AT_RISK_AWAY_ONE_IN: u64 = 8;
/// Nobody is starved for the sake of others that acquire nothing in so many steps: they may be waiting for
/// it.
const FRUITLESS: u64 = 256;

impl Engine {
    /// Decides who has the next turn. `false`: nobody, the run is over.
    pub(super) fn choose(&mut self, relaxed: bool) -> bool {
        self.steps += 1;
        if self.steps > self.step_limit {
            self.fail(Kind::Hung, format!("hung: not done after {} steps", self.step_limit));
        }
        self.arrivals();
        if self.chooser.is_random() {
            self.happenings();
        }
        loop {
            while let Some(item) = self.chooser.scripted() {
                self.happen(item);
            }
            if self.failure.is_some() {
                return false;
            }
            if self.ready == 0 && !self.last_resort() {
                return false;
            }
            if self.ready == 0 {
                continue;
            }
            #[cfg(test)]
            if let Some(going) = self.direct() {
                return going;
            }
            let present = self.ready & !self.away;
            let mut candidates = present;
            if present == 0 {
                if self.waits_in_vain() {
                    return false;
                }
                candidates = self.ready;
            }
            if self.plan.faults.has(Fault::Starve) && self.chooser.is_random() {
                candidates = self.without_the_starved(candidates);
            }
            let (current, in_a_row) = (self.current, self.in_a_row);
            let Some(next) =
                self.chooser.next(candidates, current, relaxed, in_a_row, self.steps, &mut self.random)
            else {
                continue;
            };
            self.in_a_row = if next == current && !relaxed { in_a_row + 1 } else { 1 };
            self.current = next;
            self.turns[next] += 1;
            self.record(Item::Turns(next, 1));
            return true;
        }
    }

    /// Nobody can run but who is away, and nothing is under way: whether a reader waits all the same that
    /// nobody keeps out.
    #[cold]
    fn waits_in_vain(&mut self) -> bool {
        let under_way = self.buffers.filled() != 0 || !self.late_kicks.is_empty();
        let naps = |ctx| self.status[ctx] == Status::Halted && self.halts_for_a_moment(ctx);
        if under_way || self.plan.faults.has(Fault::Interrupts) || (0..self.plan.contexts()).any(naps) {
            return false;
        }
        let reader = self.watch.as_ref().and_then(|watch| watch.waits_in_vain(self.ready));
        if let Some(ctx) = reader {
            self.fail(Kind::Stuck, format!("c{ctx} waits, and nobody is in or waits that keeps it out"));
        }
        reader.is_some()
    }

    /// Leaves out the starved context while others can run and acquire, but for the turns that its luck
    /// leaves it.
    fn without_the_starved(&mut self, candidates: Set) -> Set {
        let (others, victim) = (candidates & !bit(self.plan.victim), self.plan.victim);
        let Some(watch) = self.watch.as_ref().filter(|watch| others != 0 && watch.has_queued(victim)) else {
            return candidates;
        };
        match self.plan.luck {
            Luck::WhileHeld if watch.holder(0).is_some_and(|holder| holder != victim) => return candidates,
            Luck::AtChanges if watch.changes != self.fortune && candidates & bit(victim) != 0 => {
                self.fortune = watch.changes;
                return bit(victim);
            }
            _ => {}
        }
        let (acquisitions, since) = &mut self.progress;
        if watch.acquisitions != *acquisitions {
            (*acquisitions, *since) = (watch.acquisitions, self.steps);
        }
        if self.steps - *since < FRUITLESS { others } else { candidates }
    }

    /// What was under way and is due.
    #[inline]
    fn arrivals(&mut self) {
        if self.buffers.filled() != 0
            && let Some(ctx) = self.buffers.overdue(self.steps)
        {
            self.drain(ctx);
        }
        if !self.late_kicks.is_empty()
            && let Some(at) = self.late_kicks.iter().position(|&(due, _)| due <= self.steps)
        {
            let (_, ctx) = self.late_kicks.swap_remove(at);
            self.arrive_kick(ctx);
        }
        if let Some(ctx) = self.timer_before(self.steps + 1) {
            self.time_is_up(ctx);
        }
        if self.away != 0 {
            for ctx in 0..CONTEXTS {
                if self.away & bit(ctx) != 0 && self.back_at[ctx] <= self.steps {
                    self.away &= !bit(ctx);
                }
            }
        }
    }

    /// What the stream of random numbers lets happen between two turns.
    #[inline]
    fn happenings(&mut self) {
        let filled = self.buffers.filled();
        if filled != 0 && self.random.once_in(self.plan.drain) {
            let ctx = any_of(filled, &mut self.random);
            self.happen(Item::Drain(ctx));
        }
        if self.plan.faults.has(Fault::Spurious) {
            let halted = self.who(|status| status == Status::Halted);
            if halted != 0 && self.random.once_in(SPURIOUS_ONE_IN) {
                let ctx = any_of(halted, &mut self.random);
                self.happen(Item::Wake(ctx));
            }
        }
        if self.interrupts_left != 0 {
            if core::mem::take(&mut self.at_halt) && self.random.once_in(INTERRUPTED_HALTS_ONE_IN) {
                self.happen(Item::Interrupt(self.current));
            } else if self.random.once_in(self.plan.interrupt) {
                self.interrupt_somebody();
            }
        }
        if self.steps >= self.next_absence {
            self.maybe_absent();
        }
        if self.at_risk & bit(self.current) != 0 && self.random.once_in(AT_RISK_AWAY_ONE_IN) {
            self.is_absent(self.current);
        }
    }

    /// Interrupts a context. Where handlers nest, it is mostly one that waits, and as deep as can be:
    /// otherwise hardly any context would ever stand in as many queues as it has nodes.
    fn interrupt_somebody(&mut self) {
        let (levels, level) = (self.plan.levels, self.level);
        let alive = self.who(|status| status != Status::Done);
        let waiting = self.who(|status| !matches!(status, Status::Ready | Status::Done));
        let can_nest =
            |set: Set| (0..CONTEXTS).filter(move |&ctx| set & bit(ctx) != 0 && level[ctx] < levels);
        let deepest = can_nest(waiting).map(|ctx| level[ctx]).max();
        let among = match deepest {
            Some(deepest) if levels > 1 && !self.random.once_in(3) => {
                can_nest(waiting).filter(|&ctx| level[ctx] == deepest).map(bit).sum()
            }
            _ => alive,
        };
        if among != 0 {
            let ctx = any_of(among, &mut self.random);
            self.happen(Item::Interrupt(ctx));
        }
    }

    /// Puts the current context aside for long if it stands where the plan wants to hit one.
    fn maybe_absent(&mut self) {
        let (me, faults) = (self.current, self.plan.faults);
        let Some(watch) = &self.watch else { return };
        let hit = (faults.has(Fault::HolderAway) && watch.holder(0) == Some(me))
            || (faults.has(Fault::NextAway) && watch.first_in_queue() == Some(me))
            || faults.has(Fault::AnyAway);
        if hit && self.absences_left > 0 {
            self.next_absence = self.steps + self.plan.absence_every;
            self.is_absent(me);
        }
    }

    /// Puts a context aside for long, if that may happen once more.
    fn is_absent(&mut self, ctx: Ctx) {
        if self.absences_left > 0 {
            self.absences_left -= 1;
            self.away |= bit(ctx);
            self.back_at[ctx] = self.steps + self.plan.absence;
        }
    }

    fn who(&self, is: impl Fn(Status) -> bool) -> Set {
        (0..self.plan.contexts()).filter(|&ctx| is(self.status[ctx])).map(bit).sum()
    }

    /// Carries out an item that is no turn, if it can happen.
    fn happen(&mut self, item: Item) {
        let ctx = item.context();
        match item {
            Item::Drain(_) if self.buffers.filled() & bit(ctx) != 0 => self.drain(ctx),
            Item::Wake(_) if self.status[ctx] == Status::Halted => {
                self.roused |= bit(ctx);
                self.set_ready(ctx);
                self.about(ctx, What::Woken);
            }
            Item::Interrupt(_)
                if self.status[ctx] != Status::Done
                    && self.interrupts_left > 0
                    && self.interrupted & bit(ctx) == 0
                    && self.level[ctx] < self.plan.levels =>
            {
                self.interrupts_left -= 1;
                self.interrupted |= bit(ctx);
                self.set_ready(ctx);
            }
            Item::Turns(..) | Item::Drain(_) | Item::Wake(_) | Item::Interrupt(_) => return,
        }
        self.record(item);
    }

    pub(super) fn about(&mut self, ctx: Ctx, what: What) {
        if self.trace.is_some() {
            self.note(ctx, what, 0, 0, 0);
        }
    }

    /// Nobody can run: what is under way arrives now. `false`: nothing was, and the run is over one way or
    /// the other.
    #[cold]
    fn last_resort(&mut self) -> bool {
        if self.buffers.filled() != 0 {
            self.drain(self.buffers.filled().trailing_zeros() as Ctx);
            return true;
        }
        if let Some((_, ctx)) = self.late_kicks.pop() {
            self.arrive_kick(ctx);
            return true;
        }
        if let Some(ctx) = self.timer_before(u64::MAX) {
            self.time_is_up(ctx);
            return true;
        }
        let stuck = self.who(|status| status != Status::Done);
        if stuck != 0 {
            let one = |ctx: Ctx| match self.status[ctx] {
                Status::Halted => format!("c{ctx} is halted"),
                Status::Polling(_) => format!("c{ctx} polls"),
                Status::Awaits(reader) => format!("c{ctx} reads and waits for c{reader} to read"),
                Status::Ready | Status::Done => format!("c{ctx} is done"),
            };
            let all: Vec<String> = (0..self.plan.contexts()).map(one).collect();
            self.fail(
                Kind::Stuck,
                format!("nobody can run (a lost wake-up or a deadlock): {}", all.join(", ")),
            );
        }
        false
    }

    /// A lock that is free must not be waited for by those only that sleep: nobody is about to wake them, and
    /// a newcomer need not come. Those do not count that sleep for a moment, or are roused.
    pub(in super::super) fn check_sleepers(&mut self) {
        let under_way = self.buffers.filled() != 0 || !self.late_kicks.is_empty();
        if under_way || self.failure.is_some() || !self.may_halt || self.domain.is_roused() {
            return;
        }
        let is_limit = |ctx: Ctx| {
            let limit = self.limits[ctx];
            let (was, is) = self.hastened[ctx];
            [u64::MAX, limit, if was == limit { is } else { limit }].contains(&self.timers[ctx])
        };
        let sleeps =
            |ctx: &Ctx| self.status[*ctx] == Status::Halted && self.level[*ctx] == 0 && is_limit(*ctx);
        let asleep: Set = (0..self.plan.contexts()).filter(sleeps).map(bit).sum();
        if let Some((lock, ctx)) = self.watch.as_ref().and_then(|watch| watch.slept_at(asleep)) {
            let what = format!(
                "c{ctx} sleeps, lock {lock} is free, and nobody is about to wake it (a lost wake-up)"
            );
            self.fail(Kind::Stuck, what);
        }
    }

    /// Asks the director of a test, if there is one. Whether somebody goes on.
    #[cfg(test)]
    fn direct(&mut self) -> Option<bool> {
        let mut director = self.director.take()?;
        let next = director(self);
        self.director = Some(director);
        match next {
            Ok(next) => {
                self.current = next;
                self.turns[next] += 1;
            }
            Err(what) => self.fail(Kind::Hung, what),
        }
        Some(self.failure.is_none())
    }

    pub(in super::super) fn time_is_up(&mut self, ctx: Ctx) {
        self.roused |= bit(ctx);
        self.set_ready(ctx);
        self.about(ctx, What::Woken);
    }

    /// A halted context whose timer runs out before step `end`, the first such one.
    fn timer_before(&self, end: u64) -> Option<Ctx> {
        let first = (0..CONTEXTS)
            .filter(|&ctx| self.status[ctx] == Status::Halted)
            .min_by_key(|&ctx| self.timers[ctx]);
        first.filter(|&ctx| self.timers[ctx] < end)
    }
}
