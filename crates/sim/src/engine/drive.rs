//! Driving a run: contexts are resumed one after the other until the time is up.
use super::cause::ByCause;
use super::context::{Context, Doing};
use super::queue::Kind;
use super::{Cause, ENTERED, Effort, Engine, Recording, with};
use crate::coroutine::{Coroutine, in_context};
use crate::random::mix;
use crate::time::{MS, Time};
use core::panic::AssertUnwindSafe;

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
    /// Whether all contexts sleep for a time by their own wish in the end.
    pub(crate) all_sleep: bool,
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
pub(super) const REGULAR: u16 = 1;
/// How many events are handled between two looks at the caller's wish to stop.
const STOP_INTERVAL: u64 = 1 << 16;

/// Runs `bodies`, one a context, until the time is up or all have ended. The error is the message of a panic
/// in one of them.
pub(crate) fn run(
    engine: Engine,
    bodies: Vec<Box<dyn FnOnce()>>,
    limits: &Limits,
) -> Result<Finished, String> {
    assert!(ENTERED.get().is_null() && !in_context(), "simulations do not nest (IE1)");
    let mut coroutines = Vec::with_capacity(bodies.len());
    for body in bodies {
        let coroutine = Coroutine::new(body)
            .map_err(|error| format!("no memory for the stack of context {}: {error}", coroutines.len()))?;
        coroutines.push(coroutine);
    }
    let mut engine = engine;
    // Nobody runs ahead past the end.
    engine.queue.push(limits.until, Kind::Breath, 0, 0, 0);
    // Reached through the pointer only, from here to the end (IE2).
    let engine = Box::into_raw(Box::new(engine));
    ENTERED.set(engine);
    let entered = Entered;
    let mut alive = coroutines.len();
    let mut looked = 0;
    let mut failure = None;
    let end = loop {
        // The predicates of spinning contexts are asked in here, so a panic of theirs comes out here.
        let next = std::panic::catch_unwind(AssertUnwindSafe(|| {
            with(|engine, _| {
                let next = engine.next(limits.until, limits.events);
                if let Ok(Some((who, _))) = next {
                    engine.current = who;
                    engine.effort.switches += 1;
                }
                (next, engine.effort.events)
            })
        }));
        let (next, events) = match next {
            Ok(next) => next.expect("entered above"),
            Err(panic) => {
                failure = Some(message(panic.as_ref()));
                break End::Stopped;
            }
        };
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
    // SAFETY: made by `Box::into_raw` above; `ENTERED` no longer points to it (IE1), so nobody else refers to
    // it.
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
    /// Handles events until a context is to go on: who, and what it is told. `None`: nobody yet, the caller
    /// may look around.
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
            Doing::Ended => true,
            Doing::Halted | Doing::Spinning => context.deadline == Time::MAX,
            Doing::Running | Doing::Computing(_) | Doing::Accessing | Doing::Sleeping | Doing::Waking => {
                false
            }
        };
        self.queue.is_quiet() && self.contexts.iter().all(waits)
    }
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
        self.record_stays();
        let state = self
            .contexts
            .iter()
            .enumerate()
            .filter(|(_, context)| context.doing != Doing::Ended)
            .map(|(index, context)| format!("{index}: {:?} on {:?}", context.doing, context.cpu))
            .take(16)
            .collect::<Vec<_>>()
            .join("; ");
        let sleeps = |context: &Context| match context.doing {
            Doing::Sleeping => context.deadline != Time::MAX,
            doing => doing == Doing::Ended,
        };
        let all_sleep = self.contexts.iter().all(sleeps);
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
            all_sleep,
            recording: self.recording,
            state,
        }
    }
}
