//! One schedule: contexts that acquire and release, from the first step to the last or to a failure.
use super::chooser::Chooser;
use super::domain::SteppedDomain;
use super::engine::{self, arrive, with};
use super::failure::{Failure, Kind};
use super::fault::Fault;
use super::limits::{self, limited};
use super::names::Names;
use super::plan::{Coin, Plan};
use super::platform::Stepped;
use super::rw_program::RwProgram;
use super::script::{Item, Script};
use super::subjects::{Explored, Subject};
use super::trace::{What, render};
use super::watch::{Locks, Watch};
use super::{Ctx, LOCK_BYTES, fair};
use crate::arena::Arena;
use crate::coroutine::Coroutine;
use crate::locks::AnyLock;
use stanchion_core::Machine;
use stanchion_family::catalogue::Tail;
use stanchion_family::events::ALL;
use std::rc::Rc;
use std::sync::Once;

/// More steps than any schedule of an exploration needs with sixteen acquisitions or fewer; beyond it the run
/// counts as hung. Schedules with more acquisitions have more steps, in proportion.
const STEP_LIMIT: u64 = 50_000;

/// More turns than any release needs. What others do meanwhile must not keep it from coming to its end. A
/// release of the default lock takes some forty turns to rouse an heir, and begins again whenever one of
/// three has gone back to sleep meanwhile: 562 at most in 300 000 schedules.
const LONGEST_RELEASE: u64 = 1_000;

/// How a schedule is run.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode<'a> {
    /// Turns follow a script, not the seed.
    pub(super) script: Option<&'a Script>,
    /// The turns are written down.
    pub(super) records: bool,
    /// The interleaving is written down.
    pub(super) traces: bool,
}

/// What a run saw.
pub(super) struct Seen {
    pub(super) failure: Option<Failure>,
    pub(super) steps: u64,
    pub(super) rows: u64,
    pub(super) worst: u32,
    pub(super) events: [u64; ALL.len()],
    pub(super) recorded: Option<Vec<Item>>,
    pub(super) interleaving: Option<String>,
}

/// What contexts and handlers do.
trait Program {
    /// The life of a context.
    fn context(&self, ctx: Ctx);
    /// The handler of a level of nesting, from 1.
    fn handler(&self, level: u8);
}

/// Contexts that acquire and release mutexes.
struct Scenario {
    plan: Plan,
    locks: Rc<Vec<Box<dyn AnyLock>>>,
}

impl Program for RwProgram {
    fn context(&self, ctx: Ctx) {
        Self::context(self, ctx);
    }
    fn handler(&self, level: u8) {
        Self::handler(self, level);
    }
}

/// The locks of a run, and what is done with them.
fn program(subject: &Subject, plan: &Plan, arena: &Rc<Arena>) -> (Locks, Rc<dyn Program>) {
    let all = (0..plan.locks()).inspect(|lock| arena.skip_to(lock * LOCK_BYTES));
    match subject.kind {
        Explored::Mutex(kind) => {
            let locks: Rc<Vec<_>> = Rc::new(all.map(|_| (kind.make)(arena)).collect());
            (Locks::Mutexes(Rc::clone(&locks)), Rc::new(Scenario { plan: plan.clone(), locks }))
        }
        Explored::Rw(kind) => {
            let make = kind.few_of(plan.faults).map_or(kind.make, |few| few.0);
            let locks: Rc<Vec<_>> = Rc::new(all.map(|_| make(arena)).collect());
            (Locks::Rw(Rc::clone(&locks)), Rc::new(RwProgram::new(plan.clone(), kind, locks)))
        }
    }
}

/// Runs one schedule.
pub(super) fn run(subject: &Subject, plan: &Plan, mode: Mode<'_>) -> Seen {
    let count = plan.locks();
    let arena = Arena::new(count * LOCK_BYTES);
    let base = arena.base();
    let (locks, program) = program(subject, plan, &arena);
    let halves = match subject.stated.tail {
        Tail::Tickets { halves } => halves,
        _ => &[],
    };
    for half in (0..count).flat_map(|lock| halves.iter().map(move |at| lock * LOCK_BYTES + at)) {
        arena.add(half, plan.machine().ticket);
    }
    let domain = Rc::new(SteppedDomain::new(plan.machine()));
    let watch = Watch::new(subject, base, locks, plan, &domain);
    let handler = {
        let program = Rc::clone(&program);
        Rc::new(move |level: u8| program.handler(level)) as Rc<dyn Fn(u8)>
    };
    with(|engine| {
        let acquisitions = plan.rounds.iter().map(|&rounds| u64::from(rounds)).sum::<u64>();
        engine.begin(plan, Rc::clone(&domain), STEP_LIMIT * acquisitions.max(16) / 16);
        engine.tunings = subject.tunings();
        engine.may_halt = subject.halts && plan.machine().paravirt;
        engine.watch = Some(watch);
        engine.handler = Some(handler);
        engine.recording = mode.records.then(Vec::new);
        engine.trace = mode.traces.then(Vec::new);
        if let Some(script) = mode.script {
            engine.chooser = Chooser::following(script);
        }
    });
    let contexts = (0..plan.contexts()).map(|ctx| {
        let program = Rc::clone(&program);
        Coroutine::new(move || program.context(ctx))
    });
    match contexts.collect::<std::io::Result<Vec<_>>>() {
        Ok(contexts) => drive(contexts),
        Err(error) => panic!("no memory for the stacks of a few contexts: {error}"),
    }
    with(|engine| {
        if engine.failure.is_none() {
            engine.settle();
            let left = engine.watch.as_ref().and_then(Watch::leftover);
            let left = left.or_else(|| engine.kept()).or_else(|| domain.leftover());
            if let Some(left) = left {
                engine.fail(Kind::Leftover, left);
            }
        }
        let watch = engine.watch.as_ref().expect("set above");
        let seen = Seen {
            failure: engine.failure.take(),
            steps: engine.steps,
            rows: watch.rows,
            worst: watch.worst,
            events: engine.events,
            recorded: engine.recording.take(),
            interleaving: engine.trace.take().map(|lines| {
                let names = Names::new(subject, base, count, &domain, plan.contexts());
                format!("the machine: {}\n{}", domain.machine(), render(&lines, &names))
            }),
        };
        engine.end();
        seen
    })
}

/// Gives turns until everybody is done or something has gone wrong.
pub(super) fn drive(mut contexts: Vec<Coroutine>) {
    silence_panics_of_contexts();
    let mut next = engine::start();
    while let Some(ctx) = next {
        let resumed = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| contexts[ctx].resume(0)));
        next = match resumed {
            Ok(true) => with(|engine| engine.failure.is_none().then_some(engine.current)),
            Ok(false) => engine::finish(),
            Err(panic) => {
                let what = (panic.downcast_ref::<String>().cloned())
                    .or_else(|| panic.downcast_ref::<&str>().map(|&what| what.to_owned()))
                    .unwrap_or_else(|| "panicked".to_owned());
                with(|engine| engine.fail(Kind::Panicked, format!("c{ctx}: {what}")));
                None
            }
        };
    }
    // Those that did not come to their end are unwound here; their destructors take no steps.
    drop(contexts);
}

/// A panic in a context is a result, told by whoever wants to know, and not a message on the terminal.
fn silence_panics_of_contexts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !crate::coroutine::in_context() {
                before(info);
            }
        }));
    });
}

impl Program for Scenario {
    fn context(&self, ctx: Ctx) {
        for round in 0..self.plan.rounds[ctx] {
            let dice = self.plan.coin(Coin::Round, ctx, round, 12);
            if self.plan.faults.has(Fault::Tries) && dice.is_multiple_of(3) {
                self.try_once(0);
            }
            if round + 1 == self.plan.rounds[ctx] {
                watch(|watch| watch.lifetime.begins_last_use(ctx));
            }
            match dice / 3 {
                // A quarter each: the second lock alone, within the first, and twice the first.
                0 if self.plan.faults.has(Fault::TwoLocks) => self.once(1),
                1 if self.plan.faults.has(Fault::TwoLocks) => self.nested(),
                _ => self.once(0),
            }
        }
        ends_use(ctx);
        say(What::Ends, 0);
    }

    fn handler(&self, level: u8) {
        self.once(1 + usize::from(level));
    }
}

impl Scenario {
    fn once(&self, lock: usize) {
        if self.acquire(lock) {
            section(lock);
            self.release(lock);
        }
    }

    /// Waits for the lock, now and then not for long, and may come again. Whether it has the lock.
    fn acquire(&self, lock: usize) -> bool {
        busily(lock, || self.acquire_or_give_up(lock))
    }

    fn acquire_or_give_up(&self, lock: usize) -> bool {
        let is_timed = self.plan.faults.has(Fault::Timed);
        while is_timed && with(|engine| engine.coin(Coin::Timeout, 3)) > 0 {
            say(What::AcquireTimed, lock);
            let nanos = limits::timeout();
            let (me, until) = (with(|engine| engine.current), Stepped::after(nanos));
            watch(|watch| watch.is_limited(lock, me, true));
            let acquired = limited(until, |&acquired| acquired, || self.locks[lock].acquire_within(nanos));
            watch(|watch| watch.is_limited(lock, me, false));
            with(|engine| engine.is_at_risk(me, false));
            if acquired {
                return true;
            }
            gives_up(lock);
            if with(|engine| engine.coin(Coin::Timeout, 2)) == 0 {
                return false;
            }
        }
        say(What::Acquire, lock);
        self.locks[lock].acquire();
        true
    }

    fn release(&self, lock: usize) {
        let turns = || with(|engine| engine.turns[engine.current]);
        let before = turns();
        busily(lock, || freely(|| fair::release(&self.plan, &*self.locks[lock], lock)));
        let took = turns() - before;
        if took > LONGEST_RELEASE && !self.plan.faults.has(Fault::Interrupts) {
            with(|engine| {
                let what = format!("c{} took {took} turns to release", engine.current);
                engine.fail(Kind::Hung, what);
            });
        }
        released(lock);
    }

    fn nested(&self) {
        if self.acquire(0) {
            enter(0);
            self.once(1);
            leave(0);
            self.release(0);
        }
    }

    fn try_once(&self, lock: usize) {
        say(What::Try, lock);
        if busily(lock, || freely(|| self.locks[lock].try_acquire())) {
            section(lock);
            busily(lock, || freely(|| self.locks[lock].release()));
        } else {
            say(What::TryFails, lock);
        }
    }
}

fn section(lock: usize) {
    enter(lock);
    // Some sections end before anybody can look. Where handlers nest, their sections are long, so that others
    // queue.
    let most = if lock >= 2 && with(|engine| engine.plan.levels) > 1 { 24 } else { 3 };
    for _ in 0..with(|engine| engine.coin(Coin::Linger, most)) {
        arrive();
        say(What::Leave, lock);
    }
    leave(lock);
}

/// The current context is in the middle of what others may spoil.
pub(super) fn at_risk<R>(does: impl FnOnce() -> R) -> R {
    let me = with(|engine| engine.current);
    with(|engine| engine.is_at_risk(me, true));
    let done = does();
    with(|engine| engine.is_at_risk(me, false));
    done
}

/// The current context is at a lock, and others may rely on it.
fn busily<R>(lock: usize, does: impl FnOnce() -> R) -> R {
    let me = with(|engine| engine.current);
    watch(|watch| watch.is_busy(lock, me, true));
    let done = does();
    watch(|watch| watch.is_busy(lock, me, false));
    with(engine::Engine::check_sleepers);
    done
}

/// The current context tries or releases, and does not wait.
fn freely<R>(does: impl FnOnce() -> R) -> R {
    let me = with(|engine| engine.current);
    let before = watch(|watch| watch.is_free(me, true));
    let done = does();
    watch(|watch| watch.is_free(me, before));
    done
}

/// The current context waits for the lock no more.
fn gives_up(lock: usize) {
    with(|engine| {
        engine.tell(What::GivesUp, lock, 0, 0);
        let me = engine.current;
        if let Some(watch) = &mut engine.watch {
            watch.gives_up(lock, me);
        }
    });
}

fn enter(lock: usize) {
    let failed = with(|engine| {
        engine.tell(What::Enter, lock, 0, 0);
        let me = engine.current;
        let seen = engine.watch.as_mut().map_or(Ok(()), |watch| watch.enter(lock, me));
        seen.inspect_err(|failure| engine.fail(failure.kind, failure.what.clone())).is_err()
    });
    if failed {
        arrive(); // from which nobody comes back after a failure
    }
}

fn leave(lock: usize) {
    with(|engine| {
        if let Some(watch) = &mut engine.watch {
            watch.leave(lock);
            if lock == 0 {
                watch.lifetime.ends_use(engine.current);
            }
        }
        engine.tell(What::Release, lock, 0, 0);
    });
}

pub(super) fn watch<R>(f: impl FnOnce(&mut Watch) -> R) -> R {
    with(|engine| f(engine.watch.as_mut().expect("a run is watched")))
}

/// A context will not use the first lock any more, except on its way out of it.
pub(super) fn ends_use(ctx: Ctx) {
    if watch(|watch| watch.lifetime.is_user(ctx)) {
        engine::flush_own(); // it has come out of the lock, and tells the others
    }
    watch(|watch| {
        watch.lifetime.begins_last_use(ctx);
        watch.lifetime.ends_use(ctx);
    });
}

/// The current context has released a lock that it held alone, and destroys it if it was the last one.
pub(super) fn released(lock: usize) {
    let me = with(|engine| engine.current);
    if lock == 0 && watch(|watch| watch.lifetime.is_last_user(me)) {
        engine::flush_own(); // giving memory back takes a system call
        say(What::Destroys, lock);
        watch(|watch| watch.lifetime.destroy());
    }
}

fn say(what: What, lock: usize) {
    with(|engine| engine.tell(what, lock, 0, 0));
}
