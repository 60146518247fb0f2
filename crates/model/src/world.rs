//! One execution's machine: the storage of the contexts, their kicks, and what they see of the world around
//! them.
pub(crate) mod look;
mod phases;
mod storage;

use crate::cells::{CellU8, CellU32};
use crate::interrupts::Interrupts;
use crate::platform::Model;
use crate::run;
use crate::settings::{Coins, Settings};
use core::cell::{Cell, RefCell};
use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use stanchion_core::nodes::{State, WaitNode};
use stanchion_core::{Atomic, CpuId, ReaderCell};
use stanchion_family::heads::{Head, HeadTable};
use stanchion_family::percpu::PerCpu;
use stanchion_family::tail::NodeCode;
use std::rc::Rc;

/// Sleeping heads that the storage has room for; with fewer than contexts, a head may find it full.
const PARKING: usize = 2;
/// The same for the hash table.
const HEADS: usize = 2;
/// How many pauses in a row a context makes before it gives way: as many as there are bounded polls to be cut
/// short.
const PAUSES: u32 = 1;
/// How many waits of one context may have nodes at the same time.
const WAITS: usize = 2;
/// Stands for every cell, where a waiter does not say which one it waits for.
const ANY: usize = usize::MAX;
/// What [`World::now`] advances by, in nanoseconds: a microsecond, so that turns end.
const TICK: u64 = 1_000;

/// What belongs to one context.
struct Context {
    storage: PerCpu<Model>,
    reads: ReaderCell<Model>,
    /// 1 while a kick is pending.
    kicked: CellU8,
    spurious: Coins,
    barrier: Coins,
    /// How often it was taken off its CPU and put back: odd while it is off.
    absences: CellU32,
    /// How many locks it holds or waits for.
    engaged: Cell<isize>,
    /// Pauses since the context last changed anything.
    pauses: Cell<u32>,
    /// The cell whose next change it waits for, and the thread to unpark.
    waits: RefCell<Option<(usize, Option<loom::thread::Thread>)>>,
    /// Whether it has read anything since it last paused, and anything that was out of date.
    looked: Cell<bool>,
    misled: Cell<bool>,
    /// How many writes there had been when it last paused.
    paused_at: Cell<u64>,
    /// How many of the writes are its own.
    written: Cell<u64>,
    interrupts: Interrupts,
    nodes: [WaitNode<Model>; WAITS],
}

/// The machine of one execution.
#[expect(missing_debug_implementations, reason = "hundreds of cells say nothing")]
pub struct World {
    contexts: Vec<Context>,
    parking: Vec<CellU32>,
    heads: Vec<Head<Model>>,
    settings: Settings,
    clock: Cell<u64>,
    writes: Cell<u64>,
    exploring: Cell<bool>,
    /// Passed by all when exploring begins, where that matters.
    began: loom::sync::Mutex<()>,
    finished: Cell<usize>,
}

impl World {
    pub(crate) fn new(contexts: usize, settings: Settings) -> Self {
        let context = |_| {
            run::begin_group(1);
            Context {
                storage: PerCpu::new(),
                reads: ReaderCell::new(),
                kicked: CellU8::new(0),
                spurious: Coins::new(settings.spurious),
                barrier: Coins::new(settings.barrier_fails),
                absences: CellU32::new(0),
                engaged: Cell::new(0),
                pauses: Cell::new(0),
                waits: RefCell::new(None),
                looked: Cell::new(false),
                misled: Cell::new(false),
                paused_at: Cell::new(0),
                written: Cell::new(0),
                interrupts: Interrupts::default(),
                nodes: {
                    run::begin_group(3);
                    core::array::from_fn(|_| WaitNode::new())
                },
            }
        };
        let contexts = (0..contexts).map(context).collect();
        run::begin_group(2);
        Self {
            contexts,
            parking: (0..PARKING).map(|_| CellU32::new(0)).collect(),
            heads: (0..HEADS).map(|_| Head::new()).collect(),
            settings,
            clock: Cell::new(0),
            writes: Cell::new(0),
            exploring: Cell::new(false),
            began: loom::sync::Mutex::new(()),
            finished: Cell::new(0),
        }
    }

    /// The interrupts of `context`.
    pub(crate) fn interrupts(&self, context: usize) -> &Interrupts {
        &self.contexts[context].interrupts
    }

    /// A context has done all it had to. Whether it is the last.
    pub(crate) fn finish(&self) -> bool {
        self.finished.set(self.finished.get() + 1);
        self.finished.get() == self.contexts.len()
    }

    /// What is left in the storage when nobody waits or holds anything, which must be nothing.
    pub(crate) fn check_storage(&self) {
        for (index, context) in self.contexts.iter().enumerate() {
            assert_eq!(context.storage.nesting(), 0, "context {index} left without giving its node back");
            assert!(context.reads.is_idle(), "context {index} left a reader's announcement");
            // What was given up stays until the next owner finds it.
            let is_over = |node: &WaitNode<Model>| matches!(node.state(), State::Free | State::Abandoned);
            assert!(context.nodes.iter().all(is_over), "context {index} left a wait's node");
        }
        for (index, slot) in self.parking.iter().enumerate() {
            assert_eq!(slot.peek(), 0, "parking slot {} was not given back", index + 1);
        }
        let heads = HeadTable::of(&self.heads).taken();
        assert_eq!(heads, 0, "entries of the hash table were not given back");
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.set(self.clock.get() + TICK);
        self.clock.get()
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings
    }

    /// Makes the link of each context's first node lead to the first context, as an earlier queue would have
    /// left it. To be called before the contexts are started.
    pub(crate) fn use_nodes(&self) {
        let first = CpuId::new(0).map_or(0, |cpu| NodeCode::new(cpu, 0).raw());
        for context in &self.contexts {
            context.storage.node(0).next.plain_store(first, Relaxed);
        }
    }

    /// Context `me` waits for or holds so many more locks, or fewer.
    pub(crate) fn engage(&self, me: usize, more: isize) {
        let engaged = &self.contexts[me].engaged;
        engaged.set(engaged.get() + more);
    }

    /// Context `me` is taken off its CPU, or put back. All that it did before is visible before.
    pub(crate) fn come_or_go(&self, me: usize) {
        if self.settings.absences {
            let absences = &self.contexts[me].absences;
            absences.plain_store(absences.peek() + 1, Release);
        }
    }

    /// How often `context` was taken off its CPU and put back.
    pub(crate) fn absences(&self, context: usize) -> u32 {
        if self.settings.absences { self.contexts[context].absences.plain_load(Relaxed) } else { 0 }
    }

    /// Somebody gives its time to `context`, if that is still as often off its CPU as it was: then it must be
    /// of use there.
    pub(crate) fn check_confers(&self, context: usize, count: u32) {
        let context = &self.contexts[context];
        let goes_there = self.settings.absences && context.absences.peek() == count;
        assert!(
            context.engaged.get() != 0 || !goes_there,
            "time was given to a context that neither holds nor waits"
        );
    }

    pub(crate) fn barrier_fails(&self, me: usize) -> bool {
        self.has_no_barriers() || self.contexts[me].barrier.toss()
    }

    /// Whether no heavy barrier can be had; see [`Settings::fenced`].
    pub(crate) fn has_no_barriers(&self) -> bool {
        self.settings.fenced && self.exploring.get()
    }

    /// Waits for a write to `cell`.
    ///
    /// A lone waiter yields: loom then lets somebody else go on. Two waiters that yield would take turns for
    /// ever, in ever more executions; so a further one yields once and is then parked. Loom lets a thread
    /// that is unparked see all that its waker did, which hides missing orderings from that waiter, not from
    /// those that find the value without having been parked.
    fn wait_for(&self, me: usize, cell: Option<usize>) {
        let Some(cell) = cell else { return loom::thread::yield_now() };
        let alone = self.waiting() == 0;
        let waits = &self.contexts[me].waits;
        waits.replace(Some((cell, None)));
        loom::thread::yield_now();
        while waits.borrow().is_some() {
            if alone {
                loom::thread::yield_now();
            } else {
                waits.replace(Some((cell, Some(loom::thread::current()))));
                loom::thread::park();
            }
        }
    }

    /// How many contexts wait.
    fn waiting(&self) -> usize {
        self.contexts.iter().filter(|context| context.waits.borrow().is_some()).count()
    }

    /// Context `me` has written something.
    fn count_write(&self, me: usize) {
        let context = &self.contexts[me];
        context.pauses.set(0);
        context.written.set(context.written.get() + 1);
        self.writes.set(self.writes.get() + 1);
    }

    /// Lets those go on who wait for a write to `cell`.
    fn wake(&self, cell: usize) {
        for context in &self.contexts {
            let waited =
                context.waits.borrow_mut().take_if(|(awaited, _)| *awaited == cell || *awaited == ANY);
            if let Some((_, Some(thread))) = waited {
                thread.unpark();
            }
        }
    }

    /// Makes the halt of `context`, or its next one, return.
    pub(crate) fn kick(&self, context: usize) {
        let order = if self.forgets_kicks() { Release } else { Relaxed };
        self.contexts[context].kicked.plain_swap(1, order);
    }

    /// Ends the sleep of `context`, or its next one: unlike a kick, with all that the caller did before.
    pub(crate) fn wake_sleeper(&self, context: usize) {
        self.contexts[context].kicked.plain_swap(1, Release);
    }

    fn forgets_kicks(&self) -> bool {
        self.settings.forgets_kicks || self.settings.hard_halts
    }

    /// Context `me` is about to compare, and then to halt.
    ///
    /// Where a kick that came earlier is forgotten, whoever does sees what its sender did before it:
    /// otherwise the comparison that follows would have to be made behind a fence by every lock.
    pub(crate) fn begin_halt(&self, me: usize) {
        if self.settings.hard_halts {
            self.interrupts(me).wait();
        }
        if self.forgets_kicks() {
            self.contexts[me].kicked.plain_swap(0, Acquire);
        }
    }

    /// Waits for a kick, unless one is pending. Orders nothing.
    ///
    /// A pending kick ends the next halt, whichever it is, unless early ones are forgotten; so a kick that is
    /// late is among the executions.
    pub(crate) fn wait_for_kick(&self, me: usize) {
        self.wait_to_be_woken(me, Relaxed);
    }

    /// As [`wait_for_kick`](Self::wait_for_kick), with `order` against whoever ends it.
    pub(crate) fn wait_to_be_woken(&self, me: usize, order: Ordering) {
        let context = &self.contexts[me];
        if context.spurious.toss() || interrupt() {
            return;
        }
        // A swap finds the newest value. With a load, a context that has been kicked could find that it has
        // not been and wait on, which is an execution in which it is kicked later, once more.
        while context.kicked.plain_swap(0, order) == 0 {
            self.wait_for(me, Some(context.kicked.number));
        }
    }
}

loom::thread_local! {
    static HERE: RefCell<Option<(Rc<World>, usize)>> = RefCell::new(None);
}

/// The calling thread of loom is context `me` of `world` from now on.
pub(crate) fn enter(world: Rc<World>, me: usize) {
    HERE.with(|here| here.replace(Some((world, me))));
}

/// The machine of the calling context and its number, if it is one.
pub(crate) fn try_here() -> Option<(Rc<World>, usize)> {
    HERE.with(|here| here.borrow().clone())
}

/// The machine of the calling context and its number.
pub(crate) fn here() -> (Rc<World>, usize) {
    try_here().expect("locks are used by contexts")
}

/// Whether the exploration has begun: setting up is not explored.
pub(crate) fn exploring() -> bool {
    try_here().is_some_and(|(world, _)| world.exploring.get())
}

/// Has touched a cell that nobody has touched.
pub(crate) const NOBODY: usize = 0;

/// Who touches a cell: the calling context, or whoever sets up.
pub(crate) fn toucher() -> usize {
    try_here().map_or(usize::MAX, |(_, me)| me + 1)
}

/// The calling context has written to a cell that nobody else looks at.
pub(crate) fn wrote_own() {
    if let Some((world, me)) = try_here() {
        world.count_write(me); // it may go on
    }
}

/// The calling context has written to `cell`.
pub(crate) fn wrote(cell: usize) {
    if let Some((world, me)) = try_here() {
        world.count_write(me);
        world.wake(cell);
    }
}

/// If an interrupt is due for the calling context, runs its handler; whether it did.
pub(crate) fn interrupt() -> bool {
    let (world, me) = here();
    !world.settings.hard_halts && world.interrupts(me).wait()
}

/// The calling context cannot go on until somebody writes to `cell`, or for `None`: has found an old value
/// there.
pub(crate) fn wait(cell: Option<usize>) {
    if !interrupt() {
        let (world, me) = here();
        world.wait_for(me, cell);
    }
}

/// A pause of a waiter that may go on by itself: it gives up between any two steps of the others, so the
/// first pauses are none.
pub(crate) fn pause() {
    let (world, me) = here();
    let pauses = &world.contexts[me].pauses;
    pauses.set(pauses.get() + 1);
    if pauses.get() > PAUSES {
        yield_slice();
    } else {
        interrupt();
    }
}

/// A pause that ends by itself, so that others may go on meanwhile.
pub(crate) fn pause_for_a_time() {
    if !interrupt() {
        loom::thread::yield_now();
    }
}

/// Waits until anybody has written anything since the calling context did this last, unless it has read
/// something that is out of date: looking again is of use then.
pub(crate) fn yield_slice() {
    let (world, me) = here();
    let context = &world.contexts[me];
    if !context.looked.take() {
        return;
    }
    let misled = context.misled.take();
    let news = context.paused_at.replace(world.writes.get()) != world.writes.get();
    wait((!misled && !news).then_some(ANY));
}

/// The calling context has read a value, which may be out of date.
pub(crate) fn looked(misled: bool) {
    if let Some((world, me)) = try_here() {
        let context = &world.contexts[me];
        context.looked.set(true);
        context.misled.set(context.misled.get() || misled);
    }
}
