//! A world for tests in which one context runs at a time and a seeded choice is made before every memory operation.
//!
//! Contexts are OS threads that hand a single turn around, so every interleaving is sequentially consistent and a seed
//! replays it. It checks after each write that the lock's transition table allows it, keeps the order of the queue, and
//! counts who overtook whom. It knows nothing of weak memory; that is the model world's part.
use core::cell::RefCell;
use stanchion_core::RawLock;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

mod platform;
mod watch;

pub(crate) use platform::{Turns, let_out};

use platform::TurnDomain;

pub(crate) const CONTEXTS: usize = 4;
/// More steps than any run needs; beyond it the run counts as hung.
const STEP_LIMIT: u64 = 200_000;

thread_local! {
    static HERE: RefCell<Option<(Arc<World>, usize)>> = const { RefCell::new(None) };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Ready,
    /// Polls a cell that nobody has written since.
    Spinning,
    Halted,
    Done,
}

pub(crate) struct World {
    turn: Mutex<Turn>,
    changed: Condvar,
    domain: TurnDomain,
    options: Options,
    /// What an interrupt does on context `.0`.
    interrupt: Box<dyn Fn(usize) + Send + Sync>,
}

/// What a run does beside acquiring and releasing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// Halted contexts wake up for no reason now and then.
    pub(crate) spurious: bool,
    /// Contexts are interrupted between any two steps, and acquire a second lock in the handler.
    pub(crate) interrupts: bool,
    /// Contexts 0 and 1 only; and once 0 has queued it gets no turn while 1 can run, which so overtakes it if it may.
    pub(crate) starves_one: bool,
}

struct Turn {
    whose: usize,
    status: [Status; CONTEXTS],
    kicked: [bool; CONTEXTS],
    random: u64,
    steps: u64,
    /// What went wrong; ends every context.
    failure: Option<String>,
    watch: Option<watch::Watch>,
}

/// What a run saw.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) rows: Vec<&'static str>,
    pub(crate) worst_overtaking: u32,
    pub(crate) steps: u64,
}

fn here() -> (Arc<World>, usize) {
    HERE.with_borrow(|here| here.clone().expect("lock code runs in a context"))
}

/// Panics out of a context when the run has failed; the failure itself is reported once, by `run`.
struct RunFailed;

impl World {
    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Gives the turn to a context of the seed's choice and waits to get it back.
    fn pass(&self, me: usize, status: Status) {
        let mut turn = self.lock();
        turn.status[me] = status;
        turn.steps += 1;
        if turn.steps > STEP_LIMIT {
            turn.fail("hung: step limit reached");
        }
        turn.choose(self.options);
        self.changed.notify_all();
        if status == Status::Done {
            return;
        }
        while turn.whose != me && turn.failure.is_none() {
            turn = self.changed.wait(turn).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        if turn.failure.is_some() {
            drop(turn);
            if std::thread::panicking() {
                return; // a destructor's step, on the way out already
            }
            std::panic::resume_unwind(Box::new(RunFailed));
        }
        turn.status[me] = Status::Ready;
    }

    /// After a write by `me`: lets pollers look again and checks the lock's word.
    fn wrote(&self, me: usize) {
        let mut turn = self.lock();
        for status in &mut turn.status {
            if *status == Status::Spinning {
                *status = Status::Ready;
            }
        }
        if let Some(watch) = &mut turn.watch
            && let Err(what) = watch.look(me)
        {
            turn.fail(&what);
        }
    }
}

impl Turn {
    fn fail(&mut self, what: &str) {
        if self.failure.is_none() {
            self.failure = Some(what.to_owned());
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        // xorshift64*
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % below
    }

    fn choose(&mut self, options: Options) {
        let ready: Vec<usize> = (0..CONTEXTS).filter(|&c| self.status[c] == Status::Ready).collect();
        let halted: Vec<usize> = (0..CONTEXTS).filter(|&c| self.status[c] == Status::Halted).collect();
        if !halted.is_empty() && options.spurious && self.draw(16) == 0 {
            self.whose = halted[self.draw(halted.len())];
        } else if !ready.is_empty() {
            let queued = self.watch.as_ref().is_some_and(|watch| watch.has_queued(0));
            let starved = usize::from(options.starves_one && queued && ready.len() > 1 && ready[0] == 0);
            self.whose = ready[starved + self.draw(ready.len() - starved)];
        } else if self.status.iter().any(|&status| status != Status::Done) {
            self.fail(&format!("nobody can run (a lost wake-up or a deadlock): {:?}", self.status));
        }
    }
}

/// Runs `CONTEXTS` contexts, each acquiring and releasing one lock `rounds` times; mutual exclusion is checked by each. The
/// error says what went wrong.
pub(crate) fn run<L: RawLock<Platform = Turns>>(
    seed: u64,
    rounds: u32,
    options: Options,
) -> Result<Seen, String> {
    // Neighbours, so that their spots are in different rows; see `TurnDomain`.
    let locks = Arc::new([L::new(), L::new()]);
    let (lock, handlers_lock) = (Arc::clone(&locks), Arc::clone(&locks));
    let handler_inside = Mutex::new(None::<usize>);
    let world = Arc::new(World {
        turn: Mutex::new(Turn {
            whose: usize::MAX,
            status: [Status::Ready; CONTEXTS],
            kicked: [false; CONTEXTS],
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            steps: 0,
            failure: None,
            watch: None,
        }),
        changed: Condvar::new(),
        domain: TurnDomain::new(),
        options,
        interrupt: Box::new(move |me| {
            handlers_lock[1].acquire();
            section(&here().0, &handler_inside, me);
            handlers_lock[1].release();
        }),
    });
    let watched = Arc::clone(&lock);
    world.lock().watch = Some(watch::Watch::new(move || watched[0].word(), L::TRANSITIONS));
    let inside = Arc::new(Mutex::new(None::<usize>));
    let threads: Vec<_> = (0..CONTEXTS)
        .map(|me| {
            let (world, lock, inside) = (Arc::clone(&world), Arc::clone(&lock), Arc::clone(&inside));
            std::thread::spawn(move || {
                HERE.with_borrow_mut(|here| *here = Some((Arc::clone(&world), me)));
                let body = core::panic::AssertUnwindSafe(|| context(&world, &lock[0], &inside, me, rounds));
                if let Err(panic) = std::panic::catch_unwind(body)
                    && !panic.is::<RunFailed>()
                {
                    let what =
                        panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "panicked".to_owned());
                    world.lock().fail(&what);
                    world.changed.notify_all();
                }
            })
        })
        .collect();
    {
        let mut turn = world.lock();
        turn.choose(Options::default());
        world.changed.notify_all();
    }
    for thread in threads {
        thread.join().map_err(|_| "a context died".to_owned())?;
    }
    let turn = world.lock();
    let watch = turn.watch.as_ref().expect("set above");
    match &turn.failure {
        Some(what) => Err(format!("seed {seed}: {what}")),
        None => Ok(Seen {
            rows: watch.rows.iter().map(|row| row.name).collect(),
            worst_overtaking: watch.worst,
            steps: turn.steps,
        }),
    }
}

fn context<L: RawLock>(world: &World, lock: &L, inside: &Mutex<Option<usize>>, me: usize, rounds: u32) {
    {
        let mut turn = world.lock();
        while turn.whose != me && turn.failure.is_none() {
            turn = world.changed.wait(turn).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
    let rounds = if world.options.starves_one && me > 1 { 0 } else { rounds };
    for round in 0..rounds {
        if round % 3 == 2 && lock.try_acquire() {
            section(world, inside, me);
            lock.release();
        }
        lock.acquire();
        section(world, inside, me);
        lock.release();
    }
    world.pass(me, Status::Done);
}

fn section(world: &World, inside: &Mutex<Option<usize>>, me: usize) {
    let before = inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner).replace(me);
    if let Some(other) = before {
        world.lock().fail(&format!("context {me} entered while {other} was inside"));
    }
    world.pass(me, Status::Ready);
    inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
}
