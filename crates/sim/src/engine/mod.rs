//! The engine: virtual time, contexts as coroutines, and what happens next.
//!
//! A context's code runs at one instant of virtual time until it does something that takes time. If nothing else happens
//! before that is over, the clock is moved and the code goes on (*run-ahead*); else an event is queued and the context is
//! suspended. So an access that hits costs no switch, and neither does a miss while everybody else waits.
//!
//! Invariants:
//! - **E1** At most one engine is entered on a host thread, and `ENTERED` points to it for as long as [`run`] runs.
//! - **E2** The reference that [`with`] gives out does not outlive its closure, and no closure suspends, resumes or calls
//!   [`with`] again: two references never coexist.
//! - **E3** A context that is suspended in [`spin`] has left its question in `Context::check`; it points into the suspended stack
//!   and is removed before the context goes on. Asking it reads one cell by `peek` and calls the lock's predicate, neither of
//!   which enters the engine.
//! - **E4** A cell with a posted store outlives the store: stores are posted for cells in the arena only, which outlives the run.
mod access;
mod cause;
mod context;
mod host;
mod queue;
mod record;
mod spin;
mod work;

use crate::arena::{Arena, LINE_BYTES};
use crate::coherence::Directory;
use crate::coroutine::{Coroutine, in_context};
use crate::machine::Machine;
use crate::random::{Random, mix};
use crate::time::{MS, Time};
use context::{Context, Doing, told};
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use host::Host;
use queue::{Event, Kind, Queue};
use stanchion_core::Event as LockEvent;

pub(crate) use access::{fence, heavy_barrier, load, missed_last, post, prefetch, rmw, touch};
pub use cause::{ByCause, Cause};
pub(crate) use host::{halt, kick, sleep, wake_sleeper, yield_slice};
pub use record::{Handover, Kick, Ran, Recording, Spell};
pub(crate) use spin::wait;
pub(crate) use work::{compute, look, pause};

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
    missed: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The time was up.
    TimeUp,
    /// Every context ended.
    AllEnded,
    /// Contexts wait, and nothing will ever happen again.
    Stuck,
    /// More events than were allowed.
    TooLong,
    /// The caller said so.
    Stopped,
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
            waiting: spin::Waiting::new(arena.lines()),
            directory: Directory::new(machine, arena.lines(), Random::new(seed, u64::MAX)),
            host,
            at_work: vec![0; machine.topology.core_count()],
            spinning: vec![0; machine.topology.core_count()],
            contexts,
            machine: machine.clone(),
            arena_base: arena.base(),
            arena_bytes: arena.lines() * LINE_BYTES,
            hash: seed,
            effort: Effort::default(),
            lock_events: vec![0; LockEvent::ALL.len()],
            kicks: 0,
            halts: 0,
            measuring_since: 0,
            recording,
            missed: false,
        };
        engine.queue.push(warm_up, Kind::Measure, 0, 0, 0);
        engine.queue.push(0, Kind::Breath, 0, 0, REGULAR);
        engine.power_on(seed);
        engine
    }

    /// The line of an address; `None` if it is no shared memory.
    #[inline]
    fn line(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.arena_base);
        (offset < self.arena_bytes).then_some(offset / LINE_BYTES)
    }

    /// Adds to the hash of everything that happened.
    #[inline]
    fn note(&mut self, what: u64) {
        self.hash = (self.hash ^ what ^ self.now).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    /// Moves the running context to time `at`, at once if nothing happens before. `false`: it must suspend.
    #[inline]
    fn reach(&mut self, at: Time) -> bool {
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

    /// Handles events until a context is to go on: who, and what it is told. `None`: nobody yet, the caller may look around.
    fn next(&mut self, until: Time, most_events: u64) -> Result<Option<(usize, u32)>, End> {
        loop {
            if self.queue.next_time() > until {
                return Err(End::TimeUp);
            }
            if self.effort.events >= most_events {
                return Err(End::TooLong);
            }
            let Some(event) = self.queue.pop() else { return Err(End::Stuck) };
            self.effort.events += 1;
            self.now = event.time;
            if event.kind == Kind::Breath {
                if event.extra == REGULAR {
                    self.queue.push(self.now + BREATH, Kind::Breath, 0, 0, REGULAR);
                }
                return if self.is_stuck() { Err(End::Stuck) } else { Ok(None) };
            }
            if let Some(go) = self.handle(event) {
                return Ok(Some(go));
            }
        }
    }

    /// Whether nobody will ever do anything again, although some have not ended.
    fn is_stuck(&self) -> bool {
        let waits = |context: &Context| match context.doing {
            Doing::Halted | Doing::Ended => true,
            Doing::Spinning => context.deadline == Time::MAX,
            Doing::Running | Doing::Computing(_) | Doing::Accessing | Doing::Sleeping => false,
        };
        self.queue.is_quiet() && self.contexts.iter().all(waits)
    }

    fn handle(&mut self, event: Event) -> Option<(usize, u32)> {
        let who = event.who as usize;
        match event.kind {
            Kind::Resume => return self.resume(who, event.generation),
            Kind::Reread => self.reread(who, event.generation),
            Kind::Storm => self.storm(who, event.extra),
            Kind::Store => self.store_visible(who),
            Kind::Deadline => return self.deadline(who, event.generation),
            Kind::Kick => self.kick_arrives(who, event.extra),
            Kind::Dispatch => return self.dispatch(who, event.generation),
            Kind::PauseLoop => self.pause_loop_exit(who, event.generation),
            Kind::Wake => self.timer_over(who, event.generation),
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
    // SAFETY: E1: not null means that `run` is on the stack and keeps the engine; E2: this is the only reference.
    let engine = unsafe { &mut *engine };
    let current = engine.current;
    Some(f(engine, current))
}

/// What a run leaves behind.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) now: Time,
    /// Time measured: without the warm-up.
    pub(crate) measured: Time,
    pub(crate) hash: u64,
    pub(crate) effort: Effort,
    pub(crate) causes: Vec<ByCause>,
    pub(crate) lock_events: Vec<u64>,
    pub(crate) kicks: u64,
    pub(crate) halts: u64,
    /// Time that each physical CPU was busy.
    pub(crate) cpu_busy: Vec<Time>,
    pub(crate) recording: Option<Recording>,
    /// What contexts are doing, for reports of hangs.
    pub(crate) state: String,
}

/// Limits of a run.
pub(crate) struct Limits<'a> {
    pub(crate) until: Time,
    pub(crate) events: u64,
    /// Looked at now and then.
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// Leaves the engine however the run ends.
struct Entered;
impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.set(core::ptr::null_mut());
    }
}

/// How much virtual time passes between two looks around.
const BREATH: Time = 10 * MS;
/// Marks the looks around that come again; the one at the end does not.
const REGULAR: u16 = 1;
/// How many events are handled between two looks at the caller's wish to stop.
const STOP_INTERVAL: u64 = 1 << 16;

/// Runs `bodies`, one a context, until the time is up or all have ended. The error is the message of a panic in one of them.
pub(crate) fn run(
    engine: Engine,
    bodies: Vec<Box<dyn FnOnce()>>,
    limits: &Limits,
) -> Result<Finished, String> {
    assert!(ENTERED.get().is_null() && !in_context(), "simulations do not nest (E1)");
    let mut coroutines = Vec::with_capacity(bodies.len());
    for body in bodies {
        let coroutine = Coroutine::new(body)
            .map_err(|error| format!("no memory for the stack of context {}: {error}", coroutines.len()))?;
        coroutines.push(coroutine);
    }
    let mut engine = engine;
    // Nobody runs ahead past the end.
    engine.queue.push(limits.until, Kind::Breath, 0, 0, 0);
    // Reached through the pointer only, from here to the end (E2).
    let engine = Box::into_raw(Box::new(engine));
    ENTERED.set(engine);
    let entered = Entered;
    let mut alive = coroutines.len();
    let mut looked = 0;
    let mut failure = None;
    let end = loop {
        let next = with(|engine, _| {
            let next = engine.next(limits.until, limits.events);
            if let Ok(Some((who, _))) = next {
                engine.current = who;
                engine.effort.switches += 1;
            }
            (next, engine.effort.events)
        });
        let (next, events) = next.expect("entered above");
        let breath = matches!(next, Ok(None));
        if breath || events.wrapping_sub(looked) >= STOP_INTERVAL {
            looked = events;
            if (limits.stop)() {
                break End::Stopped;
            }
        }
        let (who, tell) = match next {
            Ok(Some(next)) => next,
            Ok(None) => continue,
            Err(end) => break end,
        };
        match std::panic::catch_unwind(AssertUnwindSafe(|| coroutines[who].resume(tell))) {
            Ok(true) => {}
            Ok(false) => {
                alive -= 1;
                with(|engine, _| engine.ended(who));
                if alive == 0 {
                    break End::AllEnded;
                }
            }
            Err(panic) => {
                failure = Some(message(panic.as_ref()));
                break End::Stopped;
            }
        }
    };
    // From here on cells are plain memory: destructors of abandoned contexts touch them without taking time.
    drop(entered);
    for coroutine in &mut coroutines {
        coroutine.abandon();
    }
    // SAFETY: made by `Box::into_raw` above; `ENTERED` no longer points to it (E1), so nobody else refers to it.
    let engine = unsafe { Box::from_raw(engine) };
    match failure {
        Some(message) => Err(message),
        None => Ok(engine.finish(end)),
    }
}

/// Ends the run from inside of a context: [`run`] returns the message as its error.
pub(crate) fn fail(message: String) -> ! {
    std::panic::resume_unwind(Box::new(message))
}

fn message(panic: &(dyn core::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a context panicked").to_owned()
}

impl Engine {
    fn ended(&mut self, who: usize) {
        self.contexts[who].doing = Doing::Ended;
        self.switch_cause(who, Cause::Sleeping);
        self.vacate(who);
    }

    fn finish(mut self: Box<Self>, end: End) -> Finished {
        for who in 0..self.contexts.len() {
            let cause = self.contexts[who].spent.cause;
            self.switch_cause(who, cause);
        }
        let state = self
            .contexts
            .iter()
            .enumerate()
            .filter(|(_, context)| context.doing != Doing::Ended)
            .map(|(index, context)| format!("{index}: {:?} on {:?}", context.doing, context.cpu))
            .take(16)
            .collect::<Vec<_>>()
            .join("; ");
        let cpu_busy = self.host.busy(self.now);
        Finished {
            end,
            now: self.now,
            measured: self.now - self.measuring_since,
            hash: mix(self.hash),
            effort: self.effort,
            causes: self.contexts.iter().map(|context| context.spent.total).collect(),
            lock_events: self.lock_events,
            kicks: self.kicks,
            halts: self.halts,
            cpu_busy,
            recording: self.recording,
            state,
        }
    }

    /// Virtual time.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Counts a lock's event.
    pub(crate) fn count(&mut self, event: LockEvent) {
        self.lock_events[event as usize] += 1;
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The running context's own randomness.
    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.contexts[self.current].random
    }

    /// The running context's private counter.
    pub(crate) fn private(&self) -> &Cell<u32> {
        &self.contexts[self.current].private
    }

    /// The socket on which the running context runs.
    pub(crate) fn socket(&self) -> usize {
        self.directory.socket(self.contexts[self.current].core)
    }

    /// Whether two contexts run, or ran last, on the same socket.
    pub(crate) fn shares_socket(&self, one: usize, other: usize) -> bool {
        let socket = |who: usize| self.directory.socket(self.contexts[who].core);
        socket(one) == socket(other)
    }

    /// Whether context `who` has no CPU.
    pub(crate) fn is_preempted(&self, who: usize) -> bool {
        self.contexts.get(who).is_some_and(|context| context.cpu.is_none())
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
