//! What the contexts say that read per-CPU reader-writer locks ([`crate::percpu_rw`]): the cells, and the
//! classes that they form.
use crate::machine::{Atomic, ConstAtomic, Machine, kick_numbered};
use crate::numbers::CpuId;
use crate::order::{Acquire, Relaxed, Release};
use crate::private::Private;
use crate::tunables::Tunable;

/// What one context says of one class: which lock it reads.
#[repr(C, align(8))]
pub struct ReaderCell<P: Machine> {
    /// The address of the lock, with `IN` or without, or `IDLE`.
    pub(crate) reads: P::Usize,
    /// Whether a handler has taken back what it interrupted, which does not know yet (I3).
    taken_back: Private<P::U8>,
    /// How often the context went in through a fenced fast path, modulo 256.
    fenced: Private<P::U8>,
    /// How many more times the context is in.
    pub(crate) again: Private<P::U16>,
    /// The number plus one of a writer that sleeps until the context leaves (I4).
    pub(crate) waiter: P::U16,
}

impl<P: Machine> ReaderCell<P> {
    /// The cell of a context that reads nothing.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self {
            reads: P::Usize::new(IDLE),
            taken_back: Private::new(0),
            fenced: Private::new(0),
            again: Private::new(0),
            waiter: P::U16::new(0),
        }
    }

    /// What the calling context says.
    #[inline(always)]
    pub(crate) fn now(&self) -> usize {
        // ord: D17 alone: this context alone writes it, and its handlers put back what they change (I3)
        self.reads.load(Relaxed)
    }

    /// Whether the calling context is in, and has not only announced itself, or been interrupted before it
    /// was in (I3).
    pub(crate) fn is_in(&self) -> bool {
        self.now() & IN != 0 && self.taken_back.get() == 0
    }

    /// The calling context, which saw no writer after its announcement, goes in, unless a handler has taken
    /// that back. Whether it is in.
    #[inline(always)]
    pub(crate) fn go_in(&self, lock: usize) -> bool {
        // ord: D3 pairs D9, D14: tells our own handlers, for writers of this lock the announcement is as
        // good; a writer of one that we read before may find this in the place of D4's store
        self.reads.store(lock | IN, Release);
        P::compiler_barrier();
        self.taken_back.get() == 0
    }

    /// Counts that the context went in through a fenced fast path; whether it is time to look if it need be
    /// fenced.
    #[inline(always)]
    pub(crate) fn is_time_to_calm(&self) -> bool {
        let fenced: u8 = self.fenced.get().wrapping_add(1);
        self.fenced.set(fenced); // a handler in between is not counted
        u32::from(fenced) % P::tunable(Tunable::RwCalmReads).clamp(1, 256) == 0
    }

    /// Takes back the announcement of the reader that this handler interrupted (I3), which may be one of
    /// another lock.
    #[cold]
    pub(crate) fn take_back(&self) {
        self.taken_back.set(1); // the interrupted reader looks at it
        P::compiler_barrier();
        self.leave(TAKEN_BACK);
    }

    /// The calling context could not go in: it is told, and its cell is idle again.
    #[cold]
    pub(crate) fn give_up(&self) {
        // In this order: a handler in between fails as we did, and tidies up.
        self.leave(IDLE);
        P::compiler_barrier();
        self.taken_back.set(0);
    }

    /// The calling context leaves, and wakes a writer that waits for that. Of the lock, nothing is touched.
    #[inline(always)]
    pub(crate) fn leave(&self, reads: usize) {
        // ord: D4 pairs D9, D10, D14, D46: our section comes before the writer's; either it sees us gone, or
        // we see it waiting
        let waiter = P::store_then_load(&self.reads, reads, &self.waiter);
        // Its number stays in the cell (I4).
        if waiter != 0 {
            kick_numbered::<P>(waiter);
        }
    }

    /// Forgets who sleeps until the context leaves: for the child of a process whose contexts it does not
    /// have. Nobody uses the cell meanwhile.
    pub fn forget_waiter(&self) {
        if self.has_waiter() {
            // ord: D45 alone: nobody else is there
            self.waiter.store(0, Relaxed);
        }
    }

    /// Whether a writer sleeps until the context leaves, for reports (I4).
    pub fn has_waiter(&self) -> bool {
        self.waiter.peek() != 0
    }

    /// Whether the context reads nothing through this cell, for reports.
    pub fn is_idle(&self) -> bool {
        self.reads.peek() == IDLE
    }

    /// Whether the context, which has ended, left all that it read through this cell. What it did while it
    /// read comes before what the caller does.
    pub fn has_left(&self) -> bool {
        // ord: D46 pairs D4: what was read comes before what the next writer does that finds the context gone
        self.reads.load(Acquire) == IDLE
    }
}

impl<P: Machine> ReaderCell<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::Usize: ConstAtomic<usize>,
{
    /// The cell of a context that reads nothing, as a constant.
    pub const NEW: Self = {
        assert!(IDLE == 0);
        Self {
            reads: P::Usize::ZERO,
            taken_back: Private::zero(),
            fenced: Private::zero(),
            again: Private::zero(),
            waiter: P::U16::ZERO,
        }
    };
}

/// The context reads no lock of the class through its cell.
pub(crate) const IDLE: usize = 0;
/// In a cell: the context is in, and has not only announced itself. Locks stand at multiples of eight.
pub(crate) const IN: usize = 1;
/// In a cell: a handler has taken back what was there, and its context may write over this before it knows.
const TAKEN_BACK: usize = 2;

/// A resource class: one cell for each context.
pub trait ReaderClass<P: Machine> {
    /// The cell of `cpu`, which calls; `None` if there is no storage for it.
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<P>>;

    /// The calling context's cell; `None` also if the context has no number.
    #[inline(always)]
    fn own(&self) -> Option<&ReaderCell<P>> {
        self.cell(P::this_cpu()?)
    }

    /// Shows `visit` each cell that may not be idle, with its context. A cell that a context got before a
    /// heavy barrier of the caller, or before a fence of its own that precedes one of the caller's, is among
    /// them.
    ///
    /// Goes through the numbers up to the first that has no cell; a class with gaps has a form of its own.
    fn each(&self, mut visit: impl FnMut(CpuId, &ReaderCell<P>)) {
        for cpu in (0..CpuId::LIMIT).filter_map(CpuId::new) {
            let Some(cell) = self.cell(cpu) else { return };
            visit(cpu, cell);
        }
    }

    /// A number that no other class has; 0 is the world's own class.
    fn id(&self) -> usize;
}

/// The own class of a world that knows beforehand how many contexts there are.
pub struct FixedClass<P: Machine, const CPUS: usize> {
    cells: [ReaderCell<P>; CPUS],
}

impl<P: Machine, const CPUS: usize> FixedClass<P, CPUS> {
    /// Cells for contexts `0..CPUS`.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self { cells: core::array::from_fn(|_| ReaderCell::new()) }
    }
}

impl<P: Machine, const CPUS: usize> ReaderClass<P> for FixedClass<P, CPUS> {
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<P>> {
        self.cells.get(usize::from(cpu.index()))
    }

    fn id(&self) -> usize {
        0
    }
}
