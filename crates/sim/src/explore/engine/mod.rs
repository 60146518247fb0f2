//! The engine of the stepped world, one for each host thread: whose turn it is, who sleeps, what is under
//! way.
//!
//! Lock code reaches it through the functions in [`steps`]. None of them holds the engine across a change of
//! turn, so the context that runs next finds it free.
//!
//! Invariants:
//! - **IE1** `current` is the context whose coroutine runs, or is about to be resumed by the loop in `run`.
//! - **IE2** A context is in `ready` exactly while its status is `Ready`.
//! - **IE3** Once `failure` is set, no context goes on: each either is suspended or suspends at its next
//!   step, and is unwound by the loop. Steps of destructors on the way out do nothing.
mod halts;
mod memory;
mod numbers;
mod steps;
mod turns;

pub(super) use steps::{
    arrive, await_reader, domain, finish, flush_all, flush_own, halt_while, has_read, is_nobodys, kick, load,
    pause, sleep_until_written, start, store, update, wake, with,
};

use super::buffers::Buffers;
use super::chooser::{Chooser, Set, bit};
use super::domain::SteppedDomain;
use super::failure::{Failure, Kind};
use super::fault::Fault;
use super::machine::Machine;
use super::plan::{Coin, Plan};
use super::platform::STEP_NANOS;
use super::script::{Item, push};
use super::trace::{Line, What};
use super::watch::Watch;
use super::{CONTEXTS, Ctx};
use crate::random::Random;
use halts::LimitedWait;
use numbers::Numbers;
use stanchion_core::{NodeId, Tunable};
use stanchion_family::events::ALL;
use std::rc::Rc;

/// Where a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    /// Waits until the cell at this address changes.
    Polling(usize),
    Halted,
    /// Waits within its section for a context to have read, or to be refused.
    Awaits(Ctx),
    Done,
}

/// A read-modify-write.
#[derive(Clone, Copy)]
pub(super) enum Update<'a> {
    Swap(u64),
    /// From, to.
    Exchange(u64, u64),
    Add(&'a dyn Fn(u64) -> u64),
}

/// The state of one run; reused by the next.
pub(super) struct Engine {
    pub(super) plan: Plan,
    pub(super) domain: Rc<SteppedDomain>,
    /// Whether waiters may halt.
    pub(super) may_halt: bool,
    /// What is set differently for the lock.
    pub(super) tunings: &'static [(Tunable, u32)],
    /// Runs the handler of a level.
    pub(super) handler: Option<Rc<dyn Fn(u8)>>,
    pub(super) chooser: Chooser,
    pub(super) watch: Option<Watch>,
    pub(super) trace: Option<Vec<Line>>,
    pub(super) recording: Option<Vec<Item>>,
    pub(super) failure: Option<Failure>,
    pub(super) events: [u64; ALL.len()],
    pub(super) steps: u64,
    pub(super) step_limit: u64,
    pub(super) current: Ctx,
    pub(super) status: [Status; CONTEXTS],
    random: Random,
    numbers: Numbers,
    /// Whether a run is on; accesses outside of runs are plain.
    running: bool,
    in_a_row: u32,
    /// How many turns each context has had.
    pub(super) turns: [u64; CONTEXTS],
    ready: Set,
    kicked: Set,
    /// Whose halt is to end for no reason.
    roused: Set,
    /// How many halts of a context are over, in handlers too.
    halts: [u32; CONTEXTS],
    /// The cell of the latest read-modify-write.
    /// Who is to be interrupted at its next turn.
    interrupted: Set,
    /// Whether the current context stands before the comparison of a halt, or between that and the halt.
    at_halt: bool,
    /// How many handlers deep a context is.
    level: [u8; CONTEXTS],
    coins: [u32; CONTEXTS],
    /// How often each has asked on which NUMA node it is, and has moved to another one.
    places: [(u16, u16); CONTEXTS],
    buffers: Buffers,
    late_kicks: Vec<(u64, Ctx)>,
    /// The step at which a halted context wakes up by itself; the greatest number: never.
    timers: [u64; CONTEXTS],
    /// At which step each context's limited wait is to end, as it asked last.
    limits: [u64; CONTEXTS],
    /// The limited wait of each context at each level of nesting, if there is one.
    limited: [[Option<LimitedWait>; LEVELS]; CONTEXTS],
    /// Steps at which limited waits were to end, and at which they end: time may pass at any moment.
    hastened: [(u64, u64); CONTEXTS],
    /// Who is in the middle of what others may spoil: who gives up, or tries without waiting.
    at_risk: Set,
    away: Set,
    back_at: [u64; CONTEXTS],
    next_absence: u64,
    interrupts_left: u32,
    absences_left: u32,
    /// How many acquisitions there were at what step, as far as starving needs to know.
    progress: (u64, u64),
    /// When the starved context had its last turn, counted in changes of the lock.
    fortune: u64,
    /// Decides whose turn it is instead of the chooser, in a test.
    #[cfg(test)]
    pub(super) director: Option<Director>,
}

/// Names who goes next, or says what has gone wrong.
#[cfg(test)]
pub(super) type Director = Box<dyn FnMut(&mut Engine) -> Result<Ctx, String>>;

/// Whether a context that spins keeps those that are less urgent from running: in a test.
#[inline]
pub(super) fn is_strict() -> bool {
    #[cfg(test)]
    return with(|engine| engine.director.is_some());
    #[cfg(not(test))]
    false
}

/// Interrupts of one run, for each context. Handlers are interrupted too, so there must be an end.
const INTERRUPTS_EACH: u32 = 4;

/// A context and the handlers that interrupt it.
const LEVELS: usize = 5;

/// Long absences of one run.
const ABSENCES: u32 = 8;

impl Engine {
    fn idle() -> Self {
        let plan = Plan::empty();
        Self {
            domain: Rc::new(SteppedDomain::new(Machine::PLAIN)),
            handler: None,
            may_halt: true,
            tunings: &[],
            chooser: Chooser::Random { stay: 1 },
            watch: None,
            trace: None,
            recording: None,
            failure: None,
            events: [0; ALL.len()],
            steps: 0,
            step_limit: 0,
            current: 0,
            status: [Status::Done; CONTEXTS],
            random: Random::new(0, 0),
            numbers: Numbers::new(0, 0, 0),
            running: false,
            in_a_row: 0,
            turns: [0; CONTEXTS],
            ready: 0,
            kicked: 0,
            roused: 0,
            halts: [0; CONTEXTS],
            interrupted: 0,
            at_halt: false,
            level: [0; CONTEXTS],
            coins: [0; CONTEXTS],
            places: [(0, 0); CONTEXTS],
            buffers: Buffers::default(),
            late_kicks: Vec::new(),
            timers: [u64::MAX; CONTEXTS],
            limits: [u64::MAX; CONTEXTS],
            limited: [[None; LEVELS]; CONTEXTS],
            hastened: [(u64::MAX, u64::MAX); CONTEXTS],
            at_risk: 0,
            away: 0,
            back_at: [0; CONTEXTS],
            next_absence: 0,
            interrupts_left: 0,
            absences_left: 0,
            progress: (0, 0),
            fortune: 0,
            #[cfg(test)]
            director: None,
            plan,
        }
    }

    /// Begins a run: everybody is ready, nobody has had a turn.
    pub(super) fn begin(&mut self, plan: &Plan, domain: Rc<SteppedDomain>, step_limit: u64) {
        let contexts = plan.contexts();
        self.random = Random::new(plan.seed, 2);
        self.chooser = Chooser::of(plan, &mut self.random);
        let machine = domain.machine();
        self.numbers = Numbers::new(machine.first_number, machine.numbers, contexts);
        self.domain = domain;
        (self.watch, self.trace, self.recording, self.failure, self.handler) = (None, None, None, None, None);
        (self.may_halt, self.tunings, self.events) = (true, &[], [0; ALL.len()]);
        (self.steps, self.step_limit, self.current, self.in_a_row) = (0, step_limit, 0, 0);
        self.turns = [0; CONTEXTS];
        self.status = [Status::Done; CONTEXTS];
        self.ready = 0;
        for ctx in (0..contexts).filter(|&ctx| plan.rounds[ctx] > 0) {
            self.set_ready(ctx);
        }
        (self.kicked, self.roused, self.interrupted, self.away, self.at_risk) = (0, 0, 0, 0, 0);
        (self.level, self.coins, self.halts) = ([0; CONTEXTS], [0; CONTEXTS], [0; CONTEXTS]);
        self.places = [(0, 0); CONTEXTS];
        self.buffers.clear();
        self.late_kicks.clear();
        self.timers = [u64::MAX; CONTEXTS];
        (self.limits, self.hastened) = ([u64::MAX; CONTEXTS], [(u64::MAX, u64::MAX); CONTEXTS]);
        self.limited = [[None; LEVELS]; CONTEXTS];
        self.next_absence = plan.absence_every;
        let interrupts = plan.faults.has(Fault::Interrupts);
        self.interrupts_left = if interrupts { INTERRUPTS_EACH * contexts as u32 } else { 0 };
        (self.absences_left, self.progress, self.fortune) = (ABSENCES, (0, 0), 0);
        self.plan.clone_from(plan);
        (self.at_halt, self.running) = (false, true);
    }

    /// Ends the run. Nothing refers to its memory any more.
    pub(super) fn end(&mut self) {
        self.buffers.clear();
        (self.watch, self.handler) = (None, None);
        self.status = [Status::Done; CONTEXTS];
        self.running = false;
    }

    pub(super) fn fail(&mut self, kind: Kind, what: String) {
        if self.failure.is_none() {
            self.failure = Some(Failure { kind, what });
        }
    }

    /// Whether the current context must not be made to wait behind others: a handler, or the context that is
    /// one by itself.
    pub(super) fn is_priority(&self) -> bool {
        self.level[self.current] > 0 || self.domain.machine().priority == Some(self.current)
    }

    /// See [`Plan::coin`].
    #[inline]
    pub(super) fn coin(&mut self, coin: Coin, below: u64) -> u64 {
        let times = &mut self.coins[self.current];
        *times += 1;
        self.plan.coin(coin, self.current, *times, below)
    }

    /// The NUMA node on which the current context is, which may have moved.
    pub(super) fn numa_node(&mut self) -> u16 {
        let (asked, moved) = &mut self.places[self.current];
        *asked += 1;
        *moved += u16::from(self.plan.moves_before(self.current, (*asked).into()));
        self.numa_node_of(self.current)
    }

    /// The NUMA node on which `ctx` last was.
    pub(super) fn numa_node_of(&self, ctx: Ctx) -> u16 {
        self.domain.machine().node_of(ctx, self.places[ctx].1)
    }

    /// What the clock says, in nanoseconds.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.domain.machine().clock + self.steps * STEP_NANOS
    }

    /// The current context is about to sleep with `node`.
    pub(super) fn sleeps_with(&mut self, node: NodeId) {
        self.domain.sleeps_with(node, self.current);
        let now = self.now();
        if let Some(queues) = self.watch.as_mut().and_then(|watch| watch.queues.as_mut()) {
            queues.sleeps(node, now);
        }
    }

    /// How urgent the current context is, each time that it asks.
    pub(super) fn urgency(&mut self) -> u8 {
        let drawn = self.coin(Coin::Urgent, 8).saturating_sub(5) as u8;
        if self.plan.has_urgent() { drawn } else { 0 }
    }

    /// `ctx` is in the middle of what others may spoil, or is not any more.
    pub(super) fn is_at_risk(&mut self, ctx: Ctx, at_risk: bool) {
        self.at_risk = if at_risk { self.at_risk | bit(ctx) } else { self.at_risk & !bit(ctx) };
    }

    /// `ctx` cannot go on, for the reason that its new status tells.
    fn set_aside(&mut self, ctx: Ctx, status: Status) {
        self.status[ctx] = status;
        self.ready &= !bit(ctx);
    }

    fn set_ready(&mut self, ctx: Ctx) {
        self.status[ctx] = Status::Ready;
        self.ready |= bit(ctx);
    }

    fn record(&mut self, item: Item) {
        if let Some(items) = &mut self.recording {
            push(items, item);
        }
    }

    #[cold]
    pub(super) fn note(&mut self, ctx: Ctx, what: What, address: usize, before: u64, after: u64) {
        let (steps, level) = (self.steps, self.level[ctx]);
        let holder = self.watch.as_ref().and_then(Watch::owner);
        if let Some(trace) = &mut self.trace {
            trace.push(Line { step: steps, ctx, level, what, address, before, after, holder });
        }
    }

    /// Notes what the current context does, if anybody wants to know.
    #[inline]
    pub(super) fn tell(&mut self, what: What, address: usize, before: u64, after: u64) {
        if self.trace.is_some() {
            self.note(self.current, what, address, before, after);
        }
    }
}
