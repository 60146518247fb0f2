//! What must hold of the nodes in the queues of mutual exclusion locks: that they stand in the order in which
//! they were added (IQ4 of [`stanchion_core::stanchion::queue`]), whom an owner rouses, and for how long a
//! waiter that is roused may be overtaken.
//!
//! An owner may be judged by what it could see: waiters that were there before it acquired the lock, and have
//! slept since they said how urgent they are.
use super::super::domain::SteppedDomain;
use super::super::failure::{Failure, Kind};
use super::super::{Ctx, LOCK_BYTES};
use stanchion_core::nodes::{Report, State};
use stanchion_core::transitions::Word;
use stanchion_core::{Domain, NodeId, Tunable};
use std::rc::Rc;

/// What is known of the queues of one run.
pub(in super::super) struct Queues {
    domain: Rc<SteppedDomain>,
    base: usize,
    of_locks: Vec<Queue>,
    waits: Vec<Wait>,
    rules: Rules,
}

/// What an owner's choice depends on.
pub(in super::super) struct Rules {
    /// Whether waiters get the lock in the order in which they came.
    pub(in super::super) in_order: bool,
    /// A turn, in microseconds.
    pub(in super::super) turn: u32,
    /// A nearer waiter that came so much later may be first, in microseconds.
    pub(in super::super) near: u32,
}

/// An heir whose turn has come asks for the lock before it has had so many turns: it looks at the clock once
/// in 16 looks, each of which takes it some turns.
const TURNS_TO_ASK: u32 = 200;

/// The queue of one lock.
#[derive(Default)]
struct Queue {
    /// Nodes, the oldest first.
    order: Vec<NodeId>,
    /// Whom this owner has roused: it may have put them to the front.
    roused: Vec<NodeId>,
    /// Since when this owner holds the lock, in nanoseconds.
    owned_since: u64,
}

/// A wait that has a node.
struct Wait {
    node: NodeId,
    /// Since when it waits to be roused, if it does, in nanoseconds.
    waits_since: Option<u64>,
    /// Since when it is roused, if it is.
    roused_since: Option<u64>,
    /// When it went to sleep last.
    slept: Option<u64>,
    /// How often its turn has begun.
    turns: u32,
    /// How many turns its waiter has had since its turn came, without asking for the lock.
    silent: u32,
}

/// Whether the time `micros`, modulo 2^32, is not before `other`.
fn not_before(micros: u32, other: u32) -> bool {
    micros.wrapping_sub(other).cast_signed() >= 0
}

fn micros(nanos: u64) -> u32 {
    (nanos / 1_000) as u32
}

impl Wait {
    fn with(node: NodeId) -> Self {
        Self { node, waits_since: None, roused_since: None, slept: None, turns: 0, silent: 0 }
    }
}

fn wrong(kind: Kind, what: String) -> Result<(), Failure> {
    Err(Failure { kind, what })
}

impl Rules {
    /// For waiters that get the lock `in_order`, or not.
    pub(in super::super) fn new(in_order: bool, tunable: impl Fn(Tunable) -> u32) -> Self {
        Self { in_order, turn: tunable(Tunable::TurnMicros), near: tunable(Tunable::NearMicros) }
    }
}

impl Queues {
    /// Of so many `locks`, the first of which stands at `base`.
    pub(in super::super) fn new(domain: &Rc<SteppedDomain>, base: usize, locks: usize, rules: Rules) -> Self {
        let of_locks = (0..locks).map(|_| Queue::default()).collect();
        Self { domain: Rc::clone(domain), base, of_locks, waits: Vec::new(), rules }
    }

    fn wait(&mut self, node: NodeId) -> &mut Wait {
        let known = self.waits.iter().position(|wait| wait.node == node);
        let at = known.unwrap_or_else(|| {
            self.waits.push(Wait::with(node));
            self.waits.len() - 1
        });
        &mut self.waits[at]
    }

    fn report(&self, node: NodeId) -> Report {
        self.domain.wait_node(node).report()
    }

    fn state(&self, node: NodeId) -> State {
        self.domain.wait_node(node).state()
    }

    /// Of the lock whose cell stands at `address`, if there is one.
    fn lock_at(&self, address: usize) -> Option<usize> {
        let lock = address.wrapping_sub(self.base) / LOCK_BYTES;
        (lock < self.of_locks.len()).then_some(lock)
    }

    /// `me` has changed the word of `lock`.
    pub(super) fn word_changed(
        &mut self,
        lock: usize,
        me: Ctx,
        (before, after): (Word, Word),
        now: u64,
    ) -> Result<(), Failure> {
        let Queue { order, owned_since, .. } = &mut self.of_locks[lock];
        // A waiter has added the newest node, or those that came after it were taken out.
        order.extend(NodeId::new(after.tail).filter(|node| !order.contains(node)));
        match (before.locked, after.locked) {
            (0, 1..) => *owned_since = now,
            (1.., 0) => return self.is_released(lock, me, after.tail),
            _ => {}
        }
        Ok(())
    }

    /// Whoever waits with `node` is about to sleep.
    pub(in super::super) fn sleeps(&mut self, node: NodeId, now: u64) {
        let waits = self.state(node) == State::Waiting;
        let wait = self.wait(node);
        wait.slept = Some(now);
        if waits {
            wait.waits_since.get_or_insert(now);
        }
    }

    /// `me` has changed the state of `node`, of the wait of another context unless it is `own`.
    pub(in super::super) fn changed(
        &mut self,
        me: Ctx,
        node: NodeId,
        states: (State, State),
        own: bool,
        now: u64,
    ) -> Result<(), Failure> {
        use State::{Abandoned, Free, Granted, Leased, Roused, Waiting};
        let at = self.report(node);
        let seen = match states {
            (Waiting, Roused) if !own => self.is_roused(me, node, at, now),
            _ => Ok(()),
        };
        if states.1 == Free {
            self.waits.retain(|wait| wait.node != node);
            self.of_locks.iter_mut().for_each(|queue| queue.order.retain(|&other| other != node));
            return seen;
        }
        if states.1 == Granted
            && let Some(lock) = self.lock_at(at.lock)
        {
            self.of_locks[lock].owned_since = now;
        }
        let lock = self.lock_at(at.lock);
        let wait = self.wait(node);
        // Who takes over a place has said who it is once it sleeps.
        wait.waits_since = (states.1 == Waiting && states.0 != Abandoned).then_some(now);
        wait.roused_since = (states.1 == Roused).then_some(now);
        wait.silent = 0;
        match states {
            (Leased, Roused) => wait.turns = 1,
            // The queue that it was about to join is empty by now.
            (Waiting, Roused) if own && wait.turns == 0 => wait.turns = 1,
            // A place that is taken over keeps its turns.
            (Abandoned, Waiting | Roused) => wait.slept = None,
            (Waiting, Roused) if !own => {
                wait.slept = None;
                wait.turns += 1;
                if let Some(lock) = lock {
                    self.of_locks[lock].roused.push(node);
                }
            }
            _ => {}
        }
        seen
    }

    /// `me`, which runs, has another turn, and whether the lock at an address is asked for, `asks` says. An
    /// heir whose turn has come asks for the lock, unless it stops competing.
    pub(super) fn has_turn(
        &mut self,
        me: Ctx,
        now: u64,
        asks: impl Fn(usize) -> bool,
    ) -> Result<(), Failure> {
        if self.rules.in_order {
            return Ok(());
        }
        for wait in &mut self.waits {
            if wait.roused_since.is_none() || self.domain.waiter_with(wait.node) != Some(me) {
                continue;
            }
            let at = self.domain.wait_node(wait.node).report();
            let lock = at.lock.wrapping_sub(self.base) / LOCK_BYTES;
            let is_silent = not_before(micros(now), at.due) && lock < self.of_locks.len() && !asks(lock);
            wait.silent = if is_silent { wait.silent + 1 } else { 0 };
            if wait.silent > TURNS_TO_ASK {
                let what =
                    format!("c{me} does not ask for lock {lock}, {TURNS_TO_ASK} turns after it is due");
                return wrong(Kind::Overtaken, what);
            }
        }
        Ok(())
    }

    /// What is known of the wait with `node`, of a context that is in the queue.
    fn known(&self, node: NodeId) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.node == node)
    }

    /// The owner `me` has roused `node`, in which `at` stands.
    fn is_roused(&self, me: Ctx, node: NodeId, at: Report, now: u64) -> Result<(), Failure> {
        let Some(lock) = self.lock_at(at.lock) else { return Ok(()) };
        let queue = &self.of_locks[lock];
        let before = |since: Option<u64>| since.is_some_and(|since| since < queue.owned_since);
        let waited = |other| self.known(other).is_some_and(|wait| before(wait.waits_since));
        if !waited(node) {
            return Ok(()); // chosen for what it was before it gave up and another one came, perhaps
        }
        let turns = self.known(node).map_or(0, |wait| wait.turns);
        let latest = micros(now).wrapping_add(self.rules.turn.checked_shr(turns).unwrap_or(0));
        if !not_before(at.due, micros(queue.owned_since)) || !not_before(latest, at.due) {
            let what = format!("c{me} roused a waiter at {} us, and its turn is at {}", micros(now), at.due);
            return wrong(Kind::Overtaken, what);
        }
        let Some(&first) = queue.order.first().filter(|&&first| first != node) else { return Ok(()) };
        let first_at = self.report(first);
        let heir = self.state(first) == State::Roused;
        // Rule 4: the heir's turn has come, and it has no CPU. It may have stepped down since.
        let half = first_at.due.wrapping_add(self.rules.turn / 2);
        let stepped_down = !waited(first) && self.known(first).is_some_and(|wait| wait.turns > 0);
        if (heir || stepped_down) && not_before(micros(now), half) {
            return Ok(());
        }
        let was_heir = |wait: &Wait| heir && before(wait.roused_since);
        if at.priority == 0 && self.known(first).is_some_and(was_heir) {
            let what = format!("c{me} roused a second waiter, and the turn of the first has not come");
            return wrong(Kind::Overtaken, what);
        }
        let said = |other| self.known(other).is_some_and(|wait| before(wait.slept));
        let mut is_later = false;
        for &other in &queue.order {
            is_later |= other == node;
            let urgent = self.report(other).priority;
            let is_before = urgent > at.priority || urgent > 0 && urgent == at.priority && !is_later;
            if !self.rules.in_order && is_before && waited(other) && said(other) {
                let what = format!("c{me} roused a waiter of priority {}, not of {urgent}", at.priority);
                return wrong(Kind::Overtaken, what);
            }
        }
        let later = at.since.wrapping_sub(first_at.since).cast_signed();
        let is_near = !self.rules.in_order && later < self.rules.near.cast_signed();
        let is_first = queue.roused.is_empty(); // else another one may be, by now
        if at.priority == 0 && waited(first) && is_first && !is_near {
            let what = format!("c{me} roused a waiter that came {later} us after the first one");
            return wrong(Kind::Overtaken, what);
        }
        Ok(())
    }

    /// The owner `me` has released `lock`, in which `newest` stands: its queue is in order, and linked (IQ2).
    fn is_released(&mut self, lock: usize, me: Ctx, newest: u16) -> Result<(), Failure> {
        let mut walk = Vec::with_capacity(self.of_locks[lock].order.len());
        let mut next = NodeId::new(newest);
        while let Some(node) = next.filter(|_| walk.len() <= self.waits.len()) {
            walk.push(node);
            next = self.report(node).older;
        }
        walk.reverse();
        let ends: Vec<NodeId> = walk.iter().filter_map(|&node| self.report(node).oldest).collect();
        let queue = &mut self.of_locks[lock];
        let stay = |nodes: &[NodeId]| -> Vec<NodeId> {
            nodes.iter().copied().filter(|node| !queue.roused.contains(node)).collect()
        };
        if walk.len() != queue.order.len() || stay(&walk) != stay(&queue.order) {
            let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.raw()).collect::<Vec<_>>();
            let what = format!(
                "c{me} released with the nodes {:?} in the queue, and {:?} were added",
                numbers(&walk),
                numbers(&queue.order)
            );
            return wrong(Kind::Transition, what);
        }
        queue.order = walk;
        queue.roused.clear();
        if ends.len() > 1 || ends.first().is_some_and(|end| queue.order.first() != Some(end)) {
            let what = format!("c{me} released, and {} nodes of the queue name its oldest one", ends.len());
            return wrong(Kind::Transition, what);
        }
        Ok(())
    }
}
