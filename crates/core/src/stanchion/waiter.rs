//! Rule 3: those who queue. They sleep; the heir competes.
use super::StanchionLock;
use super::queue::Queue;
use super::spin::{LOOKS_A_CLOCK, Looks, Seen, Vain};
use super::word::{FENCES, NO_BARGING, SPINS, URGENT, WAKE};
use crate::Tunable;
use crate::events::Event;
use crate::machine::{Atomic, micros, sooner};
use crate::nodes::{State, Tag, WaitNode};
use crate::numbers::NodeId;
use crate::order::{Relaxed, SeqCst};
use crate::platform::Domain;
use crate::platform::Platform;

/// Where spins are in vain, an heir whose turn has come gives away its slice so often before it sleeps again.
const YIELDS: u32 = 4;

/// What has become of an heir, or of any waiter, that was about to compete no more.
enum Became {
    /// What it wanted: somebody else is to be roused.
    Idle,
    /// The heir, again or still, or the owner by a grant, which its node says.
    Heir,
    /// The owner: the lock was free at the last moment.
    Owner,
}

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// Queues, sleeps, competes. Whether we own the lock.
    pub(super) fn wait_in_queue(&self, until: Option<&P::Deadline>) -> bool {
        P::with_domain(|domain| {
            let queue = Queue::of(self, domain);
            P::count(Event::LockSlowpath);
            let in_order = self.is_in_order();
            let (me, taken_over) = loop {
                if let Some(place) = queue.place(in_order, until.is_some()) {
                    break place;
                }
                P::count(Event::LockNoNode);
                if self.try_now() {
                    return true;
                }
                if until.is_some_and(|until| P::remaining(until) == 0) {
                    return false;
                }
                P::nap(until);
            };
            let mut waiter = Waiter {
                lock: self,
                queue,
                me,
                node: domain.wait_node(me),
                until,
                forbids: false,
                sleeps: false,
                yields: 0,
            };
            waiter.identify();
            if !taken_over {
                waiter.add();
            }
            waiter.announce();
            waiter.wait()
        })
    }
}

/// A context in the queue of a lock.
struct Waiter<'a, P: Platform, const IN_ORDER: bool> {
    lock: &'a StanchionLock<P, IN_ORDER>,
    queue: Queue<'a, P>,
    me: NodeId,
    node: &'a WaitNode<P>,
    until: Option<&'a P::Deadline>,
    /// We have asked newcomers to leave the lock to us.
    forbids: bool,
    /// We have gone to sleep as heir, or were about to.
    sleeps: bool,
    /// How often we have given away our slice since then; the most if we do not.
    yields: u32,
}

impl<P: Platform, const IN_ORDER: bool> Waiter<'_, P, IN_ORDER> {
    /// Says in the node who waits. A place that was taken over keeps its age and its turns.
    fn identify(&self) {
        let node = self.node;
        // ord: SW5 alone: a hint, published by SQ1 if at all
        node.home.store(P::home(), Relaxed);
        // ord: SW6 alone: as SW5, a hint
        node.numa.store(P::numa_node(), Relaxed);
        // ord: SW7 alone: as SW5, a hint
        node.priority.store(P::priority(), Relaxed);
    }

    /// Adds us to the queue: as its heir if we are alone.
    fn add(&self) {
        let node = self.node;
        // ord: SW1 alone: published by SQ1
        node.lock.store(core::ptr::from_ref(self.lock).addr(), Relaxed);
        let now = micros::<P>();
        // ord: SW2 alone: as SW1, before the push
        node.since.store(now, Relaxed);
        // ord: SW15 alone: as SW1, before the push; owners alone use it
        node.looked.store(now.wrapping_add(1 << 31), Relaxed);
        // ord: SW3 alone: as SW1, before the push
        node.turns.store(0, Relaxed);
        // ord: SW4 alone: as SW1, before the push
        node.runs_at.store(0, Relaxed);
        self.queue.add(self.me, |alone| {
            if alone {
                node.begin_turn(P::tunable(Tunable::TurnMicros));
            }
            node.set(if alone { State::Roused } else { State::Waiting });
        });
    }

    /// If we are urgent: the next release is to look for whom it rouses, though there is an heir.
    fn announce(&self) {
        if self.urgent() != 0 {
            self.lock.change_flags(|flags| flags | WAKE | URGENT);
        }
    }

    /// The flag that says that we are urgent, if we are.
    fn urgent(&self) -> u8 {
        // ord: SW8 alone: our own word
        if self.node.priority.load(Relaxed) > 0 { URGENT } else { 0 }
    }

    /// Waits until we own the lock, or the deadline has passed. Whether we own it.
    fn wait(&mut self) -> bool {
        loop {
            let tag = self.node.tag_acquired();
            if tag.state() == State::Waiting {
                self.allow_barging(); // we may have been put back
                self.sleep(tag);
            } else {
                // ord: SW9 alone: a hint: we run
                self.node.runs_at.store(0, Relaxed);
                if self.lock.was_granted(tag) || self.compete() || self.sleep_unless_free() {
                    self.leave();
                    return true;
                }
            }
            if self.is_over() {
                match self.give_up() {
                    Became::Heir => {}
                    Became::Idle => return false,
                    Became::Owner => {
                        self.leave();
                        return true;
                    }
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| P::remaining(until) == 0)
    }

    /// Sleeps while nobody rouses us, until the deadline. May return at any time.
    fn sleep(&self, tag: Tag) {
        if self.only_polls() {
            P::relax(P::tunable(Tunable::PauseNanos));
            return;
        }
        if IN_ORDER && self.spins_for_its_turn() {
            return;
        }
        P::count(Event::PvWaitNode);
        P::sleep(self.me, self.node.cell(), tag.raw(), self.until);
    }

    /// Where nobody barges, most waits are short: spins for a while on our own node. Whether we were roused.
    fn spins_for_its_turn(&self) -> bool {
        let pause = P::tunable(Tunable::PauseNanos).max(1);
        (0..P::tunable(Tunable::SpinNanos) / pause).any(|_| {
            P::relax(pause);
            self.node.tag().state() != State::Waiting
        })
    }

    /// Whether we give away our slice once our turn has come: a timed waiter has no time for that, and of one
    /// that is urgent the system may keep the CPU free, whoever needs it.
    fn gives_away(&self) -> bool {
        self.until.is_none() && self.urgent() == 0 && !self.only_polls()
    }

    /// Whether waiters keep their CPUs, so that it helps nobody if a spin is short.
    fn only_polls(&self) -> bool {
        self.lock.spins_only() || !P::paravirt()
    }

    /// As heir: spins for the lock. Until our turn has come, others may barge; on a hot lock we sleep until
    /// then. Whether we own it, unless it was handed to us.
    fn compete(&mut self) -> bool {
        let full = P::tunable(Tunable::SpinNanos);
        let flags = self.lock.flags();
        let vain = Vain::of(flags);
        // ord: ST16 alone: where counting begins
        let count = self.lock.count.load(Relaxed);
        let gives_away = self.gives_away();
        // Once our turn has come, whoever rouses us has this time, or that of our slices, to find the flag
        // *wake* cleared, and to release.
        let is_long = IN_ORDER || self.only_polls() || !gives_away && self.node.is_due(micros::<P>());
        let budget = if is_long { full } else { vain.budget(full, count) };
        if budget == full || !gives_away {
            self.yields = YIELDS;
        }
        let mut looks = Looks::new(count);
        let mut until_clock = 0;
        while looks.spent() < budget {
            let seen = looks.look::<P>(&self.lock.count);
            if seen == Seen::Free && self.lock.try_now() {
                return self.lock.learn(vain, &looks, true);
            }
            if self.node.tag().state() != State::Roused {
                return false; // it is ours (I6), or we were put back
            }
            let hot = seen == Seen::Hot && flags & SPINS == 0 && P::tunable(Tunable::Turns) != 0;
            if hot || until_clock == 0 {
                until_clock = LOOKS_A_CLOCK;
                if self.node.is_due(micros::<P>()) {
                    if !self.forbids {
                        looks = Looks::new(looks.last());
                    }
                    self.object();
                } else if hot {
                    if self.is_over() {
                        return false;
                    }
                    self.sleep_for_a_turn();
                    looks = Looks::new(looks.last());
                }
            }
            until_clock -= 1;
            if self.forbids {
                looks.stay(); // the next release is ours
            }
        }
        self.lock.learn(vain, &looks, false)
    }

    /// Asks newcomers to leave the lock to us: our turn has come.
    fn object(&mut self) {
        if self.lock.flags() & NO_BARGING == 0 {
            self.lock.change_flags(|flags| flags | NO_BARGING);
        }
        self.forbids = true;
    }

    fn allow_barging(&mut self) {
        if core::mem::take(&mut self.forbids) {
            self.lock.change_flags(|flags| if flags & SPINS == 0 { flags & !NO_BARGING } else { flags });
        }
    }

    /// On a hot lock: lets one CPU alone have it until our turn has come.
    fn sleep_for_a_turn(&self) {
        let left = self.node.left(micros::<P>());
        if left > 0 && P::paravirt() {
            P::count(Event::PvWaitHead);
            let roused = self.node.tag().with(State::Roused);
            let turn = P::after(u64::from(left) * 1_000);
            let end = sooner::<P>(&turn, self.until);
            self.without_cpu(|| P::sleep(self.me, self.node.cell(), roused.raw(), Some(end)));
        }
    }

    /// As heir: leaves the CPU to others while `body` runs. Who goes on with the lock may see that we wait
    /// for it once our turn has come (rule 4).
    fn without_cpu(&self, body: impl FnOnce()) {
        // ord: SW12 alone: a hint for rule 4
        self.node.runs_at.store(P::home(), Relaxed);
        body();
        // ord: SW13 alone: a hint for rule 4
        self.node.runs_at.store(0, Relaxed);
    }

    /// As heir whose spin was in vain: sleeps until a release rouses us again, unless the lock is free at the
    /// last moment. If our turn has come after a short spin, gives away our slice instead, a few times: the
    /// holder may need our CPU. Whether we own it.
    fn sleep_unless_free(&mut self) -> bool {
        let tag = self.node.tag();
        if tag.state() != State::Roused || self.only_polls() {
            return false; // it is ours (I6), or we were put back
        }
        let now = micros::<P>();
        if self.yields < YIELDS && self.node.is_due(now) {
            self.yields += 1;
            self.allow_barging();
            self.without_cpu(P::yield_slice);
            if micros::<P>().wrapping_sub(now) > P::tunable(Tunable::TurnMicros) {
                self.yields = YIELDS; // whoever needed our CPU has had it
            }
            return false;
        }
        self.yields = 0;
        let waiting = tag.with(State::Waiting);
        // ord: SW14 alone: our own word, as in SW5
        self.node.home.store(P::home(), Relaxed);
        let became = self.step_down(waiting);
        if matches!(became, Became::Idle) {
            P::count(Event::PvWaitHead);
            P::sleep(self.me, self.node.cell(), waiting.raw(), self.until);
        }
        matches!(became, Became::Owner)
    }

    /// As heir: our node says from now on that we do not compete, and the next release rouses somebody,
    /// unless the lock is free at the last moment (I3).
    fn step_down(&mut self, down: Tag) -> Became {
        self.allow_barging();
        if !self.node.change(down.with(State::Roused), down.state()) {
            return Became::Heir; // it is ours (I6)
        }
        let before = self.lock.change_flags(|flags| flags | WAKE | self.urgent());
        self.sleeps = true;
        if !barrier::<P>(before) {
            P::count(Event::PvNoBarrier);
            P::yield_slice();
            return self.step_up(down);
        }
        // ST7: a barrier stands between our flag (ST6) and this look at the lock.
        // ord: ST7 pairs ST2, ST4: either we see the lock released, or its releaser sees our flag
        let count = self.lock.count.load(Relaxed);
        if self.lock.claim(count) { Became::Owner } else { Became::Idle }
    }

    /// Who could not step down competes on, as the next release may miss the flag. If another waiter stands
    /// in our place by now, it is the heir instead; an owner that has the node rouses somebody.
    fn step_up(&self, down: Tag) -> Became {
        loop {
            let tag = self.node.tag();
            if tag != down && tag != down.with(State::Waiting) {
                return Became::Idle;
            }
            if self.node.change(tag, State::Roused) {
                if tag == down {
                    return Became::Heir;
                }
                P::wake(self.me);
                return Became::Idle;
            }
        }
    }

    /// The owner, whose node is in the queue, leaves it.
    fn leave(&mut self) {
        let others = self.queue.remove(self.me);
        self.allow_barging();
        // Where heirs sleep, releases are fenced (I7).
        let mut marks = if self.sleeps { FENCES } else { 0 };
        if others.is_some_and(|ends| self.queue.node(ends.oldest).tag().state() != State::Roused) {
            marks |= WAKE; // I5
        }
        if marks & !self.lock.flags() != 0 {
            self.lock.change_flags(|flags| flags | marks);
        }
        self.queue.domain.give_back(self.me);
    }

    /// The deadline has passed: leaves the node in the queue for an owner to take out, unless we are roused,
    /// or own the lock, at the last moment.
    fn give_up(&mut self) -> Became {
        self.allow_barging();
        let tag = self.node.tag();
        let abandoned = tag.with(State::Abandoned);
        if tag.state() == State::Waiting {
            return if self.node.change(tag, State::Abandoned) { Became::Idle } else { Became::Heir };
        }
        let became = self.step_down(abandoned);
        // Meanwhile another owner may have taken our node out, or another waiter stand in our place.
        if matches!(became, Became::Owner) && !self.node.change(abandoned, State::Leased) {
            self.lock.release_owned();
            return Became::Idle;
        }
        became
    }
}

/// Between a mark in the flags, which were these before, and a look at the lock: the heavy barrier, or a
/// fence where releases have one (I7). `false` if neither can be had.
fn barrier<P: Platform>(before: u8) -> bool {
    if before & FENCES == 0 {
        return P::heavy_barrier();
    }
    // ord: ST21 pairs ST22, N21, N83: between the flag (ST6) and ST7; owners pass one, too
    P::fence(SeqCst);
    true
}
