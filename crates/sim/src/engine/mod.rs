//! The engine: virtual time, contexts as coroutines, and what happens next.
//!
//! A context's code runs at one instant of virtual time until it does something that takes time. If nothing
//! else happens before that is over, the clock is moved and the code goes on (*run-ahead*); else an event is
//! queued and the context is suspended. So an access that hits costs no switch, and neither does a miss while
//! everybody else waits.
//!
//! Invariants:
//! - **IE1** At most one engine is entered on a host thread, and `ENTERED` points to it for as long as
//!   [`run`] runs.
//! - **IE2** The reference that [`with`] gives out does not outlive its closure, and no closure suspends,
//!   resumes or calls [`with`] again: two references never coexist.
//! - **IE3** A context that is suspended in [`spin`] has left its question in `Context::check`; it points
//!   into the suspended stack and is removed before the context goes on. Asking it reads one cell by `peek`
//!   and calls the lock's predicate, neither of which enters the engine.
//! - **IE4** A cell with a posted store outlives the store: stores are posted for cells in the arena only,
//!   which outlives the run.
mod access;
mod cause;
mod context;
mod drive;
mod host;
mod pause_loop;
mod queue;
mod record;
mod sleep;
mod spin;
mod work;

use crate::arena::{Arena, LINE_BYTES};
use crate::coherence::Directory;
use crate::machine::Machine;
use crate::random::Random;
use crate::time::Time;
use context::{Context, Doing, told};
use core::cell::Cell;
use host::Host;
use queue::{Event, Kind, Queue};
use stanchion_core::Event as LockEvent;
use stanchion_family::events::ALL;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(crate) use access::{fence, heavy_barrier, load, post, prefetch, prefetch_read, rmw, touch};
pub use cause::{ByCause, Cause};
pub(crate) use drive::{End, Limits, fail, run};
pub(crate) use pause_loop::confer;
pub use record::{Handover, Kick, Ran, Recording, Spell};
pub(crate) use sleep::{halt, halt_until, kick, kick_nobody, sleep, wake_sleeper, yield_slice};
pub(crate) use spin::wait;
pub(crate) use work::{compute, pause};

thread_local! {
    static ENTERED: Cell<*mut Engine> = const { Cell::new(core::ptr::null_mut()) };
}

/// How much was simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Memory events: accesses of contexts, and looks of waiters at a line that changed.
    pub memory_events: u64,
    /// Events taken from the queue.
    pub events: u64,
    /// Switches to a context.
    pub switches: u64,
}

/// Cells need not lie in the arena; so many lines of them may be elsewhere. Which of them share a line is the
/// host's doing, so only tests have such cells: what is measured lies in the arena.
const FOREIGN_LINES: usize = 512;

/// A machine at work.
pub(crate) struct Engine {
    now: Time,
    /// Who runs at this instant.
    current: usize,
    queue: Queue,
    contexts: Vec<Context>,
    directory: Directory,
    waiting: spin::Waiting,
    host: Host,
    machine: Machine,
    arena_base: usize,
    arena_bytes: usize,
    /// Lines of cells outside of the arena, by address; see [`Engine::foreign_line`].
    foreign: HashMap<usize, usize>,
    /// Contexts that compute, and that spin, on each core; kept where cores have several threads.
    at_work: Vec<u16>,
    spinning: Vec<u16>,
    hash: u64,
    effort: Effort,
    lock_events: Vec<u64>,
    kicks: u64,
    halts: u64,
    measuring_since: Time,
    recording: Option<Recording>,
}

impl Engine {
    pub(crate) fn new(
        machine: &Machine,
        arena: &Arena,
        contexts: usize,
        cpus: &[usize],
        seed: u64,
        warm_up: Time,
        record: Option<(Time, Time)>,
    ) -> Self {
        let recording = record.map(|(from, to)| Recording::new(contexts, from, to));
        let host = Host::new(machine, contexts, cpus, seed);
        let contexts: Vec<Context> = (0..contexts).map(|index| Context::new(index, seed)).collect();
        let mut engine = Self {
            now: 0,
            current: 0,
            queue: Queue::new(seed),
            waiting: spin::Waiting::new(arena.lines() + FOREIGN_LINES),
            directory: Directory::new(machine, arena.lines() + FOREIGN_LINES, Random::new(seed, u64::MAX)),
            host,
            at_work: vec![0; machine.topology.core_count()],
            spinning: vec![0; machine.topology.core_count()],
            contexts,
            machine: machine.clone(),
            arena_base: arena.base(),
            arena_bytes: arena.lines() * LINE_BYTES,
            foreign: HashMap::new(),
            hash: seed,
            effort: Effort::default(),
            lock_events: vec![0; ALL.len()],
            kicks: 0,
            halts: 0,
            measuring_since: 0,
            recording,
        };
        engine.queue.push(warm_up, Kind::Measure, 0, 0, 0);
        engine.queue.push(0, Kind::Breath, 0, 0, drive::REGULAR);
        engine.power_on(seed);
        engine
    }

    /// The line of an address; `None` if there are too many lines outside of the arena.
    #[inline]
    fn line(&mut self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.arena_base);
        if offset < self.arena_bytes { Some(offset / LINE_BYTES) } else { self.foreign_line(address) }
    }

    /// The line of a cell that lies on the host's heap or a stack, numbered in the order of their first use.
    #[cold]
    fn foreign_line(&mut self, address: usize) -> Option<usize> {
        let next = self.arena_bytes / LINE_BYTES + self.foreign.len();
        match self.foreign.entry(address / LINE_BYTES) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if next >= self.arena_bytes / LINE_BYTES + FOREIGN_LINES => None,
            Entry::Vacant(new) => Some(*new.insert(next)),
        }
    }

    /// Whether a line lies outside of the arena.
    fn is_foreign(&self, line: usize) -> bool {
        line >= self.arena_bytes / LINE_BYTES
    }

    /// Adds to the hash of everything that happened.
    #[inline]
    fn note(&mut self, what: u64) {
        self.hash = (self.hash ^ what ^ self.now).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    /// Moves the running context to time `at`, at once if nothing happens before. `false`: it must suspend.
    #[inline]
    fn reach(&mut self, at: Time) -> bool {
        debug_assert!(self.contexts[self.current].cpu.is_some(), "only a context with a CPU gets on");
        if at < self.queue.next_time() {
            self.now = at;
            return true;
        }
        let generation = self.contexts[self.current].generation;
        self.queue.push(at, Kind::Resume, self.current as u32, generation, 0);
        false
    }

    /// Something of context `who` that was under way is void.
    fn void(&mut self, who: usize) {
        let context = &mut self.contexts[who];
        context.generation = context.generation.wrapping_add(1);
    }

    fn switch_cause(&mut self, who: usize, cause: Cause) {
        let now = self.now;
        let spent = &mut self.contexts[who].spent;
        if let Some(recording) = &mut self.recording {
            recording.spell(who, spent.cause, spent.since, now);
        }
        spent.switch(cause, now);
    }

    /// The time of context `who` between `from` and `to`, which is now, went to `cause`; it goes on as
    /// before.
    #[inline]
    fn aside(&mut self, who: usize, cause: Cause, from: Time, to: Time) {
        let spent = &mut self.contexts[who].spent;
        let Some(recording) = &mut self.recording else { return spent.aside(cause, to - from) };
        let before = spent.cause;
        recording.spell(who, before, spent.since, from);
        recording.spell(who, cause, from, to);
        spent.switch(cause, from);
        spent.switch(before, to);
    }

    /// Context `who` goes on with what it is told.
    fn goes_on(&mut self, who: usize) {
        let base = self.contexts[who].spent.base;
        if self.contexts[who].spent.cause != base {
            self.switch_cause(who, base);
        }
        self.contexts[who].doing = Doing::Running;
    }

    fn start_measuring(&mut self) {
        let now = self.now;
        self.measuring_since = now;
        for context in &mut self.contexts {
            context.spent.switch(context.spent.cause, now);
            context.spent.reset(now);
        }
        self.lock_events.fill(0);
        self.kicks = 0;
        self.halts = 0;
        self.effort = Effort::default();
        self.host.reset_busy(now);
    }

    fn handle(&mut self, event: Event) -> Option<(usize, u32)> {
        let who = event.who as usize;
        match event.kind {
            Kind::Resume => return self.resume(who, event.generation),
            Kind::Reread => self.reread(who, event.generation),
            Kind::Poll => self.poll(who, event.generation),
            Kind::Storm => self.storm(who, event.extra),
            Kind::Store => self.store_visible(who),
            Kind::Deadline => return self.deadline(who, event.generation),
            Kind::Kick => self.kick_arrives(who, event.extra),
            Kind::Dispatch => return self.dispatch(who, event.generation),
            Kind::PauseLoop => self.pause_loop_exit(who, event.generation),
            Kind::Wake => self.sleep_over(who, event.generation, event.extra),
            Kind::Tick => self.tick(who),
            Kind::Expire => self.expire(who, event.generation),
            Kind::Preempt => self.preempt_late(who, event.generation),
            Kind::Housekeeping => self.housekeeping(),
            Kind::Measure => self.start_measuring(),
            Kind::Breath => {}
        }
        None
    }

    fn resume(&mut self, who: usize, generation: u32) -> Option<(usize, u32)> {
        let context = &mut self.contexts[who];
        if context.generation != generation {
            return None;
        }
        let late = core::mem::take(&mut context.delay);
        let at = (self.now + late).max(context.not_before);
        if at > self.now {
            if let Doing::Computing(_) = context.doing {
                context.doing = Doing::Computing(at);
            }
            self.queue.push(at, Kind::Resume, who as u32, generation, 0);
            return None;
        }
        if let Doing::Computing(_) = context.doing {
            self.ends_work(who);
        }
        self.goes_on(who);
        self.note(who as u64);
        let tell = core::mem::replace(&mut self.contexts[who].tell, told::DONE);
        Some((who, tell))
    }
}

/// Gives `f` the engine and the number of the running context. `None` outside of a simulation.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&mut Engine, usize) -> R) -> Option<R> {
    let engine = ENTERED.get();
    if engine.is_null() {
        return None;
    }
    // SAFETY: IE1: not null means that `run` is on the stack and keeps the engine; IE2: this is the only
    // reference.
    let engine = unsafe { &mut *engine };
    let current = engine.current;
    Some(f(engine, current))
}

impl Engine {
    /// Virtual time.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Counts a lock's event.
    pub(crate) fn count(&mut self, event: LockEvent, times: u64) {
        self.lock_events[event.index()] += times;
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The running context's own randomness.
    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.contexts[self.current].random
    }

    /// The CPU that context `who` runs on.
    pub(crate) fn cpu_of(&self, who: usize) -> Option<usize> {
        self.contexts[who].cpu
    }

    /// The socket on which the running context runs.
    pub(crate) fn socket(&self) -> usize {
        self.directory.socket(self.contexts[self.current].core)
    }

    /// The socket on which `who` runs, or ran last.
    pub(crate) fn socket_of(&self, who: usize) -> usize {
        self.contexts.get(who).map_or(0, |context| self.directory.socket(context.core))
    }

    /// Whether two contexts run, or ran last, on the same socket.
    pub(crate) fn shares_socket(&self, one: usize, other: usize) -> bool {
        let socket = |who: usize| self.directory.socket(self.contexts[who].core);
        socket(one) == socket(other)
    }

    /// Whether two contexts run, or ran last, on the same core.
    pub(crate) fn shares_core(&self, one: usize, other: usize) -> bool {
        self.contexts[one].core == self.contexts[other].core
    }

    /// Whether the running context sees that context `who` has no CPU. A thread knows it only of those that
    /// were last on its own CPU.
    pub(crate) fn is_preempted(&self, who: usize) -> bool {
        let (mine, host) = (self.contexts[self.current].cpu, &self.machine.host);
        let is_seen = |ran_on| host.hypercalls || mine == ran_on;
        host.preempted_hint
            && self.contexts.get(who).is_some_and(|context| context.cpu.is_none() && is_seen(context.ran_on))
    }

    /// From now on the running context's time goes to `base`, unless it waits.
    pub(crate) fn set_base(&mut self, base: Cause) {
        let who = self.current;
        self.contexts[who].spent.base = base;
        self.switch_cause(who, base);
    }

    /// The recording, if there is one.
    pub(crate) fn recording(&mut self) -> Option<&mut Recording> {
        self.recording.as_mut()
    }
}
