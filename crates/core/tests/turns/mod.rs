//! A world for tests in which one context runs at a time and a seeded choice is made before every memory operation.
//!
//! Contexts are OS threads that hand a single turn around, so every interleaving is sequentially consistent and a seed
//! replays it. It checks after each write that the lock's transition table allows it, keeps the order of the queue, and
//! counts who overtook whom. It knows nothing of weak memory; that is the model world's part.
use stanchion_core::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use stanchion_core::percpu::FixedDomain;
use stanchion_core::tail::NodeCode;
use stanchion_core::transitions::{Row, Table, Word};
use stanchion_core::{Atomic, CpuId, Platform, RawLock};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

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
    domain: FixedDomain<Turns, CONTEXTS>,
    spurious: bool,
}

struct Turn {
    whose: usize,
    status: [Status; CONTEXTS],
    kicked: [bool; CONTEXTS],
    random: u64,
    steps: u64,
    /// What went wrong; ends every context.
    failure: Option<String>,
    watch: Option<Watch>,
}

/// The lock under test and what has been seen of it.
struct Watch {
    word: Box<dyn Fn() -> Word + Send>,
    table: Table,
    last: Word,
    rows: Vec<&'static Row>,
    /// Who queued and has not acquired yet, in order.
    queue: Vec<usize>,
    /// `overtaken[w][c]`: how often `c` acquired since `w` queued without having queued before it.
    overtaken: [[u32; CONTEXTS]; CONTEXTS],
    worst: u32,
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
        turn.choose(self.spurious);
        self.changed.notify_all();
        if status == Status::Done {
            return;
        }
        while turn.whose != me && turn.failure.is_none() {
            turn = self.changed.wait(turn).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        if turn.failure.is_some() {
            drop(turn);
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

    fn choose(&mut self, spurious: bool) {
        let ready: Vec<usize> = (0..CONTEXTS).filter(|&c| self.status[c] == Status::Ready).collect();
        let halted: Vec<usize> = (0..CONTEXTS).filter(|&c| self.status[c] == Status::Halted).collect();
        if !halted.is_empty() && spurious && self.draw(16) == 0 {
            self.whose = halted[self.draw(halted.len())];
        } else if !ready.is_empty() {
            self.whose = ready[self.draw(ready.len())];
        } else if self.status.iter().any(|&status| status != Status::Done) {
            self.fail(&format!("nobody can run (a lost wake-up or a deadlock): {:?}", self.status));
        }
    }
}

impl Watch {
    fn look(&mut self, me: usize) -> Result<(), String> {
        let (before, after) = (self.last, (self.word)());
        if before == after {
            return Ok(());
        }
        self.last = after;
        let row = self.table.row(before, after).ok_or(format!("no row allows {before:?} -> {after:?}"))?;
        if !self.rows.contains(&row) {
            self.rows.push(row);
        }
        if let Some(code) = NodeCode::from_raw(after.tail).filter(|_| after.tail != before.tail) {
            let queued = usize::from(code.cpu().index());
            self.queue.push(queued);
            self.overtaken[queued] = [0; CONTEXTS];
        }
        if before.locked == 0 && after.locked == 1 {
            let ahead = self.queue.iter().position(|&queued| queued == me);
            for &waiter in &self.queue[..ahead.unwrap_or(self.queue.len())] {
                self.overtaken[waiter][me] += 1;
                self.worst = self.worst.max(self.overtaken[waiter][me]);
            }
            if let Some(position) = ahead {
                self.queue.remove(position);
            }
        }
        Ok(())
    }
}

/// Runs `CONTEXTS` contexts, each acquiring and releasing `lock` `rounds` times; mutual exclusion is checked by each. The
/// error says what went wrong. `spurious` wakes halted contexts for no reason now and then.
pub(crate) fn run<L: RawLock<Platform = Turns>>(seed: u64, rounds: u32, spurious: bool) -> Result<Seen, String> {
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
        domain: FixedDomain::new(),
        spurious,
    });
    let lock = Arc::new(L::new());
    let watched = Arc::clone(&lock);
    world.lock().watch = Some(Watch {
        word: Box::new(move || QUIET.with(|quiet| {
            quiet.set(true);
            let word = watched.word();
            quiet.set(false);
            word
        })),
        table: L::TRANSITIONS,
        last: Word { tail: 0, pending: 0, locked: 0 },
        rows: Vec::new(),
        queue: Vec::new(),
        overtaken: [[0; CONTEXTS]; CONTEXTS],
        worst: 0,
    });
    let inside = Arc::new(Mutex::new(None::<usize>));
    let threads: Vec<_> = (0..CONTEXTS)
        .map(|me| {
            let (world, lock, inside) = (Arc::clone(&world), Arc::clone(&lock), Arc::clone(&inside));
            std::thread::spawn(move || {
                HERE.with_borrow_mut(|here| *here = Some((Arc::clone(&world), me)));
                let body = std::panic::AssertUnwindSafe(|| context(&world, &*lock, &inside, me, rounds));
                if let Err(panic) = std::panic::catch_unwind(body)
                    && !panic.is::<RunFailed>()
                {
                    let what = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "panicked".to_owned());
                    world.lock().fail(&what);
                    world.changed.notify_all();
                }
            })
        })
        .collect();
    {
        let mut turn = world.lock();
        turn.choose(false);
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

thread_local! {
    /// Set while the watch reads the word: those loads are not steps of the run.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

fn step() {
    if !QUIET.get() {
        let (world, me) = here();
        world.pass(me, Status::Ready);
    }
}

/// The platform of this world.
pub(crate) struct Turns;

pub(crate) struct TurnCell<T>(Mutex<T>);

impl<T: Copy> TurnCell<T> {
    fn get(&self) -> T {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn change(&self, new: T) -> T {
        let before = core::mem::replace(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner), new);
        let (world, me) = here();
        world.wrote(me);
        before
    }
}

impl<T: Copy + Eq + Send + WrappingAdd> Atomic<T> for TurnCell<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
    fn load(&self, _order: impl LoadOrder) -> T {
        step();
        self.get()
    }
    fn store(&self, value: T, _order: impl StoreOrder) {
        step();
        self.change(value);
    }
    fn swap(&self, value: T, _order: impl RmwOrder) -> T {
        step();
        self.change(value)
    }
    fn compare_exchange(&self, current: T, new: T, _s: impl RmwOrder, _f: impl LoadOrder) -> Result<T, T> {
        step();
        let now = self.get();
        if now == current { Ok(self.change(new)) } else { Err(now) }
    }
    fn fetch_add(&self, value: T, _order: impl RmwOrder) -> T {
        step();
        self.change(self.get().plus(value))
    }
    fn wait_until(&self, _order: impl LoadOrder, mut done: impl FnMut(T) -> bool) -> T {
        step();
        loop {
            let value = self.get();
            if done(value) {
                return value;
            }
            let (world, me) = here();
            world.pass(me, Status::Spinning);
        }
    }
    fn wait_until_polls(
        &self,
        polls: u32,
        _order: impl LoadOrder,
        mut done: impl FnMut(T) -> bool,
    ) -> Result<T, T> {
        for _ in 0..polls.min(4) {
            step();
            if done(self.get()) {
                return Ok(self.get());
            }
        }
        Err(self.get())
    }
}

pub(crate) trait WrappingAdd {
    fn plus(self, other: Self) -> Self;
}
macro_rules! wrapping {
    ($($t:ty)*) => {$(impl WrappingAdd for $t { fn plus(self, other: Self) -> Self { self.wrapping_add(other) } })*};
}
wrapping!(u8 u16 u32);

impl Platform for Turns {
    type U8 = TurnCell<u8>;
    type U16 = TurnCell<u16>;
    type U32 = TurnCell<u32>;
    type Domain = FixedDomain<Self, CONTEXTS>;

    fn with_domain<R>(f: impl FnOnce(&Self::Domain) -> R) -> R {
        f(&here().0.domain)
    }
    fn this_cpu() -> Option<CpuId> {
        CpuId::new(here().1 as u16)
    }
    fn private_counter<R>(f: impl FnOnce(&Cell<u32>) -> R) -> R {
        thread_local!(static COUNTER: Cell<u32> = const { Cell::new(0) });
        COUNTER.with(f)
    }
    fn numa_node() -> u16 {
        0
    }
    fn now() -> u64 {
        here().0.lock().steps * 100 // one step is a tenth of a microsecond
    }
    fn relax(_nanos: u32) {
        step();
    }
    fn yield_slice() {
        step();
    }
    fn fence(_order: impl FenceOrder) {}
    fn compiler_barrier() {}
    fn store_then_load(first: &TurnCell<u8>, value: u8, then: &TurnCell<u8>) -> u8 {
        step();
        first.change(value);
        step();
        then.get()
    }
    fn heavy_barrier() -> bool {
        true
    }
    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        if cell.load(stanchion_core::order::Relaxed) != value {
            return;
        }
        let (world, me) = here();
        if !core::mem::take(&mut world.lock().kicked[me]) {
            world.pass(me, Status::Halted);
            world.lock().kicked[me] = false;
        }
    }
    fn kick(cpu: CpuId) {
        step();
        let cpu = usize::from(cpu.index());
        let (world, _) = here();
        let mut turn = world.lock();
        turn.kicked[cpu] = true;
        if turn.status[cpu] == Status::Halted {
            turn.status[cpu] = Status::Ready;
        }
    }
    fn is_preempted(_cpu: CpuId) -> bool {
        step();
        false
    }
}
