//! What a workload's context may do: compute, touch data, acquire and release, sleep, count what it has done.
use crate::arena::{Arena, LINE_BYTES};
use crate::engine::{self, Cause, Handover};
use crate::locks::{AnyKind, AnyLock};
use crate::rw_locks::AnyRwLock;
use crate::time::{NS, Time};
use core::cell::{Cell, RefCell};
use hdrhistogram::Histogram;
use stanchion_core::transitions::Word;
use std::rc::Rc;

/// A lock of the workload, by number.
pub(crate) type LockId = usize;

/// Waits longer than this are counted as this long: 100 s.
const LONGEST_NS: u64 = 100_000_000_000;

/// A lock of a workload.
enum Lock {
    Mutex(Box<dyn AnyLock>),
    Rw(Box<dyn AnyRwLock>),
}

impl Lock {
    fn word(&self) -> Word {
        match self {
            Self::Mutex(lock) => lock.word(),
            Self::Rw(lock) => lock.word(),
        }
    }
}

/// Who holds a lock, and who had it last.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Who holds it alone.
    by: Option<usize>,
    /// How often it is held for reading.
    readers: usize,
    /// Who had it alone last, and until when.
    last: Option<(usize, Time)>,
}

/// What the contexts of a run share.
pub(crate) struct Common {
    locks: Vec<Lock>,
    held: RefCell<Vec<Held>>,
    /// Addresses of the lines of shared data.
    lines: Vec<usize>,
    /// Units of work by context.
    ops: RefCell<Vec<u64>>,
    /// Acquisitions by context.
    acquisitions: RefCell<Vec<u64>>,
    waits: RefCell<Histogram<u64>>,
    handovers: Cell<Handovers>,
    last_op: Cell<Time>,
}

/// From where to where locks went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handovers {
    /// To the same context again.
    pub same: u64,
    /// To another context of the same socket.
    pub local: u64,
    /// To another socket.
    pub remote: u64,
}

impl Common {
    /// `kinds` are the workload's locks, each with the number of its class.
    pub(crate) fn new(arena: &Rc<Arena>, kinds: &[(AnyKind, usize)], lines: usize, contexts: usize) -> Self {
        let make = |(kind, class): &(AnyKind, usize)| match kind {
            AnyKind::Mutex(kind) => Lock::Mutex((kind.make)(arena)),
            AnyKind::Rw(kind) => Lock::Rw((kind.make)(arena, *class)),
        };
        let line = |_| core::ptr::from_ref(&*arena.place([0_u8; LINE_BYTES])).addr();
        Self {
            locks: kinds.iter().map(make).collect(),
            held: RefCell::new(vec![Held::default(); kinds.len()]),
            lines: (0..lines).map(line).collect(),
            ops: RefCell::new(vec![0; contexts]),
            acquisitions: RefCell::new(vec![0; contexts]),
            waits: RefCell::new(Histogram::new_with_bounds(1, LONGEST_NS, 2).expect("valid bounds")),
            handovers: Cell::default(),
            last_op: Cell::new(0),
        }
    }

    pub(crate) fn ops(&self) -> Vec<u64> {
        self.ops.borrow().clone()
    }
    pub(crate) fn acquisitions(&self) -> Vec<u64> {
        self.acquisitions.borrow().clone()
    }
    pub(crate) fn waits(&self) -> Histogram<u64> {
        self.waits.borrow().clone()
    }
    pub(crate) fn handovers(&self) -> Handovers {
        self.handovers.get()
    }
    /// When something was last acquired or done.
    pub(crate) fn last_op(&self) -> Time {
        self.last_op.get()
    }
    /// The words of all locks, for reports of hangs.
    pub(crate) fn words(&self) -> String {
        let held = self.held.borrow();
        let busy = self.locks.iter().zip(held.iter()).enumerate().map(|(index, (lock, held))| {
            let readers =
                if held.readers > 0 { format!(", {} readers", held.readers) } else { String::new() };
            format!("lock {index}: {:?}, held by {:?}{readers}", lock.word(), held.by)
        });
        busy.take(4).collect::<Vec<_>>().join("; ")
    }
}

/// The calling context of a workload.
pub(crate) struct Here {
    index: usize,
    contexts: usize,
    warm_up: Time,
    common: Rc<Common>,
    holds: Cell<u32>,
}

#[expect(
    clippy::unused_self,
    reason = "these are things that a context does; the engine knows which one runs"
)]
impl Here {
    pub(crate) fn new(index: usize, contexts: usize, warm_up: Time, common: Rc<Common>) -> Self {
        Self { index, contexts, warm_up, common, holds: Cell::new(0) }
    }

    /// Which context this is, from 0.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// How many contexts there are.
    pub(crate) fn contexts(&self) -> usize {
        self.contexts
    }

    /// Whether what happens now counts.
    pub(crate) fn is_measured(&self) -> bool {
        self.now() >= self.warm_up
    }

    /// Virtual time.
    pub(crate) fn now(&self) -> Time {
        engine::with(|engine, _| engine.now()).unwrap_or(0)
    }

    /// Useful work that takes `span` alone on an idle machine.
    pub(crate) fn compute(&self, span: Time) {
        engine::compute(span);
    }

    /// Waits for `span` of the clock without giving up the CPU, however fast that computes (`udelay`).
    pub(crate) fn delay(&self, span: Time) {
        engine::pause(span);
    }

    /// Gives up the CPU for `span`.
    pub(crate) fn sleep(&self, span: Time) {
        engine::sleep(Some(span));
    }

    /// Gives up the CPU until another context wakes this one. Whoever is to wake it must know that it sleeps.
    pub(crate) fn sleep_until_woken(&self) {
        engine::sleep(None);
    }

    /// Wakes a context from [`Here::sleep_until_woken`]; one that is about to sleep will not.
    pub(crate) fn wake(&self, context: usize) {
        engine::wake_sleeper(context);
    }

    /// Whether `context` runs, or ran last, on the core of this one.
    pub(crate) fn is_at_home(&self, context: usize) -> bool {
        engine::with(|engine, me| engine.shares_core(me, context)).unwrap_or(false)
    }

    /// A number below `bound` from this context's own stream.
    pub(crate) fn random(&self, bound: u64) -> u64 {
        engine::with(|engine, _| engine.random().below(bound)).unwrap_or(0)
    }

    /// `span`, give or take `percent` of it.
    pub(crate) fn about(&self, span: Time, percent: u64) -> Time {
        let width = span * percent / 100;
        if width == 0 { span } else { span - width + self.random(2 * width + 1) }
    }

    /// Asks for lines of shared data that will be written, without waiting for them.
    pub(crate) fn fetch(&self, lines: core::ops::Range<usize>) {
        for &line in &self.common.lines[lines] {
            engine::prefetch(line);
        }
    }

    /// Reads or writes lines of shared data, all at once as far as their misses go.
    pub(crate) fn touch(&self, lines: core::ops::Range<usize>, writes: bool) {
        if !lines.is_empty() {
            engine::touch(&self.common.lines[lines], writes);
        }
    }

    /// The same for lines that do not lie beside each other.
    pub(crate) fn touch_each(&self, lines: &[usize], writes: bool) {
        if !lines.is_empty() {
            let addresses: Vec<usize> = lines.iter().map(|&line| self.common.lines[line]).collect();
            engine::touch(&addresses, writes);
        }
    }

    /// Acquires lock `lock` for reading, and checks that nobody has it alone. A mutex is held alone by
    /// readers, too.
    pub(crate) fn acquire_read(&self, lock: LockId) {
        let Lock::Rw(rw) = &self.common.locks[lock] else { return self.acquire(lock) };
        let began = self.now();
        engine::with(|engine, _| engine.set_base(Cause::Locking));
        rw.acquire_read().expect("a workload has fewer readers than any lock can count");
        self.check_alone(lock, None);
        self.common.held.borrow_mut()[lock].readers += 1;
        self.acquired(began);
    }

    /// Releases lock `lock`, which this context must hold for reading.
    pub(crate) fn release_read(&self, lock: LockId) {
        let Lock::Rw(rw) = &self.common.locks[lock] else { return self.release(lock) };
        let mut held = self.common.held.borrow_mut();
        held[lock].readers = held[lock].readers.checked_sub(1).expect("a workload releases what it holds");
        drop(held);
        self.releasing(|| rw.release_read());
    }

    /// Acquires lock `lock`, as its writer if it knows readers, and checks that nobody else holds it.
    pub(crate) fn acquire(&self, lock: LockId) {
        let began = self.now();
        engine::with(|engine, _| engine.set_base(Cause::Locking));
        match &self.common.locks[lock] {
            Lock::Mutex(mutex) => mutex.acquire(),
            Lock::Rw(rw) => rw.acquire_write(),
        }
        let readers = self.common.held.borrow()[lock].readers;
        self.check_alone(lock, Some(readers));
        let entry = &mut self.common.held.borrow_mut()[lock];
        entry.by = Some(self.index);
        let last = entry.last;
        self.acquired(began);
        if let Some((giver, released)) = last.filter(|_| self.now() >= self.warm_up) {
            self.hand_over(lock, giver, released);
        }
    }

    /// Ends the run if somebody has lock `lock` alone, or there are `readers` whom the calling context
    /// excludes.
    fn check_alone(&self, lock: LockId, readers: Option<usize>) {
        let broken = |whom: String| {
            engine::fail(format!(
                "mutual exclusion is broken: context {} acquired lock {lock}, which {whom}, at {} ns",
                self.index,
                self.now() / NS,
            ));
        };
        if let Some(holder) = self.common.held.borrow()[lock].by {
            broken(format!("context {holder} holds"));
        }
        if let Some(readers) = readers.filter(|&readers| readers > 0) {
            broken(format!("{readers} readers hold"));
        }
    }

    fn acquired(&self, began: Time) {
        let now = self.now();
        self.holds.set(self.holds.get() + 1);
        self.common.last_op.set(now);
        engine::with(|engine, _| engine.set_base(Cause::Holding));
        if now >= self.warm_up {
            self.common.acquisitions.borrow_mut()[self.index] += 1;
            self.common.waits.borrow_mut().saturating_record(((now - began) / NS).max(1));
        }
    }

    /// The calling context has acquired a lock that `giver` had before.
    fn hand_over(&self, lock: LockId, giver: usize, released: Time) {
        engine::with(|engine, _| {
            let mut handovers = self.common.handovers.get();
            if giver == self.index {
                handovers.same += 1;
            } else if engine.shares_socket(giver, self.index) {
                handovers.local += 1;
            } else {
                handovers.remote += 1;
            }
            self.common.handovers.set(handovers);
            let acquired = engine.now();
            if giver != self.index
                && let Some(recording) = engine.recording()
            {
                recording.handover(Handover { lock, giver, released, taker: self.index, acquired });
            }
        });
    }

    /// Releases lock `lock`, which this context must hold alone.
    pub(crate) fn release(&self, lock: LockId) {
        let now = self.now();
        let mut held = self.common.held.borrow_mut();
        assert_eq!(held[lock].by, Some(self.index), "a workload releases what it holds");
        held[lock].by = None;
        held[lock].last = Some((self.index, now));
        drop(held);
        self.releasing(|| match &self.common.locks[lock] {
            Lock::Mutex(mutex) => mutex.release(),
            Lock::Rw(rw) => rw.release_write(),
        });
    }

    fn releasing(&self, release: impl FnOnce()) {
        self.holds.set(self.holds.get() - 1);
        engine::with(|engine, _| engine.set_base(Cause::Locking));
        release();
        let base = if self.holds.get() == 0 { Cause::Computing } else { Cause::Holding };
        engine::with(|engine, _| engine.set_base(base));
    }

    /// Counts a unit of work.
    pub(crate) fn op(&self) {
        self.ops(1);
    }

    /// Counts `units` units of work.
    pub(crate) fn ops(&self, units: u64) {
        let now = self.now();
        self.common.last_op.set(now);
        if now >= self.warm_up {
            self.common.ops.borrow_mut()[self.index] += units;
        }
    }
}
